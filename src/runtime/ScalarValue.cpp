#include "src/runtime/ScalarValue.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace jitk {

/// A binary format of IEEE 754's kind.
struct FloatFormat {
  int exponentBits, mantissaBits;
};

static constexpr FloatFormat kSingle = {8, 23}, kHalf = {5, 10}, kBfloat = {8, 7};

/// None for a finite value that becomes infinite.
static std::optional<uint64_t> encodeFloat(double value, FloatFormat format) {
  const uint64_t sign = std::signbit(value) ? uint64_t(1) << (format.exponentBits + format.mantissaBits) : 0;
  const uint64_t infinity = ((uint64_t(1) << format.exponentBits) - 1) << format.mantissaBits;
  if (std::isnan(value)) {
    return sign | infinity | uint64_t(1) << (format.mantissaBits - 1);
  }
  if (std::isinf(value) || value == 0) {
    return sign | (value == 0 ? 0 : infinity);
  }
  const int least = 2 - (1 << (format.exponentBits - 1)); // exponent of the smallest normal number
  int exponent = 0;
  std::frexp(value, &exponent); // of a fraction between 1/2 and 1
  exponent = std::max(exponent - 1, least);
  // The leading bit of a normal number, or a carry of the rounding, adds one to the exponent's field.
  auto units = static_cast<uint64_t>(std::nearbyint(std::ldexp(std::fabs(value), format.mantissaBits - exponent)));
  uint64_t bits = (static_cast<uint64_t>(exponent - least) << format.mantissaBits) + units;
  return bits < infinity ? std::optional(sign | bits) : std::nullopt;
}

static std::optional<uint64_t> encodeFloat(double value, ScalarType type) {
  switch (type) {
  case ScalarType::Fp32:
    return encodeFloat(value, kSingle);
  case ScalarType::Fp16:
    return encodeFloat(value, kHalf);
  case ScalarType::Bf16:
    return encodeFloat(value, kBfloat);
  default:
    return std::bit_cast<uint64_t>(value);
  }
}

static bool isInRange(const jitk_scalar_t &value, ScalarType type) {
  bool isUnsigned = value.kind == JITK_SCALAR_UINT;
  uint64_t bits = isUnsigned ? value.uint_value : static_cast<uint64_t>(value.int_value);
  bool isNegative = !isUnsigned && value.int_value < 0;
  switch (type) {
  case ScalarType::Int32:
    return isNegative ? value.int_value >= INT32_MIN : bits <= INT32_MAX;
  case ScalarType::Int64:
    return isNegative || bits <= INT64_MAX;
  case ScalarType::UInt32:
    return !isNegative && bits <= UINT32_MAX;
  default:
    return !isNegative;
  }
}

static bool isInteger(const jitk_scalar_t &value) {
  return value.kind == JITK_SCALAR_INT || value.kind == JITK_SCALAR_UINT;
}

/// The value as a double, which must hold it exactly.
static std::optional<double> floatOf(const jitk_scalar_t &value) {
  constexpr int64_t kMost = int64_t(1) << std::numeric_limits<double>::digits;
  switch (value.kind) {
  case JITK_SCALAR_FLOAT:
    return value.float_value;
  case JITK_SCALAR_INT:
    return value.int_value >= -kMost && value.int_value <= kMost ? std::optional(double(value.int_value))
                                                                 : std::nullopt;
  case JITK_SCALAR_UINT:
    return value.uint_value <= uint64_t(kMost) ? std::optional(double(value.uint_value)) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<uint64_t> encodeScalar(const jitk_scalar_t &value, ScalarType type) {
  if (isFloat(type)) {
    std::optional<double> number = floatOf(value);
    return number ? encodeFloat(*number, type) : std::nullopt;
  }
  if (!isInteger(value) || !isInRange(value, type)) {
    return std::nullopt;
  }
  return value.kind == JITK_SCALAR_UINT ? value.uint_value : static_cast<uint64_t>(value.int_value);
}

static std::string textOf(const jitk_scalar_t &value) {
  switch (value.kind) {
  case JITK_SCALAR_FLOAT: {
    char text[32];
    return {text, std::to_chars(text, std::end(text), value.float_value).ptr};
  }
  case JITK_SCALAR_INT:
    return std::to_string(value.int_value);
  case JITK_SCALAR_UINT:
    return std::to_string(value.uint_value);
  }
  return "kind " + std::to_string(static_cast<int>(value.kind));
}

[[gnu::cold, gnu::noinline]] Status unfitScalar(const jitk_scalar_t &value, const ScalarForm &form) {
  bool isFloatValue = value.kind == JITK_SCALAR_FLOAT;
  std::string type(scalarTypeName(form.type));
  if (isInteger(value) || (isFloatValue && isFloat(form.type))) {
    return invalidArgument("scalar " + form.name + " must be in the range of " + type + ": got " + textOf(value));
  }
  return invalidArgument("scalar " + form.name + " must be " + (isFloat(form.type) ? "a number" : "an integer") +
                         ", since it is of type " + type + ": got " + (isFloatValue ? "the float " : "") +
                         textOf(value));
}

} // namespace jitk
