// --jitk-allocate-global-scratch: see Passes.td.

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"
#include "src/passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::passes {

#define GEN_PASS_DEF_ALLOCATEGLOBALSCRATCH
#include "src/passes/Passes.h.inc"

namespace {

class AllocateGlobalScratch : public impl::AllocateGlobalScratchBase<AllocateGlobalScratch> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder b(module);
    int64_t size = 0, alignment = 1;
    bool failed = false;
    module.walk([&](ttg::GlobalScratchAllocOp op) {
      auto function = op->getParentOfType<tt::FuncOp>();
      if (!function || !function.isPublic()) {
        op.emitOpError("is supported in kernels only");
        failed = true;
        return;
      }
      size = llvm::alignTo(size, op.getAlignment());
      op->setAttr("ttg.global_scratch_memory_offset", b.getI32IntegerAttr(size));
      size += op.getNbytes();
      alignment = std::max<int64_t>(alignment, op.getAlignment());
    });
    if (failed) {
      return signalPassFailure();
    }
    module->setAttr("ttg.global_scratch_memory_size", b.getI32IntegerAttr(llvm::alignTo(size, alignment)));
    module->setAttr("ttg.global_scratch_memory_alignment", b.getI32IntegerAttr(alignment));
  }
};

} // namespace
} // namespace jitk::passes
