#include "src/passes/RequireLayouts.h"

#include "src/ir/tt/Tt.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace jitk::passes {

static bool lacksLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding();
}

LogicalResult requireLayouts(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) -> WalkResult {
    auto function = dyn_cast<FunctionOpInterface>(op);
    TypeRange types = function ? TypeRange(function.getArgumentTypes()) : TypeRange(op->getResultTypes());
    auto found = llvm::find_if(types, lacksLayout);
    if (found != types.end()) {
      return op->emitOpError("has a tensor without a layout: got ") << *found;
    }
    return function ? WalkResult(ir::tt::verifyTensorRules(op)) : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace jitk::passes
