#include "src/kernels/vocabulary/PagedRows.h"

using namespace mlir;

namespace jitk::kernels {

/// A scalar, or a vector of copies of it with the shape of `like`.
static Value spread(KernelBuilder &b, Value scalar, Value like) {
  auto tensor = dyn_cast<RankedTensorType>(like.getType());
  return tensor ? b.splat(scalar, tensor.getShape()) : scalar;
}

Value PagedRows::page(Value entry) const {
  KernelBuilder &b = builder_;
  Value last = spread(b, b.sub(cache_.numPages, b.i32(1)), entry);
  return b.maximum(b.minimum(entry, last), spread(b, b.i32(0), entry));
}

Value PagedRows::locate(Value firstRow, Value lastRow) const {
  KernelBuilder &b = builder_;
  Value pageSize = b.i32(cache_.pageSize);
  if (cache_.pageSize % blockRows_ == 0) {
    // The block lies in one page: one entry for all rows.
    Value pageRow = b.mul(b.toI64(page(b.load(b.advance(table_, b.div(firstRow, pageSize))))), b.i64(cache_.pageSize));
    Value first = b.add(pageRow, b.toI64(b.rem(firstRow, pageSize)));
    Value inBlock = b.minimum(b.range(blockRows_), b.splat(b.sub(lastRow, firstRow), {blockRows_}));
    return b.add(b.splat(first, {blockRows_}), b.toI64(inBlock));
  }
  Value rows = b.add(b.splat(firstRow, {blockRows_}), b.range(blockRows_));
  rows = b.minimum(rows, b.splat(lastRow, {blockRows_}));
  Value pageSizes = b.splat(pageSize, {blockRows_});
  Value pages = page(b.load(b.pointers(table_, b.div(rows, pageSizes))));
  Value pageRows = b.mul(b.toI64(pages), b.splat(b.i64(cache_.pageSize), {blockRows_}));
  return b.add(pageRows, b.toI64(b.rem(rows, pageSizes)));
}

Value PagedRows::pointers(Value locatedRows, Value columns) const {
  return builder_.pointers({cache_.base, builder_.i64(cache_.rowSize)}, locatedRows, columns);
}

} // namespace jitk::kernels
