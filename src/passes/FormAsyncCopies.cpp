// --jitk-form-async-copies: what is loaded only to be stored to shared memory goes there directly.

#include "src/passes/Passes.h"
#include "src/passes/buffers/AsyncWidth.h"
#include "src/passes/buffers/MergeCopyWaits.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace jitk::passes {

#define GEN_PASS_DEF_FORMASYNCCOPIES
#include "src/passes/Passes.h.inc"

using namespace jitk::ir;

/// Elements that the mask leaves out are zero in shared memory.
static bool isZeroOrAbsent(Value other) {
  return !other || matchPattern(other, m_AnyZeroFloat()) || matchPattern(other, m_Zero());
}

/// The load that `store` stores, if nothing between them may write memory and nobody else wants the value.
static tt::LoadOp loadBehind(ttg::LocalStoreOp store) {
  auto load = store.getSrc().getDefiningOp<tt::LoadOp>();
  if (!load || !load->hasOneUse() || load.getIsVolatile() || load->getBlock() != store->getBlock() ||
      !isZeroOrAbsent(load.getOther())) {
    return {};
  }
  for (Operation *op = load->getNextNode(); op != store; op = op->getNextNode()) {
    if (!isMemoryEffectFree(op) && !isa<tt::LoadOp>(op)) {
      return {};
    }
  }
  return load;
}

static void formCopy(tt::LoadOp load, ttg::LocalStoreOp store) {
  OpBuilder builder(store);
  Location loc = store.getLoc();
  auto copy = ttg::AsyncCopyGlobalToLocalOp::create(builder, loc, load.getPtr(), store.getDst(), load.getMask(),
                                                    load.getOther(), load.getCache(), load.getEvict(),
                                                    /*isVolatile=*/false, /*contiguity=*/1);
  auto commit = ttg::AsyncCommitGroupOp::create(builder, loc, ValueRange{copy.getToken()});
  ttg::AsyncWaitOp::create(builder, loc, ValueRange{commit.getAsyncToken()}, /*num=*/0u);
  store.erase();
  load.erase();
}

namespace {

struct FormAsyncCopiesPass : impl::FormAsyncCopiesBase<FormAsyncCopiesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    AxisInfoAnalysis axes(module);
    module.walk([&](ttg::LocalStoreOp store) {
      tt::LoadOp load = loadBehind(store);
      if (load && canCopyAsync(axes, load.getPtr(), load.getMask(), store.getDst().getType())) {
        formCopy(load, store);
      }
    });
    SmallVector<ttg::AsyncCopyGlobalToLocalOp> copies;
    module.walk([&](ttg::AsyncCopyGlobalToLocalOp copy) { copies.push_back(copy); });
    mergeCopyWaits(copies);
  }
};

} // namespace
} // namespace jitk::passes
