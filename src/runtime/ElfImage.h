// What can be told of machine code without a device: whether an ELF file is whole.

#pragma once

#include "src/support/Status.h"

#include <cstdint>
#include <span>

namespace jitk {

/// OK if `bytes` are an ELF file of 64 bits whose section and program tables, and all that they name, lie within it,
/// and that has something to load. Else Internal, saying what is wrong: a file that a tool did not finish, or none.
Status checkElfImage(std::span<const uint8_t> bytes);

} // namespace jitk
