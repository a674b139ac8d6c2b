#include "backends/nvidia/codegen/lowering/FloatConversion.h"

#include "backends/nvidia/codegen/lowering/Elementwise.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// Capability from which instructions convert fp8.
constexpr unsigned kFloat8Capability = 89;

Value convertFloat(LoweringBuilder &b, Value value, Type type) {
  Type from = value.getType();
  if (from == type) {
    return value;
  }
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = type.getIntOrFloatBitWidth();
  if (fromWidth == toWidth) {
    return convertFloat(b, convertFloat(b, value, b.getF32Type()), type);
  }
  if (from.isBF16() && type.isF32()) {
    // The upper half of an f32: every target has the shift, not every one the conversion.
    Value bits = b.resizeUnsigned(b.bitcast(value, b.getI16Type()), b.getI32Type());
    return b.bitcast(b.shiftLeft(bits, 16), type);
  }
  if (fromWidth < toWidth) {
    Value wide = from.isBF16() ? convertFloat(b, value, b.getF32Type()) : value;
    return wide.getType() == type ? wide : Value(LLVM::FPExtOp::create(b, b.loc(), type, wide));
  }
  return LLVM::FPTruncOp::create(b, b.loc(), type, value);
}

namespace {
/// What distinguishes the two fp8 formats.
struct Format {
  const char *name;
  unsigned mantissaBits;
  int bias;
  double largest;
  uint32_t nan;
};
} // namespace

static Format formatOf(Type type) {
  return isa<Float8E5M2Type>(type) ? Format{"e5m2", 2, 15, 57344, 0x7f} : Format{"e4m3", 3, 7, 448, 0x7f};
}

/// Two numbers of `quad`, four fp8 in a word, as a word of two f16: the lower two or the upper two.
static Value decodePairInSoftware(LoweringBuilder &b, Value quad, bool isUpper, const Format &format) {
  auto bytes = VectorType::get(4, b.getI8Type()), halves = VectorType::get(2, b.getF16Type());
  // Each byte becomes the upper half of an f16; lane 4 is the first of the zeros.
  int32_t first = isUpper ? 2 : 0;
  Value spread = LLVM::ShuffleVectorOp::create(b, b.loc(), b.bitcast(quad, bytes), b.zero(bytes),
                                               ArrayRef<int32_t>{4, first, 4, first + 1});
  Value bits = b.bitcast(spread, b.getI32Type());
  if (format.mantissaBits == 2) {
    return bits;
  }
  // Exponent and mantissa in the places of f16's, then scaled by the difference of the biases, which is exact for
  // subnormals too.
  Value magnitude = b.bitAnd(b.shiftRight(bits, 1), 0x3f803f80);
  Value scale = b.constant(halves, DenseElementsAttr::get(halves, b.getF16FloatAttr(256).getValue()));
  Value scaled = LLVM::FMulOp::create(b, b.loc(), b.bitcast(magnitude, halves), scale);
  // The one NaN is all ones: the only magnitude that the addition carries out of. One more bit of the exponent makes
  // it f16's.
  Value nan = b.shiftRight(b.bitAnd(b.add(magnitude, 0x00800080), 0x40004000), 1);
  Value sign = b.bitAnd(bits, b.i32(int32_t(0x80008000)));
  return b.bitOr(b.bitOr(b.bitcast(scaled, b.getI32Type()), nan), sign);
}

static SmallVector<Value> decodeInSoftware(LoweringBuilder &b, ArrayRef<Value> values, const Format &format) {
  SmallVector<Value> words;
  for (Value quad : packWords(b, values, 32)) {
    words.push_back(decodePairInSoftware(b, quad, /*isUpper=*/false, format));
    words.push_back(decodePairInSoftware(b, quad, /*isUpper=*/true, format));
  }
  return unpackWords(b, words, b.getF16Type(), values.size());
}

static Value encodeInSoftware(LoweringBuilder &b, Value value, const Format &format) {
  constexpr unsigned kMantissaBits = 23, kBias = 127;
  Value bits = b.bitcast(value, b.getI32Type());
  Value magnitude = b.bitAnd(bits, 0x7fffffff);
  Value number = b.bitcast(magnitude, b.getF32Type());
  Value isNan = LLVM::FCmpOp::create(b, b.loc(), LLVM::FCmpPredicate::uno, number, number);
  number = LLVM::MinNumOp::create(b, b.loc(), number, b.f32(format.largest));

  // Normal: round the mantissa to nearest even in integers; a carry goes into the exponent, as it should.
  unsigned dropped = kMantissaBits - format.mantissaBits;
  Value clamped = b.bitcast(number, b.getI32Type());
  Value odd = b.bitAnd(b.shiftRight(clamped, dropped), 1);
  Value rounded = b.add(b.add(clamped, odd), int64_t((1u << (dropped - 1)) - 1));
  Value normal = b.shiftRight(b.add(rounded, -int64_t((kBias - format.bias) << kMantissaBits)), dropped);

  // Subnormal: adding the number whose last bit weighs as much as the format's smallest step rounds to that step.
  int smallestStep = 1 - format.bias - int(format.mantissaBits);
  double magic = std::ldexp(1.0, smallestStep + int(kMantissaBits));
  Value shifted = LLVM::FAddOp::create(b, b.loc(), number, b.f32(magic));
  int64_t magicBits = int64_t(smallestStep + int(kMantissaBits) + int(kBias)) << kMantissaBits;
  Value subnormal = b.add(b.bitcast(shifted, b.getI32Type()), -magicBits);

  Value isSmall =
      LLVM::FCmpOp::create(b, b.loc(), LLVM::FCmpPredicate::olt, number, b.f32(std::ldexp(1.0, 1 - format.bias)));
  Value encoded = b.select(isSmall, subnormal, normal);
  encoded = b.select(isNan, b.i32(format.nan), encoded);
  Value sign = b.bitAnd(b.shiftRight(bits, 24), 0x80);
  return b.resizeUnsigned(b.bitOr(encoded, sign), b.getI8Type());
}

SmallVector<Value> decodeFloat8(LoweringBuilder &b, ArrayRef<Value> values, Type type, unsigned capability) {
  Format format = formatOf(type);
  if (capability < kFloat8Capability) {
    return decodeInSoftware(b, values, format);
  }
  SmallVector<Value> decoded;
  std::string form = std::string("cvt.rn.f16x2.") + format.name + "x2";
  for (size_t first = 0; first < values.size(); first += 2) {
    ArrayRef<Value> pair = values.slice(first, std::min<size_t>(2, values.size() - first));
    Value word = b.instValue(form, packWords(b, pair, 16));
    llvm::append_range(decoded, unpackWords(b, word, b.getF16Type(), pair.size()));
  }
  return decoded;
}

SmallVector<Value> encodeFloat8(LoweringBuilder &b, ArrayRef<Value> values, Type type, unsigned capability) {
  Format format = formatOf(type);
  SmallVector<Value> encoded;
  if (capability < kFloat8Capability) {
    for (Value value : values) {
      encoded.push_back(encodeInSoftware(b, value, format));
    }
    return encoded;
  }
  std::string form = std::string("cvt.rn.satfinite.") + format.name + "x2.f32";
  for (size_t first = 0; first < values.size(); first += 2) {
    bool alone = first + 1 == values.size();
    Value word = b.instValue(form, {values[first], alone ? b.f32(0) : values[first + 1]});
    llvm::append_range(encoded, unpackWords(b, word, b.getI8Type(), alone ? 1 : 2));
  }
  return encoded;
}

static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// Any conversion between floating-point tensors or scalars.
static LogicalResult convert(Operation *op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Value source = op->getOperand(0), result = op->getResult(0);
  Type from = getElementTypeOrSelf(source.getType()), to = getElementTypeOrSelf(result.getType());
  SmallVector<Value> values(f.registers(source));
  if (isFloat8(from)) {
    values = decodeFloat8(b, values, from, f.target().capability);
  } else if (from.getIntOrFloatBitWidth() <= 8) {
    return op->emitOpError("cannot convert from ") << from;
  }
  if (isFloat8(to)) {
    for (Value &value : values) {
      value = convertFloat(b, value, b.getF32Type());
    }
    values = encodeFloat8(b, values, to, f.target().capability);
  } else if (to.getIntOrFloatBitWidth() <= 8) {
    return op->emitOpError("cannot convert to ") << to;
  } else {
    for (Value &value : values) {
      value = convertFloat(b, value, to);
    }
  }
  f.set(result, values);
  return success();
}

static LogicalResult lowerExtend(arith::ExtFOp op, FunctionLowering &f) { return convert(op, f); }
static LogicalResult lowerTruncate(arith::TruncFOp op, FunctionLowering &f) { return convert(op, f); }

/// f32 to f16 or bf16 toward zero: rounds to nearest, then steps back where that went away from zero.
static LogicalResult convertTowardZero(tt::FpToFpOp op, FunctionLowering &f) {
  Type to = getElementTypeOrSelf(op.getType());
  if (!getElementTypeOrSelf(op.getSrc().getType()).isF32() || to.getIntOrFloatBitWidth() != 16) {
    return op.emitOpError("rounds toward zero from f32 to f16 and bf16 only");
  }
  lowerElementwise(op, f, [&](LoweringBuilder &b, Type type, ArrayRef<Value> operands) {
    Value nearest = convertFloat(b, operands[0], type);
    Value back = LLVM::FAbsOp::create(b, b.loc(), convertFloat(b, nearest, b.getF32Type()));
    Value magnitude = LLVM::FAbsOp::create(b, b.loc(), operands[0]);
    Value away = LLVM::FCmpOp::create(b, b.loc(), LLVM::FCmpPredicate::ogt, back, magnitude);
    Value bits = b.bitcast(nearest, b.getI16Type());
    return b.bitcast(b.select(away, b.add(bits, -1), bits), type);
  });
  return success();
}

static LogicalResult lowerFpToFp(tt::FpToFpOp op, FunctionLowering &f) {
  if (op.getRounding() && *op.getRounding() == tt::RoundingMode::RTZ) {
    return convertTowardZero(op, f);
  }
  return convert(op, f);
}

/// A number of format e2m1 in the low four bits of an i8, as f32.
static Value decodeFloat4(LoweringBuilder &b, Value code) {
  // Exponent and mantissa in the places of f32's, then scaled by the difference of the biases, exactly.
  constexpr unsigned kMantissaBits = 23, kFloat4MantissaBits = 1, kBiasDifference = 126;
  Value bits = b.resizeUnsigned(code, b.getI32Type());
  Value magnitude = b.shiftLeft(b.bitAnd(bits, 7), kMantissaBits - kFloat4MantissaBits);
  Value sign = b.shiftLeft(b.bitAnd(bits, 8), 28);
  Value number = b.bitcast(b.bitOr(magnitude, sign), b.getF32Type());
  return LLVM::FMulOp::create(b, b.loc(), number, b.f32(std::ldexp(1.0, kBiasDifference)));
}

/// Element 2i along the axis is the low half of byte i, element 2i + 1 the high half.
static LogicalResult lowerFloat4(ttg::Fp4ToFpOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  auto source = cast<RankedTensorType>(op.getSrc().getType()), target = cast<RankedTensorType>(op.getType());
  const TensorLayout &from = f.layout(source), &to = f.layout(target);
  unsigned axis = op.getAxis();
  std::map<TensorLayout::Coordinate, unsigned> holder;
  for (unsigned reg = 0; reg < from.numRegisters(); ++reg) {
    holder.try_emplace(from.registerCoordinate(reg), reg);
  }
  ArrayRef<Value> packed = f.registers(op.getSrc());
  SmallVector<Value> decoded;
  for (unsigned reg = 0; reg < to.numRegisters(); ++reg) {
    TensorLayout::Coordinate coordinate = to.registerCoordinate(reg);
    bool high = coordinate[axis] & 1;
    coordinate[axis] >>= 1;
    auto it = holder.find(coordinate);
    if (it == holder.end()) {
      return op.emitOpError("moves elements between threads: convert the layout of the operand first");
    }
    Value code = high ? b.shiftRight(packed[it->second], 4) : packed[it->second];
    decoded.push_back(convertFloat(b, decodeFloat4(b, code), target.getElementType()));
  }
  f.set(op, decoded);
  return success();
}

void populateFloatConversionLowerings(LoweringTable &table) {
  table.add(lowerExtend);
  table.add(lowerTruncate);
  table.add(lowerFpToFp);
  table.add(lowerFloat4);
}

} // namespace jitk::nvidia
