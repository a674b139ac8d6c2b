// What machine code for a GPU says of the tool that made it.

#pragma once

#include <cstdint>
#include <span>

namespace jitk::nvidia {

/// The CUDA release of that tool, as drivers count: 13000 for 13.0. 0 where the code does not tell, or is none.
int cudaVersionOf(std::span<const uint8_t> code);

} // namespace jitk::nvidia
