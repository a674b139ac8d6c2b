// How each tt.dot runs on the target's tensor cores.

#pragma once

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"

namespace jitk::passes {

/// What the choice depends on besides the dot.
struct DotTarget {
  unsigned capability; ///< 80, 89, 90, 100, 120
  unsigned numWarps;
};

/// Gives every tt.dot of the function on tensors without encodings the result encoding that it will have, and rewrites
/// operands as the instruction wants them:
///   - with wgmma (sm_90, at least 64 rows): a ttng.warp_group_dot whose B, and A where it comes from a buffer, are
///     buffers (transposed views included);
///   - with mma.sync: operands loaded from buffers as dot_op fragments, a transposed load as a load of the transposed
///     buffer;
///   - fp8 operands where the target has no fp8 product: widened to f16, which is exact.
/// Afterwards the results carry an nvidia_mma encoding; operands and accumulators are converted by the caller.
/// Fails on a dot whose shape no instruction serves.
llvm::LogicalResult chooseDotLayouts(ir::tt::FuncOp function, const DotTarget &target);

/// The encoding in which operand `index` (0: A, 1: B, 2: C) of a dot is wanted; null for a buffer.
mlir::Attribute dotOperandLayout(mlir::Operation *dot, unsigned index);

} // namespace jitk::passes
