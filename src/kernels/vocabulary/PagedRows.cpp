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
  if (cache_.pageSize % blockRows_ == 0) {
    Value pageSize = b.i32(cache_.pageSize), rowStride = cache_.rowStride, inBlock = b.range(blockRows_);
    Value exists = b.lessThan(inBlock, b.splat(b.sub(numRows, firstRow), {blockRows_}));
    // The block lies in one page: one entry for all rows, which differ by constants.
    Value number = b.toI64(page(b.load(b.advance(table_, b.div(firstRow, pageSize)))));
    Value pageBegin = b.mul(number, b.i64(cache_.pageStride.value_or(cache_.pageSize)));
    Value first = b.toI64(b.rem(firstRow, pageSize));
    Value offset = cache_.pageStride ? b.add(pageBegin, b.mul(first, rowStride))
                                     : b.mul(b.add(pageBegin, first), rowStride); // where it begins counts rows
    return {{b.advance(cache_.base, offset), rowStride}, inBlock, exists};
  }
  return locate(entries(firstRow, numRows), firstRow, numRows);
}

/// Of the block, i32; those past the end are the last one.
Value PagedRows::rowsOf(Value firstRow, Value numRows) const {
  KernelBuilder &b = builder_;
  Value rows = b.add(b.splat(firstRow, {blockRows_}), b.range(blockRows_));
  return b.minimum(rows, b.splat(b.sub(numRows, b.i32(1)), {blockRows_}));
}

Value PagedRows::entries(Value firstRow, Value numRows) const {
  KernelBuilder &b = builder_;
  Value indices = b.div(rowsOf(firstRow, numRows), b.splat(b.i32(cache_.pageSize), {blockRows_}));
  return b.load(b.pointers(table_, indices));
}

PagedBlock PagedRows::locate(Value entries, Value firstRow, Value numRows) const {
  KernelBuilder &b = builder_;
  Value exists = b.lessThan(b.range(blockRows_), b.splat(b.sub(numRows, firstRow), {blockRows_}));
  Value inPage = b.rem(rowsOf(firstRow, numRows), b.splat(b.i32(cache_.pageSize), {blockRows_}));
  Value numbers = b.toI64(page(entries));
  if (cache_.pageStride) {
    Value pages = b.mul(numbers, b.splat(b.i64(*cache_.pageStride), {blockRows_}));
    Value rows = b.mul(b.toI64(inPage), b.splat(cache_.rowStride, {blockRows_}));
    return {{cache_.base, b.i64(1)}, b.add(pages, rows), exists};
  }
  Value pageRows = b.mul(numbers, b.splat(b.i64(cache_.pageSize), {blockRows_}));
  return {{cache_.base, cache_.rowStride}, b.add(pageRows, b.toI64(inPage)), exists};
}

void PagedRows::fill(Value buffer, const PagedBlock &block, Value columns) const {
  KernelBuilder &b = builder_;
  int64_t numColumns = cast<RankedTensorType>(columns.getType()).getShape().front();
  b.fill(buffer, b.pointers(block.page, block.rows, columns), b.asColumn(block.exists, numColumns));
}

} // namespace jitk::kernels
