#include "src/ir/layout/TensorMemoryLayouts.h"

#include <algorithm>

using llvm::ArrayRef;

namespace jitk::ir {

static constexpr unsigned kNumRows = 128, kRowsOfHalf = 16, kRowsOfScales = 32;

/// The CTAs of a cluster, along dim0 first.
static LinearLayout clusterOfSplits(unsigned splitM, unsigned splitN) {
  return LinearLayout::identity1D(splitM, kBlock, dimName(0)) * LinearLayout::identity1D(splitN, kBlock, dimName(1));
}

/// A layout that blocks are multiplied to along dim0 first.
static LinearLayout emptyLayout() {
  return LinearLayout::identity1D(1, kRow, dimName(0)) * LinearLayout::identity1D(1, kCol, dimName(1));
}

static LinearLayout rows(int32_t size) { return LinearLayout::identity1D(size, kRow, dimName(0)); }
static LinearLayout columns(int32_t size) { return LinearLayout::identity1D(size, kCol, dimName(1)); }
static LinearLayout unusedRows(int32_t size) { return LinearLayout::zeros1D(size, kRow, dimName(0)); }
static LinearLayout unusedColumns(int32_t size) { return LinearLayout::zeros1D(size, kCol, dimName(1)); }

/// A block of 64 rows, and in the rows between the next block: below, else beside it, else none.
static LinearLayout halfBlocks(ArrayRef<int64_t> shape, const TensorMemoryParameters &parameters) {
  LinearLayout block = emptyLayout() * rows(parameters.blockM) * unusedColumns(parameters.colStride) *
                       columns(std::min<int64_t>(parameters.blockN, shape[1]));
  LinearLayout next = unusedRows(2);
  if (shape[0] > parameters.blockM) {
    next = rows(2);
  } else if (shape[1] > parameters.blockN) {
    next = LinearLayout::identity1D(2, kRow, dimName(1));
  }
  LinearLayout pair = block * next;
  // The bit of the next block is the fifth of the row.
  std::vector<LinearLayout::InDim> ins = pair.getInDims().vec();
  std::vector<LinearLayout::Basis> &bases = ins.front().bases;
  std::rotate(bases.begin() + 4, bases.end() - 1, bases.end());
  static_assert(1 << 4 == kRowsOfHalf);
  return LinearLayout(std::move(ins), pair.getOutDims().vec());
}

static LinearLayout wholeBlock(ArrayRef<int64_t> shape, const TensorMemoryParameters &parameters) {
  return emptyLayout() * rows(kNumRows) * unusedColumns(parameters.colStride) *
         columns(std::min<int64_t>(parameters.blockN, shape[1]));
}

/// A block of 64 rows whose right half lies in the other 64 rows.
static LinearLayout foldedBlock(const TensorMemoryParameters &parameters) {
  return emptyLayout() * rows(parameters.blockM) * unusedColumns(parameters.colStride) *
         columns(parameters.blockN / 2) * LinearLayout::identity1D(2, kRow, dimName(1));
}

static LinearLayout firstBlock(ArrayRef<int64_t> shape, const TensorMemoryParameters &parameters) {
  if (parameters.blockM != 64) {
    return wholeBlock(shape, parameters);
  }
  return parameters.isTwoCta ? foldedBlock(parameters) : halfBlocks(shape, parameters);
}

LinearLayout tensorMemoryLayout(ArrayRef<int64_t> shape, const TensorMemoryParameters &parameters) {
  LinearLayout cluster = clusterOfSplits(parameters.ctaSplitM, parameters.ctaSplitN);
  llvm::SmallVector<int64_t> piece = shapePerCta(shape, cluster);
  // More blocks follow along the columns, those below first.
  LinearLayout layout = fitToShape(firstBlock(piece, parameters), piece, kCol);
  return fitToCluster(layout, shape, kCol, cluster);
}

LinearLayout tensorMemoryScalesLayout(ArrayRef<int64_t> shape, unsigned ctaSplitM, unsigned ctaSplitN) {
  LinearLayout cluster = clusterOfSplits(ctaSplitM, ctaSplitN);
  LinearLayout tile = emptyLayout() * rows(kRowsOfScales) * unusedRows(kNumRows / kRowsOfScales) * columns(4) *
                      LinearLayout::identity1D(2, kCol, dimName(0));
  return fitToCluster(tile, shape, kCol, cluster);
}

} // namespace jitk::ir
