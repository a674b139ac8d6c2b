#include "src/ir/layout/SharedLayouts.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using llvm::ArrayRef;

namespace jitk::ir {

using Basis = LinearLayout::Basis;

/// Elements in order, the dimensions in `order`, fastest first.
static LinearLayout plainLayout(ArrayRef<int64_t> shape, ArrayRef<unsigned> order) {
  LinearLayout layout;
  for (unsigned dim : order) {
    layout *= LinearLayout::identity1D(shape[dim], kOffset, dimName(dim));
  }
  return layout;
}

LinearLayout swizzledSharedLayout(ArrayRef<int64_t> shape, const SwizzledParameters &swizzle,
                                  const LinearLayout &cluster) {
  llvm::SmallVector<int64_t> piece = shapePerCta(shape, cluster);
  ArrayRef<unsigned> order = swizzle.order;
  if (order.size() == 1) {
    return fitToCluster(plainLayout(piece, order), shape, kOffset, cluster);
  }
  int32_t numCols = piece[order[0]], numRows = piece[order[1]];
  std::vector<Basis> bases;
  for (int32_t col = 1; col < numCols; col *= 2) {
    bases.push_back({0, col});
  }
  for (int32_t row = 1; row < numRows; row *= 2) {
    int32_t phase = row / swizzle.perPhase % swizzle.maxPhase;
    bases.push_back({row, int32_t(swizzle.vec) * phase % numCols});
  }
  LinearLayout matrix({{kOffset.str(), std::move(bases)}},
                      {{dimName(order[1]).str(), numRows}, {dimName(order[0]).str(), numCols}});
  return fitToCluster(matrix * plainLayout(piece, order.drop_front(2)), shape, kOffset, cluster);
}

/// The column, in elements as stored in the tensor, of column `col` of a panel whose 16-byte groups may be half
/// padding.
static int32_t packedColumn(int32_t col, bool isFp4Padded) { return isFp4Padded ? col / 16 * 8 + col % 8 : col; }

/// The unit of the swizzle: 8 rows of one panel, from offset to (row, column).
static LinearLayout swizzleAtom(const NvmmaParameters &nvmma) {
  int32_t numCols = 8 * nvmma.swizzleBytes / nvmma.elementBits, numRows = 8;
  std::vector<Basis> bases;
  for (int32_t col = 1; col < numCols; col *= 2) {
    bases.push_back({0, packedColumn(col, nvmma.isFp4Padded)});
  }
  for (int32_t row = 1; row < numRows; row *= 2) {
    int32_t phase = row / nvmma.perPhase() % nvmma.maxPhase();
    bases.push_back({row, packedColumn(nvmma.vec() * phase, nvmma.isFp4Padded)});
  }
  return LinearLayout({{kOffset.str(), std::move(bases)}},
                      {{"row", numRows}, {"col", nvmma.isFp4Padded ? numCols / 2 : numCols}});
}

/// One box of the shape `box`, whose last dimension is one panel wide; the outputs dim0, ... are those of the box.
static LinearLayout panelLayout(ArrayRef<int64_t> box, const NvmmaParameters &nvmma) {
  unsigned rank = box.size();
  if (nvmma.swizzleBytes == 0) {
    return plainLayout(box, rowMajorOrder(rank)).transposeOuts(dimNames(rank));
  }
  int64_t numRows = 1;
  for (int64_t size : box.drop_back()) {
    numRows *= size;
  }
  LinearLayout panel = swizzleAtom(nvmma);
  // A box smaller than the atom leaves the rest of the atom unused.
  panel = panel.resizeOutDim("col", box.back());
  int32_t rowsOfAtom = panel.getOutDimSize("row");
  panel = numRows < rowsOfAtom ? panel.resizeOutDim("row", numRows)
                               : panel * LinearLayout::identity1D(numRows / rowsOfAtom, kOffset, "row");
  llvm::SmallVector<LinearLayout::Index> dims;
  for (unsigned dim : rowMajorOrder(rank)) {
    dims.push_back({dimName(dim), box[dim]});
  }
  return panel.transposeOuts({"col", "row"}).reshapeOuts(dims).transposeOuts(dimNames(rank));
}

llvm::SmallVector<int64_t> tmaBoxShape(ArrayRef<int64_t> shapePerCta, const NvmmaParameters &nvmma) {
  constexpr int64_t maxBoxSize = 256;
  llvm::SmallVector<int64_t> box;
  for (int64_t size : shapePerCta) {
    box.push_back(std::min(size, maxBoxSize));
  }
  int64_t &contiguous = nvmma.isTransposed ? box.front() : box.back();
  if (nvmma.swizzleBytes != 0) {
    int64_t panel = 8 * nvmma.swizzleBytes / nvmma.elementBits;
    contiguous = std::min(contiguous, nvmma.isFp4Padded ? panel / 2 : panel);
  }
  return box;
}

LinearLayout nvmmaSharedLayout(ArrayRef<int64_t> shape, const NvmmaParameters &nvmma, const LinearLayout &cluster) {
  unsigned rank = shape.size();
  // Lay out the tensor with its contiguous dimension last; a transposed one has it first.
  llvm::SmallVector<int64_t> piece = shapePerCta(shape, cluster), box = tmaBoxShape(piece, nvmma);
  LinearLayout::Names names = dimNames(rank);
  if (nvmma.isTransposed) {
    std::rotate(piece.begin(), piece.begin() + 1, piece.end());
    std::rotate(box.begin(), box.begin() + 1, box.end());
    std::rotate(names.begin(), names.begin() + 1, names.end());
  }
  LinearLayout layout = fitToShape(panelLayout(box, nvmma), piece, kOffset);
  llvm::SmallVector<LinearLayout::Index> renamed;
  for (auto [name, size] : llvm::zip_equal(names, piece)) {
    renamed.push_back({name, size});
  }
  return fitToCluster(layout.reshapeOuts(renamed), shape, kOffset, cluster);
}

} // namespace jitk::ir
