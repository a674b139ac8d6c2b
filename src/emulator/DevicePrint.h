// printf of CUDA's device runtime.

#pragma once

#include <string>

namespace jitk::emulator {

/// The text that vprintf makes of `format` and `values`, which points to the values one after the other, each at a
/// multiple of its size: 4 bytes for int, 8 for long long, double and pointers.
std::string formatDevicePrint(const char *format, const void *values);

} // namespace jitk::emulator
