// tt.atomic_rmw and tt.atomic_cas: one thread executes each element's operation; its old value goes to the threads that
// hold the element.

#include "backends/nvidia/codegen/lowering/AccessVector.h"
#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/FloatConversion.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// "acq_rel.gpu", as atom instructions name order and scope.
static std::string orderAndScope(tt::MemSemantic order, tt::MemSyncScope scope) {
  StringRef scopeName = scope == tt::MemSyncScope::CTA ? "cta" : scope == tt::MemSyncScope::GPU ? "gpu" : "sys";
  return (tt::stringifyMemSemantic(order) + "." + scopeName).str();
}

/// Whether the operation means anything for elements of that type: an exchange for all.
static bool isDefined(tt::RMWOp operation, Type element) {
  return operation == tt::RMWOp::XCHG || isa<FloatType>(element) == (operation == tt::RMWOp::FADD);
}

/// The operation and type of an atom instruction: "add.u32"; empty if there is none.
static std::string operationOf(tt::RMWOp operation, Type element, unsigned capability) {
  unsigned bits = element.getIntOrFloatBitWidth();
  std::string width = std::to_string(bits);
  if (operation == tt::RMWOp::FADD && bits == 16) {
    return element.isF16() ? "add.noftz.f16" : capability >= 90 ? "add.noftz.bf16" : "";
  }
  if (bits != 32 && bits != 64) {
    return "";
  }
  switch (operation) {
  case tt::RMWOp::AND:
  case tt::RMWOp::OR:
  case tt::RMWOp::XOR:
    return tt::stringifyRMWOp(operation).str() + ".b" + width;
  case tt::RMWOp::XCHG:
    return "exch.b" + width;
  case tt::RMWOp::ADD:
    return "add.u" + width;
  case tt::RMWOp::FADD:
    return "add.f" + width;
  case tt::RMWOp::MAX:
    return "max.s" + width;
  case tt::RMWOp::MIN:
    return "min.s" + width;
  case tt::RMWOp::UMAX:
    return "max.u" + width;
  case tt::RMWOp::UMIN:
    return "min.u" + width;
  }
  return "";
}

/// Gives `result` the old values, which the owners of the elements hold in `old`, one a register.
static LogicalResult distribute(FunctionLowering &f, Operation *op, Value owner, SmallVector<Value> old) {
  LoweringBuilder &b = f.builder();
  Value result = op->getResult(0);
  if (result.use_empty()) {
    for (Value &value : old) {
      value = value ? value : b.undef(f.elementType(result.getType()));
    }
    f.set(result, old);
    return success();
  }
  if (!owner) {
    f.set(result, old);
    return success();
  }
  if (!op->hasAttr("allocation.offset")) {
    return op->emitOpError("gives its result to several CTAs of a cluster, which is not supported");
  }
  Type element = f.elementType(result.getType());
  Value base = f.sharedAddress(op);
  auto tensor = dyn_cast<RankedTensorType>(result.getType());
  if (!tensor) {
    storeShared(b, base, old.front(), owner);
    f.barrier();
    f.set(result, loadShared(b, base, element, 1).front());
    return success();
  }
  const TensorLayout &layout = f.layout(tensor);
  LinearIndex index = linearIndex(f, layout, [&](ArrayRef<int32_t> coordinate) {
    int32_t number = 0;
    for (auto [part, size] : llvm::zip(coordinate, tensor.getShape())) {
      number = number * int32_t(size) + part;
    }
    return number;
  });
  auto address = [&](unsigned reg) { return b.add(base, b.mul(index.of(reg, f), storedBits(element) / 8)); };
  for (unsigned reg = 0; reg < old.size(); ++reg) {
    if (layout.canonicalRegister(reg) == reg) {
      storeShared(b, address(reg), old[reg], owner);
    }
  }
  f.barrier();
  for (unsigned reg = 0; reg < old.size(); ++reg) {
    unsigned same = layout.canonicalRegister(reg);
    old[reg] = same == reg ? loadShared(b, address(reg), element, 1).front() : old[same];
  }
  f.set(result, old);
  return success();
}

/// Executes `emit(predicate, register)` for each element; the rest is the same for all atomics.
static LogicalResult lowerAtomic(Operation *op, FunctionLowering &f, Value pointers, Value mask, tt::MemSemantic order,
                                 llvm::function_ref<Value(Value predicate, unsigned reg)> emit) {
  LoweringBuilder &b = f.builder();
  bool scalar = !isa<RankedTensorType>(pointers.getType());
  // One thread acts for all: a release covers what the others wrote before.
  if (scalar && (order == tt::MemSemantic::RELEASE || order == tt::MemSemantic::ACQUIRE_RELEASE)) {
    f.barrier();
  }
  Value owner = ownsAccess(f, pointers);
  uint32_t free = scalar ? 0 : TensorLayout::freeBits(f.layout(cast<RankedTensorType>(pointers.getType())).registers);
  unsigned count = f.numRegisters(op->getResult(0).getType());
  SmallVector<Value> old(count);
  for (unsigned reg = 0; reg < count; ++reg) {
    if (reg & free) {
      old[reg] = old[reg & ~free];
      continue;
    }
    Value predicate = b.logicalAnd(owner, mask ? f.registers(mask)[reg] : Value());
    old[reg] = emit(predicate ? predicate : b.boolean(true), reg);
  }
  if (failed(distribute(f, op, owner, old))) {
    return failure();
  }
  // What the operation acquired is for all threads; the exchange of its result is a barrier already.
  if (scalar && op->getResult(0).use_empty() &&
      (order == tt::MemSemantic::ACQUIRE || order == tt::MemSemantic::ACQUIRE_RELEASE)) {
    f.barrier();
  }
  return success();
}

/// What memory holds after the operation.
static Value combine(LoweringBuilder &b, tt::RMWOp operation, Value old, Value value) {
  switch (operation) {
  case tt::RMWOp::AND:
    return b.bitAnd(old, value);
  case tt::RMWOp::OR:
    return b.bitOr(old, value);
  case tt::RMWOp::XOR:
    return b.bitXor(old, value);
  case tt::RMWOp::XCHG:
    return value;
  case tt::RMWOp::ADD:
    return b.add(old, value);
  case tt::RMWOp::FADD: {
    Value sum =
        LLVM::FAddOp::create(b, b.loc(), convertFloat(b, old, b.getF32Type()), convertFloat(b, value, b.getF32Type()));
    return convertFloat(b, sum, old.getType());
  }
  case tt::RMWOp::MAX:
    return LLVM::SMaxOp::create(b, b.loc(), old, value);
  case tt::RMWOp::MIN:
    return LLVM::SMinOp::create(b, b.loc(), old, value);
  case tt::RMWOp::UMAX:
    return LLVM::UMaxOp::create(b, b.loc(), old, value);
  case tt::RMWOp::UMIN:
    return LLVM::UMinOp::create(b, b.loc(), old, value);
  }
  return value;
}

/// An operation on 16 bits that no instruction has: compares and swaps with the instruction `form` until nobody came
/// between. Gives the old value where `predicate` holds.
static Value swapUntilEqual(FunctionLowering &f, const std::string &form, Value predicate, Value pointer, Value value,
                            tt::RMWOp operation) {
  LoweringBuilder &b = f.builder();
  Type element = value.getType(), word = b.getI16Type();
  Block *first = f.appendBlock(), *loop = f.appendBlock(word), *after = f.appendBlock(word);
  LLVM::CondBrOp::create(b, b.loc(), predicate, first, ValueRange(), after, ValueRange(b.undef(word)));
  b.setInsertionPointToEnd(first);
  // A guess: the swap sees whether it is out of date.
  Value guess = b.resizeUnsigned(b.instValue("ld.global.b16", {b.boolean(true), pointer}), word);
  LLVM::BrOp::create(b, b.loc(), ValueRange(guess), loop);
  b.setInsertionPointToEnd(loop);
  Value expected = loop->getArgument(0);
  Value wanted = b.toBits(combine(b, operation, b.fromBits(expected, element), value));
  Value found = b.instValue(form, {b.boolean(true), pointer, expected, wanted});
  Value isDone = b.compare(LLVM::ICmpPredicate::eq, found, expected);
  LLVM::CondBrOp::create(b, b.loc(), isDone, after, ValueRange(found), loop, ValueRange(found));
  b.setInsertionPointToEnd(after);
  return b.fromBits(after->getArgument(0), element);
}

static LogicalResult lowerAtomicRmw(tt::AtomicRMWOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Type element = f.elementType(op.getType());
  tt::RMWOp kind = op.getAtomicRmwOp();
  if (!isDefined(kind, element) || element.getIntOrFloatBitWidth() < 16) {
    return op.emitOpError("is not supported for ") << tt::stringifyRMWOp(kind) << " on " << element;
  }
  std::string prefix = "atom." + orderAndScope(op.getSem(), op.getScope()) + ".global.";
  std::string operation = operationOf(kind, element, f.target().capability);
  // f32 and f64 additions take float registers, all else bits.
  bool bits = !(kind == tt::RMWOp::FADD && element.getIntOrFloatBitWidth() >= 32);
  return lowerAtomic(op, f, op.getPtr(), op.getMask(), op.getSem(), [&](Value predicate, unsigned reg) {
    Value value = f.registers(op.getVal())[reg], pointer = f.registers(op.getPtr())[reg];
    if (operation.empty()) {
      return swapUntilEqual(f, prefix + "cas.b16", predicate, pointer, value, kind);
    }
    Value old = b.instValue(prefix + operation, {predicate, pointer, bits ? b.toBits(value) : value});
    return bits ? b.fromBits(old, element) : old;
  });
}

static LogicalResult lowerAtomicCas(tt::AtomicCASOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Type element = f.elementType(op.getType());
  unsigned width = element.getIntOrFloatBitWidth();
  if (width < 16) {
    return op.emitOpError("needs elements of 16, 32 or 64 bits: got ") << width;
  }
  std::string form = "atom." + orderAndScope(op.getSem(), op.getScope()) + ".global.cas.b" + std::to_string(width);
  return lowerAtomic(op, f, op.getPtr(), nullptr, op.getSem(), [&](Value predicate, unsigned reg) {
    Value compared = b.toBits(f.registers(op.getCmp())[reg]), value = b.toBits(f.registers(op.getVal())[reg]);
    return b.fromBits(b.instValue(form, {predicate, f.registers(op.getPtr())[reg], compared, value}), element);
  });
}

void populateAtomicLowerings(LoweringTable &table) {
  table.add(lowerAtomicRmw);
  table.add(lowerAtomicCas);
}

} // namespace jitk::nvidia
