#include "backends/nvidia/codegen/lowering/Fragments.h"

#include "backends/nvidia/codegen/lowering/FloatConversion.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace jitk::nvidia {

llvm::StringRef productTypeName(Type element) {
  if (element.isF16()) {
    return "f16";
  }
  if (element.isBF16()) {
    return "bf16";
  }
  if (element.isF32()) {
    return "tf32";
  }
  if (isa<Float8E4M3FNType>(element)) {
    return "e4m3";
  }
  if (isa<Float8E5M2Type>(element)) {
    return "e5m2";
  }
  if (element.isInteger(8)) {
    return "s8";
  }
  return "";
}

OperandFragments::OperandFragments(FunctionLowering &f, Value operand, unsigned opIdx)
    : f_(f), registers_(f.registers(operand)), index_(f.layout(cast<RankedTensorType>(operand.getType()))),
      opIdx_(opIdx) {
  auto type = cast<RankedTensorType>(operand.getType());
  element_ = type.getElementType();
  bits_ = element_.getIntOrFloatBitWidth();
  kWidth_ = cast<ir::ttg::DotOperandEncodingAttr>(type.getEncoding()).getKWidth();
}

void OperandFragments::decodeToHalf() {
  registers_ = decodeFloat8(f_.builder(), registers_, element_, f_.target().capability);
  element_ = Float16Type::get(element_.getContext());
  bits_ = element_.getIntOrFloatBitWidth();
}

Value OperandFragments::word(int32_t outer, int32_t k, unsigned u) {
  Value &word = words_[{(int64_t(outer) << 32) | uint32_t(k), u}];
  if (word) {
    return word;
  }
  unsigned perWord = 32 / bits_;
  SmallVector<Value, 4> elements;
  for (unsigned i = 0; i < perWord; ++i) {
    int32_t along = k + int32_t(u * perWord + i);
    std::optional<unsigned> reg = opIdx_ == 0 ? index_.find(outer, along) : index_.find(along, outer);
    if (!reg) {
      return {};
    }
    elements.push_back(registers_[*reg]);
  }
  word = packWords(f_.builder(), elements, 32).front();
  return word;
}

SmallVector<Value> leftFragment(OperandFragments &a, int32_t outer, int32_t k, unsigned u) {
  SmallVector<Value> words;
  for (int32_t along : {k, k + int32_t(4 * a.kWidth())}) {
    for (int32_t row : {outer, outer + 8}) {
      Value word = a.word(row, along, u);
      if (!word) {
        return {};
      }
      words.push_back(word);
    }
  }
  return words;
}

SmallVector<unsigned> accumulatorTile(const FragmentIndex &index, int32_t row, int32_t column, unsigned columns) {
  SmallVector<unsigned> tile;
  for (unsigned block = 0; block < columns; block += 8) {
    for (int32_t below : {0, 8}) {
      for (int32_t right : {0, 1}) {
        std::optional<unsigned> reg = index.find(row + below, column + int32_t(block) + right);
        if (!reg) {
          return {};
        }
        tile.push_back(*reg);
      }
    }
  }
  return tile;
}

SmallVector<Value> packAccumulator(LoweringBuilder &b, ArrayRef<Value> elements) {
  if (elements.front().getType().getIntOrFloatBitWidth() == 32) {
    return SmallVector<Value>(elements);
  }
  return packWords(b, elements, 32);
}

SmallVector<Value> unpackAccumulator(LoweringBuilder &b, ArrayRef<Value> words, Type element, unsigned count) {
  if (element.getIntOrFloatBitWidth() == 32) {
    return SmallVector<Value>(words);
  }
  return unpackWords(b, words, element, count);
}

} // namespace jitk::nvidia
