#include "src/kernels/vocabulary/PagedRows.h"

using namespace mlir;

namespace jitk::kernels {

Value PagedRows::page(Value entry) const {
  KernelBuilder &b = builder_;
  Value last = b.splatLike(b.sub(cache_.numPages, b.i32(1)), entry);
  return b.maximum(b.minimum(entry, last), b.splatLike(b.i32(0), entry));
}

PagedBlock PagedRows::locate(Value firstRow, Value numRows) const {
  KernelBuilder &b = builder_;
  Value pageSize = b.i32(cache_.pageSize), rowStride = cache_.rowStride, inBlock = b.range(blockRows_);
  Value exists = b.lessThan(inBlock, b.splat(b.sub(numRows, firstRow), {blockRows_}));
  if (cache_.pageSize % blockRows_ == 0) {
    // The block lies in one page: one entry for all rows, which differ by constants.
    Value pageRow = b.mul(b.toI64(page(b.load(b.advance(table_, b.div(firstRow, pageSize))))), b.i64(cache_.pageSize));
    Value first = b.add(pageRow, b.toI64(b.rem(firstRow, pageSize)));
    return {{b.advance(cache_.base, b.mul(first, rowStride)), rowStride}, inBlock, exists};
  }
  // Rows past the end have the entry of the last one: theirs may not exist.
  Value rows = b.add(b.splat(firstRow, {blockRows_}), inBlock);
  rows = b.minimum(rows, b.splat(b.sub(numRows, b.i32(1)), {blockRows_}));
  Value pageSizes = b.splat(pageSize, {blockRows_});
  Value pages = page(b.load(b.pointers(table_, b.div(rows, pageSizes))));
  Value pageRows = b.mul(b.toI64(pages), b.splat(b.i64(cache_.pageSize), {blockRows_}));
  return {{cache_.base, rowStride}, b.add(pageRows, b.toI64(b.rem(rows, pageSizes))), exists};
}

void PagedRows::fill(Value buffer, const PagedBlock &block, Value columns) const {
  KernelBuilder &b = builder_;
  int64_t numColumns = cast<RankedTensorType>(columns.getType()).getShape().front();
  b.fill(buffer, b.pointers(block.page, block.rows, columns), b.asColumn(block.exists, numColumns));
}

} // namespace jitk::kernels
