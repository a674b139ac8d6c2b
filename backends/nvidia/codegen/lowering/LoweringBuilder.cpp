#include "backends/nvidia/codegen/lowering/LoweringBuilder.h"

#include "src/ir/ptx/Ptx.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace jitk::nvidia {

LoweringBuilder::LoweringBuilder(Block *entry)
    : OpBuilder(entry->getParentOp()->getContext()), loc_(entry->getParentOp()->getLoc()), entry_(entry) {}

Value LoweringBuilder::constant(Type type, TypedAttr value) {
  Value &cached = constants_[{type, value}];
  if (!cached) {
    InsertionGuard guard(*this);
    if (lastConstant_) {
      setInsertionPointAfter(lastConstant_);
    } else {
      setInsertionPointToStart(entry_);
    }
    lastConstant_ = LLVM::ConstantOp::create(*this, entry_->getParentOp()->getLoc(), type, value);
    cached = lastConstant_->getResult(0);
  }
  return cached;
}

Value LoweringBuilder::integer(Type type, int64_t value) {
  unsigned width = type.getIntOrFloatBitWidth();
  return constant(type, IntegerAttr::get(type, APInt(width, value, /*isSigned=*/true, /*implicitTrunc=*/true)));
}

Value LoweringBuilder::floating(Type type, double value) { return constant(type, FloatAttr::get(type, value)); }

Value LoweringBuilder::zero(Type type) {
  if (isa<IntegerType>(type)) {
    return integer(type, 0);
  }
  if (isa<FloatType>(type)) {
    return floating(type, 0);
  }
  return LLVM::ZeroOp::create(*this, loc_, type);
}

Value LoweringBuilder::undef(Type type) { return LLVM::UndefOp::create(*this, loc_, type); }

std::optional<int64_t> LoweringBuilder::constantOf(Value value) {
  auto op = value.getDefiningOp<LLVM::ConstantOp>();
  if (!op) {
    return std::nullopt;
  }
  auto attr = dyn_cast<IntegerAttr>(op.getValue());
  return attr ? std::optional(attr.getValue().getSExtValue()) : std::nullopt;
}

Value LoweringBuilder::add(Value a, Value b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return integer(a.getType(), int64_t(uint64_t(*x) + uint64_t(*y)));
  }
  if (x) {
    std::swap(a, b);
    std::swap(x, y);
  }
  if (y && *y == 0) {
    return a;
  }
  // (z + c) + d is z + (c + d): keeps one constant, which addressing modes absorb.
  if (auto inner = a.getDefiningOp<LLVM::AddOp>(); inner && y) {
    if (auto c = constantOf(inner.getRhs())) {
      return add(inner.getLhs(), integer(a.getType(), int64_t(uint64_t(*c) + uint64_t(*y))));
    }
  }
  return LLVM::AddOp::create(*this, loc_, a, b);
}

Value LoweringBuilder::sub(Value a, Value b) {
  if (auto y = constantOf(b)) {
    return add(a, integer(a.getType(), int64_t(-uint64_t(*y))));
  }
  if (a == b) {
    return integer(a.getType(), 0);
  }
  return LLVM::SubOp::create(*this, loc_, a, b);
}

Value LoweringBuilder::mul(Value a, Value b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return integer(a.getType(), int64_t(uint64_t(*x) * uint64_t(*y)));
  }
  if (x) {
    std::swap(a, b);
    std::swap(x, y);
  }
  if (y && *y == 0) {
    return b;
  }
  if (y && *y == 1) {
    return a;
  }
  if (y && *y > 0 && llvm::isPowerOf2_64(*y)) {
    return shiftLeft(a, llvm::Log2_64(*y));
  }
  return LLVM::MulOp::create(*this, loc_, a, b);
}

Value LoweringBuilder::udiv(Value a, int64_t powerOfTwo) {
  assert(llvm::isPowerOf2_64(powerOfTwo));
  return shiftRight(a, llvm::Log2_64(powerOfTwo));
}

Value LoweringBuilder::urem(Value a, int64_t powerOfTwo) {
  assert(llvm::isPowerOf2_64(powerOfTwo));
  return bitAnd(a, powerOfTwo - 1);
}

Value LoweringBuilder::bitAnd(Value a, Value b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return integer(a.getType(), *x & *y);
  }
  if (x) {
    std::swap(a, b);
    std::swap(x, y);
  }
  if (y && *y == 0) {
    return b;
  }
  if ((y && *y == -1) || a == b) {
    return a;
  }
  if (auto inner = a.getDefiningOp<LLVM::AndOp>(); inner && y) {
    if (auto c = constantOf(inner.getRhs())) {
      return bitAnd(inner.getLhs(), integer(a.getType(), *c & *y));
    }
  }
  return LLVM::AndOp::create(*this, loc_, a, b);
}

Value LoweringBuilder::bitOr(Value a, Value b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return integer(a.getType(), *x | *y);
  }
  if (x) {
    std::swap(a, b);
    std::swap(x, y);
  }
  if ((y && *y == 0) || a == b) {
    return a;
  }
  return LLVM::OrOp::create(*this, loc_, a, b);
}

Value LoweringBuilder::bitXor(Value a, Value b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return integer(a.getType(), *x ^ *y);
  }
  if (x) {
    std::swap(a, b);
    std::swap(x, y);
  }
  if (y && *y == 0) {
    return a;
  }
  return LLVM::XOrOp::create(*this, loc_, a, b);
}

Value LoweringBuilder::shiftLeft(Value a, unsigned amount) {
  if (amount == 0) {
    return a;
  }
  if (auto x = constantOf(a)) {
    return integer(a.getType(), int64_t(uint64_t(*x) << amount));
  }
  return LLVM::ShlOp::create(*this, loc_, a, integer(a.getType(), amount));
}

Value LoweringBuilder::shiftRight(Value a, unsigned amount) {
  if (amount == 0) {
    return a;
  }
  if (auto x = constantOf(a)) {
    unsigned width = a.getType().getIntOrFloatBitWidth();
    return integer(a.getType(), (uint64_t(*x) & llvm::maskTrailingOnes<uint64_t>(width)) >> amount);
  }
  return LLVM::LShrOp::create(*this, loc_, a, integer(a.getType(), amount));
}

Value LoweringBuilder::compare(LLVM::ICmpPredicate predicate, Value a, Value b) {
  return LLVM::ICmpOp::create(*this, loc_, predicate, a, b);
}

Value LoweringBuilder::equal(Value a, int64_t b) {
  if (auto x = constantOf(a)) {
    return boolean(*x == b);
  }
  return compare(LLVM::ICmpPredicate::eq, a, integer(a.getType(), b));
}

Value LoweringBuilder::less(Value a, int64_t b) {
  if (auto x = constantOf(a)) {
    return boolean(uint64_t(*x) < uint64_t(b));
  }
  return compare(LLVM::ICmpPredicate::ult, a, integer(a.getType(), b));
}

Value LoweringBuilder::select(Value condition, Value yes, Value no) {
  if (yes == no) {
    return yes;
  }
  if (auto known = constantOf(condition)) {
    return *known ? yes : no;
  }
  return LLVM::SelectOp::create(*this, loc_, condition, yes, no);
}

Value LoweringBuilder::logicalAnd(Value a, Value b) {
  if (!a || !b) {
    return a ? a : b;
  }
  return bitAnd(a, b);
}

Value LoweringBuilder::bitcast(Value value, Type type) {
  return value.getType() == type ? value : Value(LLVM::BitcastOp::create(*this, loc_, type, value));
}

Value LoweringBuilder::resizeUnsigned(Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to) {
    return value;
  }
  if (auto x = constantOf(value)) {
    return integer(type, *x & llvm::maskTrailingOnes<uint64_t>(std::min(from, 64u)));
  }
  if (from < to) {
    return LLVM::ZExtOp::create(*this, loc_, type, value);
  }
  return LLVM::TruncOp::create(*this, loc_, type, value);
}

Value LoweringBuilder::toBits(Value value) {
  Type type = value.getType();
  if (isa<LLVM::LLVMPointerType>(type)) {
    return LLVM::PtrToIntOp::create(*this, loc_, getI64Type(), value);
  }
  if (type.isInteger(1)) {
    return LLVM::ZExtOp::create(*this, loc_, getI8Type(), value);
  }
  return bitcast(value, getIntegerType(type.getIntOrFloatBitWidth()));
}

Value LoweringBuilder::fromBits(Value bits, Type type) {
  if (isa<LLVM::LLVMPointerType>(type)) {
    return LLVM::IntToPtrOp::create(*this, loc_, type, bits);
  }
  if (type.isInteger(1)) {
    return LLVM::TruncOp::create(*this, loc_, type, bits);
  }
  return bitcast(bits, type);
}

Value LoweringBuilder::offsetPointer(Value pointer, Value bytes) {
  if (auto known = constantOf(bytes); known && *known == 0) {
    return pointer;
  }
  return LLVM::GEPOp::create(*this, loc_, pointer.getType(), getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{bytes});
}

ResultRange LoweringBuilder::inst(StringRef form, ValueRange operands, ArrayRef<int64_t> immediates) {
  return ir::ptx::InstOp::create(*this, loc_, form, operands, immediates)->getResults();
}

Value LoweringBuilder::instValue(StringRef form, ValueRange operands, ArrayRef<int64_t> immediates) {
  return inst(form, operands, immediates).front();
}

} // namespace jitk::nvidia
