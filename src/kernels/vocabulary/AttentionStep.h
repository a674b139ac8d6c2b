// Attention of a tile of query rows, a block of keys and values at a time.
//
//             block of keys          head, values
//             +------------+         +---+  in parts that are powers of two
//     rows    |     S      |         | O |     S = Q K^T        summed over the parts of the head
//             +------------+         +---+     P = 2^(S - m)
//                                              O = O rescale + P V, for each part of the values
//
// This is the plain step, in which each product is awaited; OverlappedAttention computes the softmax beside products.

#pragma once

#include "src/kernels/vocabulary/DimensionParts.h"
#include "src/kernels/vocabulary/OnlineSoftmax.h"

namespace jitk::kernels {

/// What was attended to; carried through the loop over blocks.
struct AttentionState {
  SoftmaxState softmax;
  llvm::SmallVector<mlir::Value> outputs; ///< f32 [rows, part] of each part of the values, not normalized
};

/// Of `rows` rows that have attended to nothing.
AttentionState initialAttention(KernelBuilder &builder, int64_t rows, llvm::ArrayRef<DimensionPart> valueParts);

/// The state as loops and branches carry it.
llvm::SmallVector<mlir::Value> packAttention(const AttentionState &state);
AttentionState unpackAttention(mlir::ValueRange values);

/// Q K^T in f32 [rows, keys]; buffers [rows, part] and [keys, part] of each part of the head.
mlir::Value queriesTimesKeys(KernelBuilder &builder, mlir::ValueRange queries, mlir::ValueRange keys);

/// Scores where `isSeen`, else -inf; f32 and i1 of one shape.
mlir::Value maskedScores(KernelBuilder &builder, mlir::Value isSeen, mlir::Value scores);

/// Takes in a block: its base-2 scores, f32 [rows, keys], and its values, a buffer [keys, part] of each part. Weights
/// are rounded to the type of the values. `weightBuffer` [rows, keys], where it is not null, hands them around
/// between warps that share rows.
AttentionState attendBlock(KernelBuilder &builder, const AttentionState &state, mlir::Value scores,
                           mlir::ValueRange values, mlir::Value weightBuffer = {});

/// f32 [rows, *] times f32 [rows]; the same of several tensors.
mlir::Value scaledRows(KernelBuilder &builder, mlir::Value tensor, mlir::Value factors);
llvm::SmallVector<mlir::Value> scaledRows(KernelBuilder &builder, mlir::ValueRange tensors, mlir::Value factors);

} // namespace jitk::kernels
