// Lowering of operations that work on each element by itself.

#pragma once

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

namespace jitk::nvidia {

/// Emits one element: given the LLVM type of the result's elements and one register of each operand.
using ElementEmitter =
    llvm::function_ref<mlir::Value(LoweringBuilder &b, mlir::Type resultType, llvm::ArrayRef<mlir::Value> operands)>;

/// Lowers a pure operation with one result, on scalars or tensors (scalar operands of a tensor operation go to every
/// element). Registers with equal operands share one result, which keeps broadcast index arithmetic small.
void lowerElementwise(mlir::Operation *op, FunctionLowering &f, ElementEmitter emit);

/// Lowers `Source` to one `Target` an element, with its operands in order.
template <typename Source, typename Target> llvm::LogicalResult lowerDirectly(Source op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, mlir::Type type, llvm::ArrayRef<mlir::Value> operands) {
    return Target::create(b, b.loc(), mlir::TypeRange(type), mlir::ValueRange(operands))->getResult(0);
  });
  return mlir::success();
}

} // namespace jitk::nvidia
