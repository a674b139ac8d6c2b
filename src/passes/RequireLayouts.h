// What passes after layout assignment rely on.

#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace jitk::passes {

/// Reports, at the op, the first tensor of the module that has no encoding.
llvm::LogicalResult requireLayouts(mlir::ModuleOp module);

} // namespace jitk::passes
