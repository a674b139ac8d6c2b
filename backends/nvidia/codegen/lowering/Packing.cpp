#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;

namespace jitk::nvidia {

unsigned storedBits(Type element) {
  if (isa<LLVM::LLVMPointerType>(element)) {
    return 64;
  }
  return std::max(element.getIntOrFloatBitWidth(), 8u);
}

/// The vector that `lanes` are all the lanes of, in order; null if they are not.
static Value vectorOf(ArrayRef<Value> lanes, VectorType type) {
  auto first = lanes.front().getDefiningOp<LLVM::ExtractElementOp>();
  if (!first || first.getVector().getType() != type || int64_t(lanes.size()) != type.getNumElements()) {
    return {};
  }
  for (auto [position, lane] : llvm::enumerate(lanes)) {
    auto extract = lane.getDefiningOp<LLVM::ExtractElementOp>();
    if (!extract || extract.getVector() != first.getVector() ||
        LoweringBuilder::constantOf(extract.getPosition()) != int64_t(position)) {
      return {};
    }
  }
  return first.getVector();
}

SmallVector<Value> packWords(LoweringBuilder &b, ArrayRef<Value> elements, unsigned wordBits) {
  SmallVector<Value> words;
  if (elements.empty()) {
    return words;
  }
  unsigned perWord = wordBits / storedBits(elements.front().getType());
  Type word = b.getIntegerType(wordBits);
  if (perWord == 1) {
    return llvm::map_to_vector(elements, [&](Value element) { return b.toBits(element); });
  }
  for (size_t first = 0; first < elements.size(); first += perWord) {
    ArrayRef<Value> part = elements.slice(first, std::min<size_t>(perWord, elements.size() - first));
    // Equal constants make a constant word.
    auto constant = part.front().getDefiningOp<LLVM::ConstantOp>();
    if (constant && llvm::all_equal(part)) {
      APInt bits = isa<FloatAttr>(constant.getValue())
                       ? cast<FloatAttr>(constant.getValue()).getValue().bitcastToAPInt()
                       : cast<IntegerAttr>(constant.getValue()).getValue();
      bits = bits.zextOrTrunc(wordBits / perWord);
      words.push_back(b.constant(word, IntegerAttr::get(word, APInt::getSplat(wordBits, bits))));
      continue;
    }
    Type stored = part.front().getType().isInteger(1) ? b.getI8Type() : part.front().getType();
    auto type = VectorType::get(perWord, stored);
    if (Value vector = vectorOf(part, type)) {
      words.push_back(b.bitcast(vector, word));
      continue;
    }
    Value vector = b.undef(type);
    for (auto [position, element] : llvm::enumerate(part)) {
      Value lane = element.getType() == stored ? element : b.toBits(element);
      vector = LLVM::InsertElementOp::create(b, b.loc(), vector, lane, b.i32(position));
    }
    words.push_back(b.bitcast(vector, word));
  }
  return words;
}

SmallVector<Value> unpackWords(LoweringBuilder &b, ArrayRef<Value> words, Type element, unsigned count) {
  SmallVector<Value> elements;
  unsigned perWord = words.empty() ? 1 : words.front().getType().getIntOrFloatBitWidth() / storedBits(element);
  if (perWord == 1) {
    return llvm::map_to_vector(words, [&](Value word) { return b.fromBits(word, element); });
  }
  Type stored = element.isInteger(1) ? b.getI8Type() : element;
  for (Value word : words) {
    Value vector = b.bitcast(word, VectorType::get(perWord, stored));
    for (unsigned position = 0; position < perWord && elements.size() < count; ++position) {
      Value lane = LLVM::ExtractElementOp::create(b, b.loc(), vector, b.i32(position));
      elements.push_back(stored == element ? lane : b.fromBits(lane, element));
    }
  }
  return elements;
}

/// The float whose 16 bits `word` holds in its low half, above them zeros; null if there is none.
static Value lowHalfOf(Value word) {
  auto extend = word.getDefiningOp<LLVM::ZExtOp>();
  auto bits = extend ? extend.getArg().getDefiningOp<LLVM::BitcastOp>() : LLVM::BitcastOp();
  bool isHalf = bits && isa<FloatType>(bits.getArg().getType()) && bits.getType().isInteger(16);
  return isHalf ? bits.getArg() : Value();
}

Value joinHalves(LoweringBuilder &b, Value low, Value high) {
  auto shift = high.getDefiningOp<LLVM::ShlOp>();
  if (!shift || !low.getType().isInteger(32) || LoweringBuilder::constantOf(shift.getRhs()) != 16) {
    return {};
  }
  Value first = lowHalfOf(low), second = lowHalfOf(shift.getLhs());
  if (!first || !second || first.getType() != second.getType()) {
    return {};
  }
  return packWords(b, {first, second}, 32).front();
}

} // namespace jitk::nvidia
