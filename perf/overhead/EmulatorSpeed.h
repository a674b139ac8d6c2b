// How fast the emulator runs a kernel of the compiler.

#pragma once

#include "perf/overhead/Samples.h"

namespace jitk::perf {

/// Milliseconds of one launch of `matmul m=128 n=128 k=128 dtype=fp16` with all checks, on one worker. `target` is an
/// emulator's. Throws api::Exception.
Samples measureEmulatorSpeed(const char *target, int count);

} // namespace jitk::perf
