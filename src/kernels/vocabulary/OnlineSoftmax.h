// The running softmax of blockwise attention, in the base-2 domain.
//
// With t = score * scale * log2(e), each row keeps m = max t and l = sum 2^(t - m). A block of scores multiplies what
// was accumulated by 2^(m_old - m_new). Rows that have attended to nothing keep m = -inf and l = 0; their exponentials
// are taken against 0 instead of m, so that no inf - inf appears.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// The state of `rows` rows: two f32 vectors, carried through the loop over blocks.
struct SoftmaxState {
  mlir::Value maximum, sum;
};

/// What one block of scores gives.
struct SoftmaxStep {
  SoftmaxState state;
  mlir::Value weights; ///< f32 [rows, columns]: 2^(t - m)
  mlir::Value rescale; ///< f32 [rows]: factor for everything accumulated before
};

SoftmaxState initialSoftmax(KernelBuilder &builder, int64_t rows);

/// Takes in a block of base-2 scores, f32 [rows, columns]; masked scores are -inf.
SoftmaxStep accumulateSoftmax(KernelBuilder &builder, const SoftmaxState &state, mlir::Value scores);

/// What one block of scores gives, whose columns come in several tensors.
struct SoftmaxParts {
  SoftmaxState state;
  llvm::SmallVector<mlir::Value> weights; ///< of each tensor
  mlir::Value rescale;
  mlir::Value isRescaled; ///< i1 [rows]: where it is not 1
};

/// The same for scores that `scale` > 0 turns into base 2, in one instruction with the subtraction of the maximum, and
/// with less to do for each block:
///   - the maximum is taken as it was until it grows by more than 8: weights are at most 2^8, and nearly no block but
///     the first of a row rescales. Only the last step's sum and values are divided, so that the result is the same;
///   - the sum stays in parts, [rows, kSumParts], which `totalled` adds up at the end.
SoftmaxParts accumulateLazily(KernelBuilder &builder, const SoftmaxState &state, mlir::ValueRange scores, double scale);
SoftmaxState initialLazySoftmax(KernelBuilder &builder, int64_t rows);
/// The state with a sum for each row.
SoftmaxState totalled(KernelBuilder &builder, const SoftmaxState &state);

/// Factor that turns the accumulated values into the result: 1 / l, and 0 for rows that attended to nothing.
mlir::Value softmaxNormalizer(KernelBuilder &builder, const SoftmaxState &state);

/// log2(sum 2^t); -inf for rows that attended to nothing. This is the score of what was attended to, seen as one key.
mlir::Value log2Sum(KernelBuilder &builder, const SoftmaxState &state);

/// log(sum exp(score * scale)), natural; `ofNothing` for rows that attended to nothing.
mlir::Value logSumExp(KernelBuilder &builder, const SoftmaxState &state, double ofNothing);

} // namespace jitk::kernels
