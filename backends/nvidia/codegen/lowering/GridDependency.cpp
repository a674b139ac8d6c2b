#include "backends/nvidia/codegen/lowering/GridDependency.h"

#include "src/ir/ttg/Ttg.h"
#include "src/ir/ttng/Ttng.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

bool mayPrecedeGridWait(Operation &op) {
  if (op.hasTrait<OpTrait::IsTerminator>()) {
    return false;
  }
  return isMemoryEffectFree(&op) ||
         isa<ttg::LocalAllocOp, ttg::LocalStoreOp, ttg::LocalBarrierOp, ttng::InitBarrierOp, ttng::FenceAsyncSharedOp>(
             op);
}

void emitGridWait(LoweringBuilder &b) {
  b.inst("griddepcontrol.wait", {});
  b.inst("griddepcontrol.launch_dependents", {});
}

} // namespace jitk::nvidia
