// How the layouts of an op's tensors hang together, op by op.

#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace jitk::passes {

/// Whether the op computes each element of its results from the same element of its operands.
bool isElementwise(mlir::Operation *op);

/// Whether making the op's result again, in another layout, is legal and no dearer than moving the result there:
/// indices, constants, changes of shape, elementwise computation, loads from shared memory.
bool isRemakable(mlir::Operation *op);

/// The layout of the op's results where its operand has `layout`, so that no element moves. Null if the op does not
/// say.
mlir::Attribute resultLayout(mlir::OpOperand &operand, mlir::Attribute layout);

/// The layout of the operand from which the op makes its results in `layout` without moving an element. Null if there
/// is none.
mlir::Attribute operandLayout(mlir::OpOperand &operand, mlir::Attribute layout);

} // namespace jitk::passes
