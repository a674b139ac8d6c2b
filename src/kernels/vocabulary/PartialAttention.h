// Attention over parts of the keys, and the combination of the parts.
//
// A part leaves its normalized output and the base-2 logarithm of its sum for each row. Seen from the combination a
// part is one key: its score is that logarithm, its value the output. So the combination is the running softmax over
// parts.
//
//             rows                       log2 sums        outputs [rows, dim], f32
//   slot s    +------+                   [rows] f32       +----------------------+
//   slot s+1  +------+   ...             [rows] f32       +----------------------+
//
// Slots of one sequence follow one another.

#pragma once

#include "src/kernels/vocabulary/AttentionStep.h"

namespace jitk::kernels {

/// Where parts are left: [slot, numRows, dim] and [slot, numRows].
struct PartialResults {
  mlir::Value outputs, log2Sums; ///< !tt.ptr of f32
  mlir::Value numRows;           ///< i32, of a slot
  int64_t dim;
};

/// Leaves the rows `rows` (i32 vector) of a part in `slot` (i32): `outputs` are normalized f32 tensors [rows, *] whose
/// columns are those of dim, one after the other.
void storePartial(KernelBuilder &builder, const PartialResults &where, mlir::Value slot, mlir::Value rows,
                  mlir::Value mask, const SoftmaxState &state, llvm::ArrayRef<mlir::Value> outputs);

/// The columns of such tensors in dim.
llvm::SmallVector<DimensionPart> partsOf(llvm::ArrayRef<mlir::Value> outputs);

/// Combines the slots from `firstSlot` to before `endSlot` (i32) for `numRows` rows, a power of two, from `firstRow`
/// (i32) on; past the last row there is, that one is combined.
AttentionState combinePartials(KernelBuilder &builder, const PartialResults &where, mlir::Value firstSlot,
                               mlir::Value endSlot, mlir::Value firstRow, int64_t numRows);

} // namespace jitk::kernels
