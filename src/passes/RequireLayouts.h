// What passes after layout assignment rely on.

#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace jitk::passes {

/// Reports, at the op, the first tensor of the module that has no encoding, or one for other lanes and warps than the
/// module's, and the first of a function's type that is none that an op may have.
llvm::LogicalResult requireLayouts(mlir::ModuleOp module);

} // namespace jitk::passes
