#include "src/passes/RequireLayouts.h"

#include "src/ir/layout/EncodingLayouts.h"
#include "src/ir/tt/Tt.h"
#include "src/passes/layouts/TargetCapability.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace jitk::passes {

static bool lacksLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding();
}

/// Whether the layout is for the lanes and warps around `op`, which an op in a module that does not state them lacks a
/// verifier for.
static bool isForThreads(Operation *op, RankedTensorType tensor) {
  ir::LinearLayout layout = ir::toLinearLayout(tensor);
  return layout.getInDimSize(ir::kLane) == ir::ttg::lookupThreadsPerWarp(op) &&
         layout.getInDimSize(ir::kWarp) == ir::ttg::lookupNumWarps(op);
}

LogicalResult requireLayouts(ModuleOp module) {
  if (failed(verifyThreads(module))) {
    return failure();
  }
  bool isStated = ir::ttg::maybeLookupNumWarps(module) && ir::ttg::maybeLookupThreadsPerWarp(module);
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    auto function = dyn_cast<FunctionOpInterface>(op);
    TypeRange types = function ? TypeRange(function.getArgumentTypes()) : TypeRange(op->getResultTypes());
    auto found = llvm::find_if(types, lacksLayout);
    if (found != types.end()) {
      return op->emitOpError("has a tensor without a layout: got ") << *found;
    }
    if (function) {
      return ir::tt::verifyTensorRules(op);
    }
    auto isForOthers = [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && !isForThreads(op, tensor);
    };
    found = isStated ? types.end() : llvm::find_if(types, isForOthers);
    if (found != types.end()) {
      return op->emitOpError("layout must have ") << ir::ttg::lookupThreadsPerWarp(op) << " lanes and "
                                                  << ir::ttg::lookupNumWarps(op) << " warps: got " << *found;
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace jitk::passes
