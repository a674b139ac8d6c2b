// CacheWalk: what a real driver's launch does to its caller's caches, without a driver.

#pragma once

namespace jitk::test {

/// Runs through 48 KiB of code, a taken and unforeseen branch for each 64 bytes of it, and reads as many bytes of data:
/// so much that what the caller had in its first-level caches is gone. Takes some microseconds. Thread-safe.
void walkThroughCaches();

} // namespace jitk::test
