#include "src/ir/layout/ShapeChange.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using llvm::ArrayRef;
using llvm::StringRef;

namespace jitk::ir {

/// Gives the outputs, in their order, the names dim0, dim1, ....
static LinearLayout numberOutputs(const LinearLayout &layout) {
  llvm::SmallVector<LinearLayout::Index> dims;
  for (auto [dim, out] : llvm::enumerate(layout.getOutDims())) {
    dims.push_back({dimName(dim), out.size});
  }
  return layout.reshapeOuts(dims);
}

LinearLayout transposedLayout(const LinearLayout &source, ArrayRef<int32_t> order) {
  LinearLayout::Names names(llvm::map_range(order, [](int32_t dim) { return dimName(dim); }));
  return numberOutputs(source.transposeOuts(names));
}

LinearLayout reshapedLayout(const LinearLayout &source, ArrayRef<int64_t> shape) {
  // Row-major: the last dimension is the most minor one.
  LinearLayout::Names reversed(llvm::reverse(dimNames(source.getNumOutDims())));
  llvm::SmallVector<LinearLayout::Index> dims;
  for (unsigned dim : rowMajorOrder(shape.size())) {
    dims.push_back({dimName(dim), shape[dim]});
  }
  return source.transposeOuts(reversed).reshapeOuts(dims).transposeOuts(dimNames(shape.size()));
}

LinearLayout expandedLayout(const LinearLayout &source, unsigned axis) {
  LinearLayout::Names order = source.getOutDimNames();
  order.insert(order.begin() + axis, StringRef("new"));
  LinearLayout expanded = source * LinearLayout::zeros1D(1, source.getInDimNames().front(), "new");
  return numberOutputs(expanded.transposeOuts(order));
}

LinearLayout joinedLayout(const LinearLayout &source) {
  unsigned rank = source.getNumOutDims();
  LinearLayout pair = LinearLayout::identity1D(2, kRegister, dimName(rank));
  return (pair * source).transposeOuts(dimNames(rank + 1));
}

std::optional<LinearLayout> splitLayout(const LinearLayout &source) {
  unsigned minor = source.getNumOutDims() - 1;
  std::vector<LinearLayout::InDim> ins = source.getInDims().vec();
  unsigned numMoving = 0;
  bool isRegister = true;
  for (LinearLayout::InDim &in : ins) {
    auto moves = [&](const LinearLayout::Basis &basis) { return basis[minor] != 0; };
    unsigned count = llvm::count_if(in.bases, moves);
    numMoving += count;
    isRegister &= count == 0 || in.name == kRegister;
    llvm::erase_if(in.bases, moves);
  }
  if (source.getOutDims().back().size != 2 || numMoving != 1 || !isRegister) {
    return std::nullopt;
  }
  LinearLayout half(std::move(ins), source.getOutDims().vec());
  return half.sublayout(half.getInDimNames(), dimNames(minor));
}

} // namespace jitk::ir
