// Barriers of the CTA, or of the partition that executes them.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static LogicalResult lowerBarrier(gpu::BarrierOp op, FunctionLowering &f) {
  f.barrier();
  return success();
}

static LogicalResult lowerLocalBarrier(ttg::LocalBarrierOp op, FunctionLowering &f) {
  f.barrier();
  return success();
}

void populateBarrierLowerings(LoweringTable &table) {
  table.add(lowerBarrier);
  table.add(lowerLocalBarrier);
}

} // namespace jitk::nvidia
