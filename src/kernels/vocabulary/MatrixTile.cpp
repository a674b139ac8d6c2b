#include "src/kernels/vocabulary/MatrixTile.h"

using namespace mlir;

namespace jitk::kernels {

RowTile::RowTile(KernelBuilder &b, const MatrixView &matrix, Value firstRow, Value numRows, int64_t rows, int64_t depth,
                 bool rowsCovered, bool masksRows)
    : builder_(b), rows_(rows), depth_(depth) {
  Value row = b.add(b.splat(firstRow, {rows}), b.range(rows));
  if (!rowsCovered && masksRows) {
    rowMask_ = b.lessThan(row, b.splat(numRows, {rows}));
  } else if (!rowsCovered) {
    row = b.minimum(row, b.splat(b.sub(numRows, b.i32(1)), {rows}));
  }
  origin_ = b.pointers(matrix, row, b.range(depth));
}

Value RowTile::pointers(Value column) const {
  return builder_.advance(origin_, builder_.splat(column, {rows_, depth_}));
}

Value RowTile::mask() const { return rowMask_ ? builder_.asColumn(rowMask_, depth_) : Value(); }

Value RowTile::mask(Value column, Value numColumns) const {
  KernelBuilder &b = builder_;
  Value inRange = b.lessThan(b.add(b.splat(column, {depth_}), b.range(depth_)), b.splat(numColumns, {depth_}));
  Value ofColumns = b.asRow(inRange, rows_);
  return rowMask_ ? b.both(mask(), ofColumns) : ofColumns;
}

} // namespace jitk::kernels
