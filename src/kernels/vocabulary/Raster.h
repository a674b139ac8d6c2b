// Which tiles of the output a CTA of a one-dimensional grid computes: one, or every so many. Grids are one-dimensional
// since y and z take 65535 CTAs, and x 2^31 - 1.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

struct TilePosition {
  mlir::Value row, column;      ///< i32, in tiles
  mlir::Value group = {};       ///< i32: of several problems the one whose tile it is; null where there is one
  mlir::Value firstColumn = {}; ///< i32, in elements: where tiles are of two widths
  bool isNarrow = false;        ///< it is of the smaller one
};

/// Counts of tiles, i32.
struct TileGrid {
  mlir::Value rows, columns;
};

/// Where tile number `tile` lies. Tiles are numbered in groups of `groupRows` rows of tiles, down before right, so that
/// the CTAs that run together share rows of A and columns of B in L2.
TilePosition rasterize(KernelBuilder &builder, mlir::Value tile, const TileGrid &grid, int64_t groupRows = 8);

/// Runs `body` for the tiles of a CTA that stays: its own number, then every as many as there are CTAs. The CTAs of a
/// cluster take tiles one below the other, of which the last ones may lie past the end, so that each has as many.
/// `carried` as in KernelBuilder::loop.
using TileBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(TilePosition position, mlir::ValueRange carried)>;
llvm::SmallVector<mlir::Value> forEachTile(KernelBuilder &builder, const TileGrid &grid, int64_t groupRows,
                                           mlir::ValueRange carried, TileBody body);

/// Grid of `rows x columns` tiles as the recipe computes it: ceil(m / tileM) * ceil(n / tileN) CTAs.
std::array<Expression, 3> rasterGrid(const Expression &m, int64_t tileM, const Expression &n, int64_t tileN);

/// The same for CTAs that stay: no more of them than the device has multiprocessors.
std::array<Expression, 3> persistentGrid(const Expression &m, int64_t tileM, const Expression &n, int64_t tileN);
/// CTAs that stay for any number of tiles, or clusters for one each.
std::array<Expression, 3> persistentGrid(const Expression &numTiles, unsigned clusterSize = 1);

/// Whether a dimension is known to be no more than y and z take.
bool fitsAxisY(const Dimension &dimension);
/// A grid of several extents, the first of which runs fastest, in x alone.
std::array<Expression, 3> foldedGrid(llvm::ArrayRef<Expression> extents);
/// Where a CTA lies in such a grid, a number for each extent; `fastest` are all extents but the last, i32.
llvm::SmallVector<mlir::Value> placeInFoldedGrid(KernelBuilder &builder, llvm::ArrayRef<mlir::Value> fastest);

} // namespace jitk::kernels
