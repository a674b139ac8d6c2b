#include "src/ir/layout/ShapeFit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using llvm::ArrayRef;
using llvm::StringRef;

namespace jitk::ir {

StringRef dimName(unsigned dim) {
  static constexpr llvm::StringLiteral names[] = {"dim0",  "dim1",  "dim2",  "dim3",  "dim4",  "dim5",  "dim6",
                                                  "dim7",  "dim8",  "dim9",  "dim10", "dim11", "dim12", "dim13",
                                                  "dim14", "dim15", "dim16", "dim17", "dim18", "dim19", "dim20"};
  assert(dim < std::size(names) && "a tensor has at most 20 dimensions, and one more while it is unpacked");
  return names[dim];
}

LinearLayout::Names dimNames(unsigned rank) { return LinearLayout::Names(llvm::map_range(llvm::seq(rank), dimName)); }

llvm::SmallVector<unsigned> rowMajorOrder(unsigned rank) {
  return llvm::SmallVector<unsigned>(llvm::reverse(llvm::seq(rank)));
}

LinearLayout gridLayout(StringRef inDim, ArrayRef<unsigned> sizes, ArrayRef<unsigned> order) {
  LinearLayout grid;
  for (unsigned dim : order) {
    grid *= LinearLayout::identity1D(sizes[dim], inDim, dimName(dim));
  }
  return grid;
}

LinearLayout clusterLayout(unsigned rank, ArrayRef<int32_t> flatBases) {
  LinearLayout::InDim in{kBlock.str(), {}};
  LinearLayout::Basis pieces(rank, 1);
  for (; !flatBases.empty(); flatBases = flatBases.drop_front(rank)) {
    in.bases.emplace_back(flatBases.take_front(rank));
    for (auto [count, coordinate] : llvm::zip_equal(pieces, in.bases.back())) {
      count = std::max<int32_t>(count, llvm::NextPowerOf2(coordinate));
    }
  }
  std::vector<LinearLayout::OutDim> outs;
  for (auto [dim, count] : llvm::enumerate(pieces)) {
    outs.push_back({dimName(dim).str(), count});
  }
  return LinearLayout({std::move(in)}, std::move(outs));
}

/// The cluster's layout with no more pieces than the tensor has elements.
static LinearLayout fitClusterTo(ArrayRef<int64_t> shape, LinearLayout cluster) {
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (cluster.getOutDimSize(dimName(dim)) > size) {
      cluster = cluster.resizeOutDim(dimName(dim), size);
    }
  }
  return cluster;
}

llvm::SmallVector<int64_t> shapePerCta(ArrayRef<int64_t> shape, const LinearLayout &cluster) {
  LinearLayout pieces = fitClusterTo(shape, cluster);
  llvm::SmallVector<int64_t> result;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    result.push_back(size / pieces.getOutDimSize(dimName(dim)));
  }
  return result;
}

LinearLayout fitToShape(const LinearLayout &tile, ArrayRef<int64_t> shape, StringRef growDim) {
  LinearLayout::Names names = dimNames(shape.size());
  LinearLayout result = tile;
  for (StringRef name : tile.getOutDimNames()) {
    int32_t wanted = shape[llvm::find(names, name) - names.begin()];
    if (result.getOutDimSize(name) > wanted) {
      result = result.resizeOutDim(name, wanted);
    } else {
      result *= LinearLayout::identity1D(wanted / result.getOutDimSize(name), growDim, name);
    }
  }
  return result.transposeOuts(names);
}

LinearLayout fitToCluster(const LinearLayout &tile, ArrayRef<int64_t> shape, StringRef growDim,
                          const LinearLayout &cluster) {
  return fitToShape(tile, shapePerCta(shape, cluster), growDim) * fitClusterTo(shape, cluster);
}

} // namespace jitk::ir
