// ttng.warp_any: the elements of a thread, then a vote.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"
#include "src/ir/ttng/Ttng.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static LogicalResult lowerWarpAny(ttng::WarpAnyOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Value own;
  for (Value element : f.registers(op.getSrc())) {
    own = own ? Value(LLVM::OrOp::create(b, b.loc(), own, element)) : element;
  }
  f.set(op.getResult(), {b.instValue("vote.sync.any", own)});
  return success();
}

void populateWarpAnyLowerings(LoweringTable &table) { table.add(lowerWarpAny); }

} // namespace jitk::nvidia
