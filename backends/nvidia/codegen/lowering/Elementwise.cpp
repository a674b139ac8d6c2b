#include "backends/nvidia/codegen/lowering/Elementwise.h"

#include "backends/nvidia/codegen/lowering/Packing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

void lowerElementwise(Operation *op, FunctionLowering &f, ElementEmitter emit) {
  LoweringBuilder &b = f.builder();
  Value result = op->getResult(0);
  unsigned count = f.numRegisters(result.getType());
  Type type = f.elementType(result.getType());
  assert(op->getNumOperands() >= 1 && op->getNumOperands() <= 3);

  SmallVector<ArrayRef<Value>, 3> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(f.registers(operand));
    assert(operands.back().size() == count || !isa<RankedTensorType>(operand.getType()));
  }

  llvm::SmallDenseMap<std::tuple<Value, Value, Value>, Value, 16> known;
  SmallVector<Value> results;
  results.reserve(count);
  for (unsigned reg = 0; reg < count; ++reg) {
    std::array<Value, 3> element;
    for (auto [slot, held] : llvm::zip(element, operands)) {
      slot = held.size() == count ? held[reg] : held.front();
    }
    Value &value = known[{element[0], element[1], element[2]}];
    if (!value) {
      value = emit(b, type, ArrayRef<Value>(element).take_front(operands.size()));
    }
    results.push_back(value);
  }
  f.set(result, results);
}

/// A member of LoweringBuilder that takes two values.
using Fold = Value (LoweringBuilder::*)(Value, Value);

template <typename Source, Fold fold> static LogicalResult lowerFolded(Source op, FunctionLowering &f) {
  lowerElementwise(
      op, f, [](LoweringBuilder &b, Type, ArrayRef<Value> operands) { return (b.*fold)(operands[0], operands[1]); });
  return success();
}

/// Floating-point arithmetic that may be contracted to fused multiply-add.
template <typename Source, typename Target> static LogicalResult lowerContractible(Source op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) -> Value {
    return Target::create(b, b.loc(), type, operands[0], operands[1], LLVM::FastmathFlags::contract);
  });
  return success();
}

static LogicalResult lowerCompareIntegers(arith::CmpIOp op, FunctionLowering &f) {
  auto predicate = static_cast<LLVM::ICmpPredicate>(op.getPredicate());
  lowerElementwise(op, f, [&](LoweringBuilder &b, Type, ArrayRef<Value> operands) {
    return b.compare(predicate, operands[0], operands[1]);
  });
  return success();
}

static LogicalResult lowerCompareFloats(arith::CmpFOp op, FunctionLowering &f) {
  auto predicate = static_cast<LLVM::FCmpPredicate>(op.getPredicate());
  lowerElementwise(op, f, [&](LoweringBuilder &b, Type, ArrayRef<Value> operands) -> Value {
    return LLVM::FCmpOp::create(b, b.loc(), predicate, operands[0], operands[1]);
  });
  return success();
}

static LogicalResult lowerSelect(arith::SelectOp op, FunctionLowering &f) {
  if (!isa<RankedTensorType>(op.getType()) && f.numRegisters(op.getType()) != 1) {
    // A memory descriptor: several registers chosen by one condition.
    SmallVector<Value> chosen;
    for (auto [yes, no] : llvm::zip(f.registers(op.getTrueValue()), f.registers(op.getFalseValue()))) {
      chosen.push_back(f.builder().select(f.scalar(op.getCondition()), yes, no));
    }
    f.set(op, chosen);
    return success();
  }
  lowerElementwise(op, f, [](LoweringBuilder &b, Type, ArrayRef<Value> operands) {
    return b.select(operands[0], operands[1], operands[2]);
  });
  return success();
}

static LogicalResult lowerFloorDivide(arith::FloorDivSIOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) {
    // Rounds toward zero, then down where the remainder and the divisor have different signs.
    Value quotient = LLVM::SDivOp::create(b, b.loc(), operands[0], operands[1]);
    Value remainder = b.sub(operands[0], b.mul(quotient, operands[1]));
    Value differs = b.compare(LLVM::ICmpPredicate::slt, b.bitXor(remainder, operands[1]), b.integer(type, 0));
    Value inexact = b.compare(LLVM::ICmpPredicate::ne, remainder, b.integer(type, 0));
    return b.select(b.bitAnd(differs, inexact), b.add(quotient, -1), quotient);
  });
  return success();
}

static LogicalResult lowerCeilDivideSigned(arith::CeilDivSIOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) {
    Value quotient = LLVM::SDivOp::create(b, b.loc(), operands[0], operands[1]);
    Value remainder = b.sub(operands[0], b.mul(quotient, operands[1]));
    Value same = b.compare(LLVM::ICmpPredicate::sge, b.bitXor(remainder, operands[1]), b.integer(type, 0));
    Value inexact = b.compare(LLVM::ICmpPredicate::ne, remainder, b.integer(type, 0));
    return b.select(b.bitAnd(same, inexact), b.add(quotient, 1), quotient);
  });
  return success();
}

static LogicalResult lowerCeilDivideUnsigned(arith::CeilDivUIOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) {
    Value quotient = LLVM::UDivOp::create(b, b.loc(), operands[0], operands[1]);
    Value remainder = b.sub(operands[0], b.mul(quotient, operands[1]));
    Value inexact = b.compare(LLVM::ICmpPredicate::ne, remainder, b.integer(type, 0));
    return b.add(quotient, b.resizeUnsigned(inexact, type));
  });
  return success();
}

static LogicalResult lowerNegate(arith::NegFOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type, ArrayRef<Value> operands) -> Value {
    return LLVM::FNegOp::create(b, b.loc(), operands[0]);
  });
  return success();
}

/// Bit casts between element types of one width, pointers included.
template <typename Op> static LogicalResult lowerBitcast(Op op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) {
    return operands[0].getType() == type ? operands[0] : b.fromBits(b.toBits(operands[0]), type);
  });
  return success();
}

static LogicalResult lowerIndexCast(arith::IndexCastOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) -> Value {
    unsigned from = operands[0].getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    if (from < to) {
      return LLVM::SExtOp::create(b, b.loc(), type, operands[0]);
    }
    return b.resizeUnsigned(operands[0], type);
  });
  return success();
}

static LogicalResult lowerOr(arith::OrIOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type, ArrayRef<Value> operands) {
    Value word = joinHalves(b, operands[0], operands[1]);
    return word ? word : b.bitOr(operands[0], operands[1]);
  });
  return success();
}

static LogicalResult lowerExtendUnsigned(arith::ExtUIOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) {
    return b.resizeUnsigned(operands[0], type);
  });
  return success();
}

static LogicalResult lowerTruncate(arith::TruncIOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) {
    return b.resizeUnsigned(operands[0], type);
  });
  return success();
}

static LogicalResult lowerMultiplyHigh(tt::MulhiUIOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) -> Value {
    unsigned width = type.getIntOrFloatBitWidth();
    Type wide = b.getIntegerType(2 * width);
    Value product = LLVM::MulOp::create(b, b.loc(), LLVM::ZExtOp::create(b, b.loc(), wide, operands[0]),
                                        LLVM::ZExtOp::create(b, b.loc(), wide, operands[1]));
    Value shift = b.integer(wide, width);
    return LLVM::TruncOp::create(b, b.loc(), type, LLVM::LShrOp::create(b, b.loc(), product, shift));
  });
  return success();
}

static LogicalResult lowerClamp(tt::ClampFOp op, FunctionLowering &f) {
  bool propagate = op.getPropagateNan() == tt::PropagateNan::ALL;
  lowerElementwise(op, f, [&](LoweringBuilder &b, Type, ArrayRef<Value> operands) -> Value {
    if (propagate) {
      Value raised = LLVM::MaximumOp::create(b, b.loc(), operands[0], operands[1]);
      return LLVM::MinimumOp::create(b, b.loc(), raised, operands[2]);
    }
    Value raised = LLVM::MaxNumOp::create(b, b.loc(), operands[0], operands[1]);
    return LLVM::MinNumOp::create(b, b.loc(), raised, operands[2]);
  });
  return success();
}

/// Bytes of a pointee in memory.
static unsigned pointeeBytes(Type pointer) {
  Type pointee = convertElementType(cast<tt::PointerType>(getElementTypeOrSelf(pointer)).getPointeeType());
  return isa<LLVM::LLVMPointerType>(pointee) ? 8 : std::max(pointee.getIntOrFloatBitWidth() / 8, 1u);
}

static LogicalResult lowerAddPointer(tt::AddPtrOp op, FunctionLowering &f) {
  Type unit = f.builder().getIntegerType(8 * pointeeBytes(op.getType()));
  lowerElementwise(op, f, [&](LoweringBuilder &b, Type type, ArrayRef<Value> operands) -> Value {
    if (auto known = LoweringBuilder::constantOf(operands[1]); known && *known == 0) {
      return operands[0];
    }
    return LLVM::GEPOp::create(b, b.loc(), type, unit, operands[0], ArrayRef<LLVM::GEPArg>{operands[1]});
  });
  return success();
}

void populateElementwiseLowerings(LoweringTable &table) {
  table.add(lowerFolded<arith::AddIOp, &LoweringBuilder::add>);
  table.add(lowerFolded<arith::SubIOp, &LoweringBuilder::sub>);
  table.add(lowerFolded<arith::MulIOp, &LoweringBuilder::mul>);
  table.add(lowerFolded<arith::AndIOp, &LoweringBuilder::bitAnd>);
  table.add(lowerOr);
  table.add(lowerFolded<arith::XOrIOp, &LoweringBuilder::bitXor>);
  table.add(lowerDirectly<arith::DivSIOp, LLVM::SDivOp>);
  table.add(lowerDirectly<arith::DivUIOp, LLVM::UDivOp>);
  table.add(lowerDirectly<arith::RemSIOp, LLVM::SRemOp>);
  table.add(lowerDirectly<arith::RemUIOp, LLVM::URemOp>);
  table.add(lowerDirectly<arith::ShLIOp, LLVM::ShlOp>);
  table.add(lowerDirectly<arith::ShRSIOp, LLVM::AShrOp>);
  table.add(lowerDirectly<arith::ShRUIOp, LLVM::LShrOp>);
  table.add(lowerDirectly<arith::MinSIOp, LLVM::SMinOp>);
  table.add(lowerDirectly<arith::MinUIOp, LLVM::UMinOp>);
  table.add(lowerDirectly<arith::MaxSIOp, LLVM::SMaxOp>);
  table.add(lowerDirectly<arith::MaxUIOp, LLVM::UMaxOp>);
  table.add(lowerFloorDivide);
  table.add(lowerCeilDivideSigned);
  table.add(lowerCeilDivideUnsigned);
  table.add(lowerMultiplyHigh);

  table.add(lowerContractible<arith::AddFOp, LLVM::FAddOp>);
  table.add(lowerContractible<arith::SubFOp, LLVM::FSubOp>);
  table.add(lowerContractible<arith::MulFOp, LLVM::FMulOp>);
  table.add(lowerDirectly<arith::RemFOp, LLVM::FRemOp>);
  table.add(lowerNegate);
  table.add(lowerDirectly<arith::MaximumFOp, LLVM::MaximumOp>);
  table.add(lowerDirectly<arith::MinimumFOp, LLVM::MinimumOp>);
  table.add(lowerDirectly<arith::MaxNumFOp, LLVM::MaxNumOp>);
  table.add(lowerDirectly<arith::MinNumFOp, LLVM::MinNumOp>);
  table.add(lowerClamp);

  table.add(lowerCompareIntegers);
  table.add(lowerCompareFloats);
  table.add(lowerSelect);

  table.add(lowerDirectly<arith::ExtSIOp, LLVM::SExtOp>);
  table.add(lowerExtendUnsigned);
  table.add(lowerTruncate);
  table.add(lowerIndexCast);
  table.add(lowerDirectly<arith::SIToFPOp, LLVM::SIToFPOp>);
  table.add(lowerDirectly<arith::UIToFPOp, LLVM::UIToFPOp>);
  table.add(lowerDirectly<arith::FPToSIOp, LLVM::FPToSIOp>);
  table.add(lowerDirectly<arith::FPToUIOp, LLVM::FPToUIOp>);
  table.add(lowerBitcast<arith::BitcastOp>);
  table.add(lowerBitcast<tt::BitcastOp>);
  table.add(lowerBitcast<tt::IntToPtrOp>);
  table.add(lowerBitcast<tt::PtrToIntOp>);
  table.add(lowerAddPointer);
}

} // namespace jitk::nvidia
