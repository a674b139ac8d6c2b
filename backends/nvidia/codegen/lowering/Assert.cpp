// Debugging aids. There is no console on the device: tt.print is accepted and has no effect.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static LogicalResult lowerAssert(tt::AssertOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  // One trap for all elements of the thread.
  Value fails;
  for (Value condition : llvm::SetVector<Value>(llvm::from_range, f.registers(op.getCondition()))) {
    Value isFalse = b.equal(condition, 0);
    fails = fails ? b.bitOr(fails, isFalse) : isFalse;
  }
  b.inst("trap", fails);
  return success();
}

static LogicalResult lowerPrint(tt::PrintOp, FunctionLowering &) { return success(); }

void populateAssertLowerings(LoweringTable &table) {
  table.add(lowerAssert);
  table.add(lowerPrint);
}

} // namespace jitk::nvidia
