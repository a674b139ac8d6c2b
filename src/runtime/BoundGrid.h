// BoundGrid: a step's grid, taken apart while its kernel is loaded, so that a launch that skips the step learns it from
// a comparison.
//
// A kernel for a range of sizes has a step for each part of it, of which a launch runs one. Their grids have factors
// that are one within the part and zero outside: max(0, min(1, d - c)) where d is above c, 1 - max(0, min(1, d - c))
// where it is not.

#pragma once

#include "src/ops/Expression.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace jitk {

/// Immutable.
class BoundGrid {
public:
  explicit BoundGrid(const std::array<Expression, 3> &grid);

  /// Whether a factor of the grid is zero.
  bool isSkipped(std::span<const int64_t> dimensions) const {
    bool skipped = false;
    for (const Range &range : ranges_) {
      int64_t size = dimensions[range.dimension];
      skipped |= size < range.least || size > range.most;
    }
    return skipped;
  }
  /// The extent along an axis, of a step that is not skipped.
  int64_t extent(size_t axis, std::span<const int64_t> dimensions) const { return extents_[axis].evaluate(dimensions); }

private:
  struct Range {
    uint32_t dimension;
    int64_t least, most;
  };
  /// Takes the factors that are ranges out of a product.
  Expression takeRanges(const Expression &product);

  std::vector<Range> ranges_;
  std::array<Expression, 3> extents_;
};

} // namespace jitk
