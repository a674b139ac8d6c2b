// tt.load and tt.store: each thread accesses runs of consecutive elements as vectors of up to 16 bytes.

#include "backends/nvidia/codegen/lowering/AccessVector.h"
#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// The register of `value` for an access to element `reg`; scalars and absent values included.
static Value registerOf(FunctionLowering &f, Value value, unsigned reg) {
  return value ? f.registers(value)[isa<RankedTensorType>(value.getType()) ? reg : 0] : Value();
}

/// The part of an instruction's name that says how it treats the caches: ".cg"; null if no instruction has both.
static std::optional<std::string> cacheSuffix(tt::CacheModifier cache, tt::EvictionPolicy evict) {
  std::string suffix;
  switch (cache) {
  case tt::CacheModifier::NONE:
    break;
  case tt::CacheModifier::CA:
  case tt::CacheModifier::CG:
  case tt::CacheModifier::WB:
  case tt::CacheModifier::CS:
  case tt::CacheModifier::WT:
  case tt::CacheModifier::CV:
    suffix = "." + tt::stringifyCacheModifier(cache).str();
    break;
  }
  if (evict != tt::EvictionPolicy::NORMAL) {
    if (!suffix.empty()) {
      return std::nullopt;
    }
    suffix = evict == tt::EvictionPolicy::EVICT_FIRST ? ".L1::evict_first" : ".L1::evict_last";
  }
  return suffix;
}

static LogicalResult lowerLoad(tt::LoadOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Type element = f.elementType(op.getType());
  unsigned bits = storedBits(element), count = f.numRegisters(op.getType());
  AccessVector vector = AccessVector::of(f, op.getPtr(), op.getMask());
  Words words = Words::of(vector.length * bits / 8, bits);

  std::optional<std::string> cache = cacheSuffix(op.getCache(), op.getEvict());
  if (!cache) {
    return op.emitOpError("has a cache modifier and an eviction policy: no instruction has both");
  }
  std::string form = (op.getIsVolatile() ? "ld.volatile.global." : "ld.global" + *cache + ".") + words.suffix();
  bool fallback = op.getMask() && op.getOther();
  if (fallback) {
    form += ".else";
  }

  Type word = b.getIntegerType(words.bits), held = b.getIntegerType(std::max(words.bits, 16u));
  SmallVector<Value> loaded(count);
  for (unsigned reg = 0; reg < count; ++reg) {
    if (loaded[reg]) {
      continue;
    }
    if (unsigned same = vector.canonical(reg); same != reg) {
      loaded[reg] = loaded[same];
      continue;
    }
    Value mask = registerOf(f, op.getMask(), reg);
    SmallVector<Value> operands = {mask ? mask : b.boolean(true), registerOf(f, op.getPtr(), reg)};
    if (fallback) {
      SmallVector<Value> other;
      for (unsigned k = 0; k < vector.length; ++k) {
        other.push_back(registerOf(f, op.getOther(), vector.member(reg, k)));
      }
      for (Value packed : packWords(b, other, words.bits)) {
        operands.push_back(b.resizeUnsigned(packed, held));
      }
    }
    SmallVector<Value> results(b.inst(form, operands));
    for (Value &result : results) {
      result = b.resizeUnsigned(result, word);
    }
    for (auto [k, value] : llvm::enumerate(unpackWords(b, results, element, vector.length))) {
      loaded[vector.member(reg, k)] = value;
    }
  }
  f.set(op, loaded);
  return success();
}

static LogicalResult lowerStore(tt::StoreOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Type element = f.elementType(op.getValue().getType());
  unsigned bits = storedBits(element), count = f.numRegisters(op.getValue().getType());
  AccessVector vector = AccessVector::of(f, op.getPtr(), op.getMask());
  Words words = Words::of(vector.length * bits / 8, bits);

  std::optional<std::string> cache = cacheSuffix(op.getCache(), op.getEvict());
  if (!cache) {
    return op.emitOpError("has a cache modifier and an eviction policy: no instruction has both");
  }
  std::string form = "st.global" + *cache + "." + words.suffix();

  Type held = b.getIntegerType(std::max(words.bits, 16u));
  Value owner = ownsAccess(f, op.getPtr());
  llvm::BitVector stored(count);
  for (unsigned reg = 0; reg < count; ++reg) {
    if (stored[reg] || vector.canonical(reg) != reg) {
      continue;
    }
    Value predicate = b.logicalAnd(owner, registerOf(f, op.getMask(), reg));
    SmallVector<Value> operands = {predicate ? predicate : b.boolean(true), registerOf(f, op.getPtr(), reg)};
    SmallVector<Value> values;
    for (unsigned k = 0; k < vector.length; ++k) {
      values.push_back(registerOf(f, op.getValue(), vector.member(reg, k)));
      stored.set(vector.member(reg, k));
    }
    for (Value packed : packWords(b, values, words.bits)) {
      operands.push_back(b.resizeUnsigned(packed, held));
    }
    b.inst(form, operands);
  }
  return success();
}

void populateLoadStoreLowerings(LoweringTable &table) {
  table.add(lowerLoad);
  table.add(lowerStore);
}

} // namespace jitk::nvidia
