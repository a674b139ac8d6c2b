#include "src/ir/layout/DistributedLayouts.h"

#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;

namespace jitk::ir {

/// A layout without bits, with the outputs in `order`: what is multiplied to it grows in that order.
static LinearLayout emptyTile(ArrayRef<unsigned> order) {
  llvm::SmallVector<unsigned> ones(order.size(), 1);
  return gridLayout(kRegister, ones, order) * gridLayout(kLane, ones, order) * gridLayout(kWarp, ones, order);
}

/// Row-major order, or the same with the two minor dimensions exchanged.
static llvm::SmallVector<unsigned> matrixOrder(unsigned rank, bool isRowMajor) {
  llvm::SmallVector<unsigned> order = rowMajorOrder(rank);
  if (!isRowMajor) {
    std::swap(order[0], order[1]);
  }
  return order;
}

/// A grid whose position along `dim` does not matter.
static LinearLayout broadcastGrid(llvm::StringRef inDim, ArrayRef<unsigned> sizes, ArrayRef<unsigned> order,
                                  unsigned dim) {
  LinearLayout grid;
  for (unsigned next : order) {
    grid *= next == dim ? LinearLayout::zeros1D(sizes[next], inDim, dimName(next))
                        : LinearLayout::identity1D(sizes[next], inDim, dimName(next));
  }
  return grid;
}

/// The fragment of one warp: four lanes side by side along `inner`, each with `width` elements, and eight such rows;
/// the registers then go on along `outer`, and along `inner`.
static LinearLayout fragment(ArrayRef<unsigned> order, unsigned innerSize, unsigned outerSize, unsigned width) {
  llvm::StringRef inner = dimName(order[0]), outer = dimName(order[1]);
  return emptyTile(order) * LinearLayout::identity1D(width, kRegister, inner) *
         LinearLayout::identity1D(4, kLane, inner) * LinearLayout::identity1D(8, kLane, outer) *
         LinearLayout::identity1D(outerSize / 8, kRegister, outer) *
         LinearLayout::identity1D(std::max(innerSize / (4 * width), 1u), kRegister, inner);
}

LinearLayout blockedLayout(ArrayRef<int64_t> shape, const BlockedParameters &blocked, const LinearLayout &cluster) {
  LinearLayout tile = gridLayout(kRegister, blocked.sizePerThread, blocked.order) *
                      gridLayout(kLane, blocked.threadsPerWarp, blocked.order) *
                      gridLayout(kWarp, blocked.warpsPerCta, blocked.order);
  return fitToCluster(tile, shape, kRegister, cluster);
}

LinearLayout mmaLayout(ArrayRef<int64_t> shape, const MmaParameters &mma, const LinearLayout &cluster) {
  unsigned rank = shape.size();
  LinearLayout warps = gridLayout(kWarp, mma.warpsPerCta, matrixOrder(rank, mma.version != 3));
  LinearLayout tile = fragment(rowMajorOrder(rank), mma.tileCols, mma.tileRows, /*width=*/2) * warps;
  return fitToCluster(tile, shape, kRegister, cluster);
}

/// A cluster's layout for an operand: CTAs that differ along the dimension of the sum hold the same.
static LinearLayout withoutDim(const LinearLayout &cluster, unsigned dim) {
  return cluster.resizeOutDim(dimName(dim), 1);
}

LinearLayout mmaOperandLayout(ArrayRef<int64_t> shape, const MmaParameters &mma, unsigned opIdx, unsigned kWidth,
                              const LinearLayout &cluster) {
  unsigned rank = shape.size(), kDim = kDimOf(opIdx, rank);
  // K is the fastest dimension of either operand.
  llvm::SmallVector<unsigned> order = matrixOrder(rank, /*isRowMajor=*/opIdx == 0);
  LinearLayout warps = broadcastGrid(kWarp, mma.warpsPerCta, matrixOrder(rank, mma.version != 3), kDim);
  LinearLayout tile = fragment(order, 8 * kWidth, opIdx == 0 ? 16 : 8, kWidth) * warps;
  return fitToCluster(tile, shape, kRegister, withoutDim(cluster, kDim));
}

LinearLayout fmaOperandLayout(ArrayRef<int64_t> shape, const BlockedParameters &blocked, unsigned opIdx,
                              const LinearLayout &cluster) {
  unsigned kDim = kDimOf(opIdx, shape.size());
  llvm::SmallVector<unsigned> sizePerThread(blocked.sizePerThread);
  sizePerThread[kDim] = shape[kDim];
  LinearLayout tile = gridLayout(kRegister, sizePerThread, blocked.order) *
                      broadcastGrid(kLane, blocked.threadsPerWarp, blocked.order, kDim) *
                      broadcastGrid(kWarp, blocked.warpsPerCta, blocked.order, kDim);
  return fitToCluster(tile, shape, kRegister, withoutDim(cluster, kDim));
}

LinearLayout sliceLayout(const LinearLayout &parent, unsigned dim) {
  LinearLayout::Names kept = parent.getOutDimNames();
  kept.erase(kept.begin() + dim);
  // Registers that differ only along the dimension are one now; lanes and warps remain and hold copies.
  LinearLayout slice = parent.sublayout(parent.getInDimNames(), kept).removeZeroBasesAlongDim(kRegister);
  for (auto [index, name] : llvm::enumerate(kept)) {
    slice = slice.renameOutDim(name, dimName(index));
  }
  return slice;
}

} // namespace jitk::ir
