// The layouts of tensors over registers, lanes, warps and CTAs, from the parameters of their encodings.
//
// Inputs are register, lane, warp, block, in that order; outputs dim0, dim1, .... `cluster` comes from clusterLayout.

#pragma once

#include "src/ir/layout/ShapeFit.h"

namespace jitk::ir {

struct BlockedParameters {
  llvm::ArrayRef<unsigned> sizePerThread, threadsPerWarp, warpsPerCta, order;
};

/// `warpsPerCta` has the tensor's rank; leading dimensions of a rank above 2 are batches.
struct MmaParameters {
  unsigned version; ///< 2: mma.sync, 3: wgmma
  llvm::ArrayRef<unsigned> warpsPerCta;
  unsigned tileRows, tileCols; ///< the part of one instruction's result that a warp holds: 16 x n
};

LinearLayout blockedLayout(llvm::ArrayRef<int64_t> shape, const BlockedParameters &blocked,
                           const LinearLayout &cluster);

/// Accumulators of tensor cores.
LinearLayout mmaLayout(llvm::ArrayRef<int64_t> shape, const MmaParameters &mma, const LinearLayout &cluster);

/// Operand `opIdx` of a tensor-core dot: `kWidth` consecutive elements along K to a register group; warps that differ
/// along the other operand's dimension hold the same.
LinearLayout mmaOperandLayout(llvm::ArrayRef<int64_t> shape, const MmaParameters &mma, unsigned opIdx, unsigned kWidth,
                              const LinearLayout &cluster);

/// Operand `opIdx` of a dot without tensor cores: each thread holds all of K for the results that it computes.
LinearLayout fmaOperandLayout(llvm::ArrayRef<int64_t> shape, const BlockedParameters &blocked, unsigned opIdx,
                              const LinearLayout &cluster);

/// A tensor that has the layout `parent` after a dimension of size 1 is inserted at `dim`.
LinearLayout sliceLayout(const LinearLayout &parent, unsigned dim);

/// The dimension of operand `opIdx` along which a dot of that rank sums.
inline unsigned kDimOf(unsigned opIdx, unsigned rank) { return opIdx == 0 ? rank - 1 : rank - 2; }

} // namespace jitk::ir
