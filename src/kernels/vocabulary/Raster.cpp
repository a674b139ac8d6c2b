#include "src/kernels/vocabulary/Raster.h"

#include <algorithm>

using namespace mlir;

namespace jitk::kernels {

TilePosition rasterize(KernelBuilder &b, Value tile, const TileGrid &grid, int64_t groupRows) {
  Value tilesInGroup = b.mul(grid.columns, b.i32(groupRows));
  Value firstRow = b.mul(b.div(tile, tilesInGroup), b.i32(groupRows));
  Value rowsInGroup = b.minimum(b.sub(grid.rows, firstRow), b.i32(groupRows));
  Value inGroup = b.rem(tile, tilesInGroup);
  return {b.add(firstRow, b.rem(inGroup, rowsInGroup)), b.div(inGroup, rowsInGroup)};
}

llvm::SmallVector<Value> forEachTile(KernelBuilder &b, const TileGrid &grid, int64_t groupRows, ValueRange carried,
                                     TileBody body) {
  int64_t together = b.clusterSize();
  TileGrid clusters = {b.ceilDiv(grid.rows, together), grid.columns};
  Value rank = b.clusterRank();
  return b.loop(b.clusterId(), b.mul(clusters.rows, clusters.columns), b.numClusters(), carried,
                [&](Value number, ValueRange now) {
                  TilePosition at = rasterize(b, number, clusters, std::max<int64_t>(1, groupRows / together));
                  at.row = b.add(b.mul(at.row, b.i32(together)), rank);
                  return body(at, now);
                });
}

std::array<Expression, 3> rasterGrid(const Expression &m, int64_t tileM, const Expression &n, int64_t tileN) {
  using Op = Expression::Op;
  Expression rows = Expression::binary(Op::CeilDiv, m, Expression::constant(tileM));
  Expression columns = Expression::binary(Op::CeilDiv, n, Expression::constant(tileN));
  return {Expression::binary(Op::Mul, rows, columns), Expression::constant(1), Expression::constant(1)};
}

std::array<Expression, 3> persistentGrid(const Expression &m, int64_t tileM, const Expression &n, int64_t tileN) {
  return persistentGrid(rasterGrid(m, tileM, n, tileN)[0]);
}

std::array<Expression, 3> persistentGrid(const Expression &numTiles, unsigned clusterSize) {
  using Op = Expression::Op;
  Expression size = Expression::constant(clusterSize);
  Expression atOnce = clusterSize == 1 ? Expression::multiprocessors()
                                       : Expression::binary(Op::FloorDiv, Expression::multiprocessors(), size);
  Expression count = Expression::binary(Op::Min, numTiles, atOnce);
  return {clusterSize == 1 ? count : Expression::binary(Op::Mul, count, size), Expression::constant(1),
          Expression::constant(1)};
}

bool fitsAxisY(const Dimension &dimension) {
  int64_t most = dimension.isStatic() ? dimension.value : dimension.bound;
  return most > 0 && most <= UINT16_MAX;
}

std::array<Expression, 3> foldedGrid(llvm::ArrayRef<Expression> extents) {
  Expression all = Expression::constant(1);
  for (const Expression &extent : extents) {
    all = Expression::binary(Expression::Op::Mul, extent, all);
  }
  return {all, Expression::constant(1), Expression::constant(1)};
}

llvm::SmallVector<Value> placeInFoldedGrid(KernelBuilder &b, llvm::ArrayRef<Value> fastest) {
  Value rest = b.programId(0);
  llvm::SmallVector<Value> place;
  for (Value extent : fastest) {
    place.push_back(b.rem(rest, extent));
    rest = b.div(rest, extent);
  }
  place.push_back(rest);
  return place;
}

} // namespace jitk::kernels
