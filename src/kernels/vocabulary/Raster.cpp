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

llvm::SmallVector<Value> forEachInRounds(KernelBuilder &b, Value count, int64_t turn, ValueRange carried,
                                         KernelBuilder::LoopBody body) {
  Value numCtas = b.numPrograms(0), last = b.sub(numCtas, b.i32(1));
  auto isEven = [&](Value round) { return b.equal(b.rem(round, b.i32(2)), b.i32(0)); };
  auto numberIn = [&](Value round, Value place) { return b.select(isEven(round), place, b.sub(last, place)); };
  Value own = b.programId(0), numWhole = b.div(count, numCtas);
  Value step = b.rem(b.i32(turn), numCtas);
  Value lastPlace = turn ? b.rem(b.add(own, b.mul(b.div(numWhole, b.i32(2)), step)), numCtas) : own;
  // The last round may be too short for this CTA.
  Value isIn = b.lessThan(numberIn(numWhole, lastPlace), b.rem(count, numCtas));
  Value numRounds = b.add(numWhole, b.select(isIn, b.i32(1), b.i32(0)));
  llvm::SmallVector<Value> start(carried);
  start.push_back(own);
  auto bodyOfRound = [&](Value round, ValueRange now) {
    Value place = now.back();
    llvm::SmallVector<Value> next = body(b.add(b.mul(round, numCtas), numberIn(round, place)), now.drop_back());
    Value moved = b.add(place, step);
    moved = b.select(b.lessThan(moved, numCtas), moved, b.sub(moved, numCtas));
    next.push_back(turn ? b.select(isEven(round), place, moved) : place);
    return next;
  };
  llvm::SmallVector<Value> result = b.loop(b.i32(0), numRounds, 1, start, bodyOfRound);
  result.pop_back();
  return result;
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
