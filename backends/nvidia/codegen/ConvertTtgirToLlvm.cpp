// --convert-ttgir-to-llvm: see Passes.td.

#include "backends/nvidia/codegen/Passes.h"
#include "backends/nvidia/codegen/lowering/FunctionLowering.h"
#include "src/ir/ptx/Ptx.h"
#include "src/passes/AxisInfo.h"
#include "src/passes/RequireLayouts.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

#define GEN_PASS_DEF_CONVERTTTGIRTOLLVM
#include "backends/nvidia/codegen/Passes.h.inc"

namespace {

class ConvertTtgirToLlvm : public impl::ConvertTtgirToLlvmBase<ConvertTtgirToLlvm> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(KernelTarget::of(module)) || failed(passes::requireLayouts(module))) {
      return signalPassFailure();
    }
    passes::AxisInfoAnalysis axes(module);
    SmallVector<tt::FuncOp> functions(module.getOps<tt::FuncOp>());
    for (tt::FuncOp function : functions) {
      if (function.isExternal()) {
        function.emitOpError("has no body: there is nothing to link it with");
        return signalPassFailure();
      }
      FailureOr<KernelTarget> target = KernelTarget::of(function);
      if (failed(target) || failed(FunctionLowering::run(function, *target, axes))) {
        return signalPassFailure();
      }
    }
    for (tt::FuncOp function : functions) {
      function.erase();
    }
  }
};

} // namespace
} // namespace jitk::nvidia
