// The compute capability that a module is compiled for.

#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace jitk::passes {

/// 90 for `ttg.target = "cuda:90"`. Reports a missing or other target at the module.
llvm::FailureOr<unsigned> targetCapability(mlir::ModuleOp module);

} // namespace jitk::passes
