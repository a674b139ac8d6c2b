// The compute capability that a module is compiled for.

#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace jitk::passes {

/// Reports, at the module or at the function that has its own, numbers of warps, lanes or CTAs that no target has, and
/// attributes that say how many and are no numbers.
llvm::LogicalResult verifyThreads(mlir::ModuleOp module);

/// 90 for `ttg.target = "cuda:90"`. Reports a missing or other target at the module, and what `verifyThreads` does.
llvm::FailureOr<unsigned> targetCapability(mlir::ModuleOp module);

} // namespace jitk::passes
