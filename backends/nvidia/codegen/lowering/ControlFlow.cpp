// Branches. Structured control flow has been turned into branches before.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace jitk::nvidia {

static SmallVector<Value> flatten(ValueRange values, FunctionLowering &f) {
  SmallVector<Value> flat;
  for (Value value : values) {
    llvm::append_range(flat, f.carried(value));
  }
  return flat;
}

static LogicalResult lowerBranch(cf::BranchOp op, FunctionLowering &f) {
  LLVM::BrOp::create(f.builder(), op.getLoc(), flatten(op.getDestOperands(), f), f.blockOf(op.getDest()));
  return success();
}

static LogicalResult lowerConditionalBranch(cf::CondBranchOp op, FunctionLowering &f) {
  LLVM::CondBrOp::create(f.builder(), op.getLoc(), f.scalar(op.getCondition()), f.blockOf(op.getTrueDest()),
                         flatten(op.getTrueDestOperands(), f), f.blockOf(op.getFalseDest()),
                         flatten(op.getFalseDestOperands(), f));
  return success();
}

static LogicalResult lowerSwitch(cf::SwitchOp op, FunctionLowering &f) {
  SmallVector<SmallVector<Value>> flat;
  for (OperandRange operands : op.getCaseOperands()) {
    flat.push_back(flatten(operands, f));
  }
  SmallVector<ValueRange> caseOperands(flat.begin(), flat.end());
  SmallVector<Block *> destinations =
      llvm::map_to_vector(op.getCaseDestinations(), [&](Block *block) { return f.blockOf(block); });
  LLVM::SwitchOp::create(f.builder(), op.getLoc(), f.scalar(op.getFlag()), f.blockOf(op.getDefaultDestination()),
                         flatten(op.getDefaultOperands(), f), op.getCaseValuesAttr(), destinations, caseOperands);
  return success();
}

void populateControlFlowLowerings(LoweringTable &table) {
  table.add(lowerBranch);
  table.add(lowerConditionalBranch);
  table.add(lowerSwitch);
}

} // namespace jitk::nvidia
