// Which tile of the output a CTA of a one-dimensional grid computes.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

struct TilePosition {
  mlir::Value row, column; ///< i32, in tiles
};

/// Walks the tiles in groups of `groupRows` rows of tiles, down before right, so that the CTAs that run together share
/// rows of A and columns of B in L2. `tileRows` and `tileColumns` are i32 counts.
TilePosition rasterize(KernelBuilder &builder, mlir::Value tileRows, mlir::Value tileColumns, int64_t groupRows = 8);

/// Grid of `rows x columns` tiles as the recipe computes it: ceil(m / tileM) * ceil(n / tileN) CTAs.
std::array<Expression, 3> rasterGrid(const Expression &m, int64_t tileM, const Expression &n, int64_t tileN);

} // namespace jitk::kernels
