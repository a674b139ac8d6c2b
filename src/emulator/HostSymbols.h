// Functions that compiled kernels may call by name besides the emulator: what the code generator takes for granted.

#pragma once

#include <span>

namespace jitk::emulator {

struct HostSymbol {
  const char *name;
  void *address;
};

/// The C library's mathematics and memory functions, and conversions of 16-bit floats.
std::span<const HostSymbol> hostSymbols();

} // namespace jitk::emulator
