// tt.dot without tensor cores: every thread holds whole rows of A and columns of B, and multiplies element by element.

#include "backends/nvidia/codegen/lowering/FloatConversion.h"
#include "backends/nvidia/codegen/lowering/FragmentIndex.h"
#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// An operand's registers as numbers of the accumulator's type.
static SmallVector<Value> widen(FunctionLowering &f, Value operand, Type accumulator) {
  LoweringBuilder &b = f.builder();
  Type element = cast<RankedTensorType>(operand.getType()).getElementType();
  SmallVector<Value> values(f.registers(operand));
  if (isa<IntegerType>(element)) {
    for (Value &value : values) {
      value = value.getType() == accumulator ? value : LLVM::SExtOp::create(b, b.loc(), accumulator, value);
    }
    return values;
  }
  if (element.getIntOrFloatBitWidth() == 8) {
    values = decodeFloat8(b, values, element, f.target().capability);
  }
  for (Value &value : values) {
    value = convertFloat(b, value, accumulator);
  }
  return values;
}

static Value multiplyAdd(LoweringBuilder &b, Value x, Value y, Value sum) {
  if (isa<FloatType>(sum.getType())) {
    return LLVM::FMAOp::create(b, b.loc(), x, y, sum);
  }
  return b.add(b.mul(x, y), sum);
}

LogicalResult lowerFmaDot(tt::DotOp op, FunctionLowering &f) {
  auto typeA = cast<RankedTensorType>(op.getA().getType()), typeB = cast<RankedTensorType>(op.getB().getType());
  auto type = cast<RankedTensorType>(op.getType());
  if (type.getRank() != 2) {
    return op.emitOpError("multiplies matrices alone: got ") << type;
  }
  FragmentIndex a(f.layout(typeA)), b(f.layout(typeB));
  const TensorLayout &result = f.layout(type);
  SmallVector<Value> left = widen(f, op.getA(), type.getElementType());
  SmallVector<Value> right = widen(f, op.getB(), type.getElementType());
  SmallVector<Value> sums(f.registers(op.getC()));
  for (auto [reg, sum] : llvm::enumerate(sums)) {
    TensorLayout::Coordinate at = result.registerCoordinate(reg);
    for (int32_t k = 0; k < int32_t(typeA.getShape()[1]); ++k) {
      std::optional<unsigned> x = a.find(at[0], k), y = b.find(k, at[1]);
      if (!x || !y) {
        return op.emitOpError("has operand layouts that do not match its result");
      }
      sum = multiplyAdd(f.builder(), left[*x], right[*y], sum);
    }
  }
  f.set(op.getResult(), sums);
  return success();
}

} // namespace jitk::nvidia
