// tt.map_elementwise: the region once for each pack of elements, with its control flow.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static LogicalResult lowerMapElementwise(tt::MapElementwiseOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  unsigned pack = op.getPack(), count = f.numRegisters(op->getResult(0).getType());
  if (count % pack != 0) {
    return op.emitOpError("needs whole packs in each thread: got ") << count << " elements in packs of " << pack;
  }
  // The region returns `pack` elements of the first result, then of the next.
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    types.append(pack, f.elementType(type));
  }
  SmallVector<SmallVector<Value>> results(op->getNumResults());
  for (unsigned first = 0; first < count; first += pack) {
    unsigned argument = 0;
    for (Value operand : op.getSrcs()) {
      for (Value element : f.registers(operand).slice(first, pack)) {
        f.set(op.getScalarOp().getArgument(argument++), element);
      }
    }
    Block *region = f.appendBlock(), *after = f.appendBlock(types);
    f.setContinuation(op, after);
    LLVM::BrOp::create(b, b.loc(), ValueRange(), region);
    if (failed(f.lowerRegion(op.getScalarOp(), region))) {
      return failure();
    }
    b.setInsertionPointToEnd(after);
    for (auto [index, result] : llvm::enumerate(results)) {
      llvm::append_range(result, after->getArguments().slice(index * pack, pack));
    }
  }
  for (auto [result, registers] : llvm::zip(op->getResults(), results)) {
    f.set(result, registers);
  }
  return success();
}

static LogicalResult lowerReturn(tt::MapElementwiseReturnOp op, FunctionLowering &f) {
  SmallVector<Value> values = llvm::map_to_vector(op.getResult(), [&](Value value) { return f.scalar(value); });
  LLVM::BrOp::create(f.builder(), op.getLoc(), values, f.continuationOf(op->getParentOp()));
  return success();
}

void populateMapElementwiseLowerings(LoweringTable &table) {
  table.add(lowerMapElementwise);
  table.add(lowerReturn);
}

} // namespace jitk::nvidia
