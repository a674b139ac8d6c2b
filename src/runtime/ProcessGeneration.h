// Tells a process from its children by fork, in which the worker threads are gone and the driver does not work.

#pragma once

#include <atomic>
#include <cstdint>

namespace jitk {

/// How many forks lie between this process and the one that loaded the library; counted by ProcessGeneration.cpp alone.
extern std::atomic<uint32_t> numForks;

/// A number that differs between a process and its children. Costs one load.
inline uint32_t processGeneration() { return numForks.load(std::memory_order_relaxed); }

} // namespace jitk
