// What choices are made for where neither the description nor the device says it: of tiles, of parts of the work. The
// grid of a launch follows the sizes and the device that are there.

#pragma once

#include "src/ops/Description.h"

#include <algorithm>

namespace jitk {

/// Of an H100 or H200 SXM.
inline constexpr double kMultiprocessors = 132;

/// Of a dimension that is known at launch only and has no bound.
inline constexpr int64_t kLargeSize = 4096;

/// What a dimension counts as, at least 1: its size, or its bound, or `unknown`.
inline int64_t assumedSize(const Dimension &dimension, int64_t unknown = kLargeSize) {
  int64_t size = dimension.isStatic() ? dimension.value : dimension.bound ? dimension.bound : unknown;
  return std::max<int64_t>(1, size);
}

} // namespace jitk
