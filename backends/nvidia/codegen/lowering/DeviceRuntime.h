// What kernels call of CUDA's device runtime: functions that the driver's loader provides, and the emulator too.

#pragma once

#include "backends/nvidia/codegen/lowering/LoweringBuilder.h"

#include "mlir/IR/BuiltinOps.h"

namespace jitk::nvidia {

/// The declaration of the function `name`, one a module.
mlir::LLVM::LLVMFuncOp deviceFunction(mlir::ModuleOp module, llvm::StringRef name, mlir::LLVM::LLVMFunctionType type);

/// The generic address of a zero-terminated string. Equal strings are one.
mlir::Value stringConstant(mlir::ModuleOp module, LoweringBuilder &b, llvm::StringRef text);

} // namespace jitk::nvidia
