#include "backends/nvidia/codegen/lowering/Exchange.h"

#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;

namespace jitk::nvidia {

constexpr unsigned kShuffleBits = 32;

SmallVector<Value> shuffle(LoweringBuilder &b, StringRef form, ArrayRef<Value> values, Value argument) {
  if (values.empty()) {
    return {};
  }
  Type element = values.front().getType(), word = b.getI32Type();
  if (storedBits(element) < kShuffleBits) {
    SmallVector<Value> words = packWords(b, values, kShuffleBits);
    for (Value &value : words) {
      value = b.instValue(form, {value, argument});
    }
    return unpackWords(b, words, element, values.size());
  }
  return llvm::map_to_vector(values, [&](Value value) -> Value {
    Value bits = b.toBits(value);
    if (storedBits(element) == kShuffleBits) {
      return b.fromBits(b.instValue(form, {bits, argument}), element);
    }
    Value low = b.instValue(form, {b.resizeUnsigned(bits, word), argument});
    Value high = b.instValue(form, {b.resizeUnsigned(b.shiftRight(bits, kShuffleBits), word), argument});
    high = b.shiftLeft(b.resizeUnsigned(high, bits.getType()), kShuffleBits);
    return b.fromBits(b.bitOr(high, b.resizeUnsigned(low, bits.getType())), element);
  });
}

Words Words::of(unsigned bytes, unsigned elementBits) {
  assert(llvm::isPowerOf2_32(bytes) && bytes <= 16);
  unsigned bits = std::min(8 * bytes, elementBits == 64 ? 64u : 32u);
  return {bits, 8 * bytes / bits};
}

std::string Words::suffix() const {
  std::string width = "b" + std::to_string(bits);
  return count == 1 ? width : "v" + std::to_string(count) + "." + width;
}

/// The type that a memory instruction's register has: 8-bit words travel in 16 bits.
static Type registerType(LoweringBuilder &b, const Words &words) { return b.getIntegerType(std::max(words.bits, 16u)); }

static Value predicateOr(LoweringBuilder &b, Value predicate) { return predicate ? predicate : b.boolean(true); }

void storeShared(LoweringBuilder &b, Value address, ArrayRef<Value> elements, Value predicate, SharedWindow window) {
  unsigned elementBits = storedBits(elements.front().getType());
  Words words = Words::of(elements.size() * elementBits / 8, elementBits);
  SmallVector<Value> operands = {predicateOr(b, predicate), address};
  for (Value word : packWords(b, elements, words.bits)) {
    operands.push_back(b.resizeUnsigned(word, registerType(b, words)));
  }
  b.inst((window == SharedWindow::Cta ? "st.shared." : "st.shared::cluster.") + words.suffix(), operands);
}

SmallVector<Value> loadShared(LoweringBuilder &b, Value address, Type element, unsigned count, Value predicate) {
  unsigned elementBits = storedBits(element);
  Words words = Words::of(count * elementBits / 8, elementBits);
  SmallVector<Value> loaded(b.inst("ld.shared." + words.suffix(), {predicateOr(b, predicate), address}));
  for (Value &word : loaded) {
    word = b.resizeUnsigned(word, b.getIntegerType(words.bits));
  }
  return unpackWords(b, loaded, element, count);
}

LinearIndex linearIndex(FunctionLowering &f, const TensorLayout &layout,
                        llvm::function_ref<int32_t(ArrayRef<int32_t>)> number) {
  LinearIndex index;
  index.threadPart = f.threadPart(layout, number);
  for (const TensorLayout::Bases *bases : {&layout.lanes, &layout.warps, &layout.blocks}) {
    for (const TensorLayout::Coordinate &basis : *bases) {
      index.threadBits |= number(basis);
    }
  }
  for (unsigned reg = 0; reg < layout.numRegisters(); ++reg) {
    index.registerParts.push_back(number(layout.registerCoordinate(reg)));
  }
  return index;
}

} // namespace jitk::nvidia
