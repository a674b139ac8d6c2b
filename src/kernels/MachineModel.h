// The machine that cost models have in mind, an H100 or H200 SXM, and the sizes of a problem that they count with. The
// grid follows the device that is there, and sizes the launch: only choices are made for these.

#pragma once

#include "src/ops/Description.h"
#include "src/runtime/SharedMemory.h"

#include <algorithm>

namespace jitk::kernels {

inline constexpr double kMultiprocessors = 132;
inline constexpr double kL2BytesPerClock = 64;       ///< of one multiprocessor
inline constexpr double kMemoryBytesPerClock = 2400; ///< of all, at what copies reach
inline constexpr int64_t kSharedBytes = sharedMemoryLimit(90);
inline constexpr int64_t kReserved = 2048; ///< of them: barriers, captures, and what alignment loses

/// Of a dimension that is known at launch only and has no bound.
inline constexpr int64_t kLargeSize = 4096;

/// What a dimension counts as, at least 1: its size, or its bound, or `unknown`.
inline int64_t assumedSize(const Dimension &dimension, int64_t unknown = kLargeSize) {
  int64_t size = dimension.isStatic() ? dimension.value : dimension.bound ? dimension.bound : unknown;
  return std::max<int64_t>(1, size);
}

} // namespace jitk::kernels
