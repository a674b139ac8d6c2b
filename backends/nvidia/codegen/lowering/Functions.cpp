// Calls and returns. A device function takes the registers of its arguments, both scratch pointers and the address of
// its shared memory, and returns its registers as one value or a struct.

#include "backends/nvidia/codegen/lowering/WarpSpecialize.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static LogicalResult lowerReturn(tt::ReturnOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  SmallVector<Value> values;
  for (Value operand : op.getSrcs()) {
    llvm::append_range(values, f.registers(operand));
  }
  if (values.size() > 1) {
    Value packed = b.undef(f.function().getFunctionType().getReturnType());
    for (auto [index, value] : llvm::enumerate(values)) {
      packed = LLVM::InsertValueOp::create(b, b.loc(), packed, value, index);
    }
    values = {packed};
  }
  if (!f.specializations().empty()) {
    dismissWorkers(f);
  }
  LLVM::ReturnOp::create(b, b.loc(), values);
  return success();
}

static LogicalResult lowerCall(tt::CallOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  // A device function is lowered for the kernel's warps: their number and their barrier.
  if (f.inPartition()) {
    return op.emitOpError("in a partition of warp specialization is not supported");
  }
  SmallVector<Value> arguments;
  for (Value operand : op.getArgOperands()) {
    llvm::append_range(arguments, f.registers(operand));
  }
  bool hasMemory = op->hasAttr("allocation.offset");
  arguments.append({f.globalScratch(), f.profileScratch(), hasMemory ? f.sharedAddress(op) : f.sharedBase()});

  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) {
    llvm::append_range(types, f.registerTypes(type));
  }
  SmallVector<Type> result;
  if (types.size() == 1) {
    result = types;
  } else if (types.size() > 1) {
    result = {LLVM::LLVMStructType::getLiteral(op.getContext(), types)};
  }
  auto call = LLVM::CallOp::create(b, b.loc(), result, op.getCallee(), arguments);

  SmallVector<Value> values;
  for (unsigned index = 0; index < types.size(); ++index) {
    values.push_back(types.size() == 1 ? call.getResult()
                                       : Value(LLVM::ExtractValueOp::create(b, b.loc(), call.getResult(), index)));
  }
  unsigned next = 0;
  for (Value held : op.getResults()) {
    unsigned count = f.numRegisters(held.getType());
    f.set(held, ArrayRef(values).slice(next, count));
    next += count;
  }
  return success();
}

void populateFunctionLowerings(LoweringTable &table) {
  table.add(lowerReturn);
  table.add(lowerCall);
}

} // namespace jitk::nvidia
