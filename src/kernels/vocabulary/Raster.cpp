#include "src/kernels/vocabulary/Raster.h"

using namespace mlir;

namespace jitk::kernels {

TilePosition rasterize(KernelBuilder &b, Value tileRows, Value tileColumns, int64_t groupRows) {
  Value tile = b.programId(0);
  Value tilesInGroup = b.mul(tileColumns, b.i32(groupRows));
  Value firstRow = b.mul(b.div(tile, tilesInGroup), b.i32(groupRows));
  Value rowsInGroup = b.minimum(b.sub(tileRows, firstRow), b.i32(groupRows));
  Value inGroup = b.rem(tile, tilesInGroup);
  return {b.add(firstRow, b.rem(inGroup, rowsInGroup)), b.div(inGroup, rowsInGroup)};
}

std::array<Expression, 3> rasterGrid(const Expression &m, int64_t tileM, const Expression &n, int64_t tileN) {
  using Op = Expression::Op;
  Expression rows = Expression::binary(Op::CeilDiv, m, Expression::constant(tileM));
  Expression columns = Expression::binary(Op::CeilDiv, n, Expression::constant(tileN));
  return {Expression::binary(Op::Mul, rows, columns), Expression::constant(1), Expression::constant(1)};
}

} // namespace jitk::kernels
