// The instructions of a plan that moves a tensor between registers and shared memory.

#pragma once

#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "src/ir/layout/LocalAccess.h"

namespace jitk::nvidia {

/// Gives the byte address of a step in the executing thread.
using StepAddress = llvm::function_ref<mlir::Value(const ir::LocalAccessStep &)>;

/// Stores `values`, one a register of the tensor. Step registers are changed by XOR with `registerXor`. Of threads
/// that hold the same elements, one stores. Matrices are not stored outside of the CTA's window.
void storeSteps(FunctionLowering &f, const ir::LocalAccess &access, StepAddress address,
                llvm::ArrayRef<mlir::Value> values, uint32_t registerXor = 0, SharedWindow window = SharedWindow::Cta);

/// Loads into `values`; elements are of type `element`. Registers that hold copies are left to `copyRegisters`.
void loadSteps(LoweringBuilder &b, const ir::LocalAccess &access, StepAddress address, mlir::Type element,
               llvm::MutableArrayRef<mlir::Value> values, uint32_t registerXor = 0);

/// Fills the registers that the plan says are copies.
void copyRegisters(const ir::LocalAccess &access, llvm::MutableArrayRef<mlir::Value> values);

} // namespace jitk::nvidia
