// Tells a process from its children by fork, in which the worker threads are gone and the driver does not work.

#pragma once

#include <cstdint>

namespace jitk {

/// A number that differs between a process and a child forked after the first call. Costs one load.
uint32_t processGeneration();

} // namespace jitk
