// How much of memory a copy by TMA has L2 fetch.

#pragma once

#include <cstdint>

namespace jitk {

/// The sectors that are read, or all of the lines of so many bytes that they lie in. The values are those of
/// CUtensorMapL2promotion.
enum class L2Promotion : uint32_t { None = 0, To64Bytes = 1, To128Bytes = 2, To256Bytes = 3 };

} // namespace jitk
