// How each tt.dot runs on the target.

#pragma once

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"

namespace jitk::passes {

/// Gives every tt.dot of the function on tensors without encodings the result encoding that it will have, and rewrites
/// it as the instruction wants it:
///   - wgmma (capability 90, at least 64 rows and 4 warps, B and A in buffers that descriptors can say or in
///   registers):
///     a ttng.warp_group_dot with its wait, whose B, and A where it comes from a buffer, are buffers;
///   - mma.sync: a tt.dot with an nvidia_mma encoding; a transposed read of a buffer becomes a read of the transposed
///     buffer;
///   - else (f32 at full precision, f64, tiles smaller than an instruction's): a tt.dot with a blocked encoding.
/// A ttng.warp_group_dot on an accumulator without encoding is given the encoding of its instruction.
/// fp8 operands are widened to f16, which is exact, where the tensor cores take no fp8 (capability 80).
/// Operands and accumulators are converted by the caller: until then the types of a dot differ.
void chooseDotLayouts(ir::tt::FuncOp function, unsigned capability);

/// The encoding in which an operand of a dot is wanted; null for a buffer and for other operands than A, B and C.
mlir::Attribute dotOperandLayout(mlir::OpOperand &operand);

} // namespace jitk::passes
