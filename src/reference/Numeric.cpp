#include "src/reference/Numeric.h"

#include "src/reference/Parallel.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace jitk::reference {

/// Shifts the lowest `amount` bits out, rounding to the nearest even.
static uint32_t roundOff(uint32_t bits, unsigned amount) {
  if (amount > 31) {
    return 0;
  }
  uint32_t half = 1u << (amount - 1), mask = (1u << amount) - 1;
  uint32_t kept = bits >> amount, rest = bits & mask;
  return kept + (rest > half || (rest == half && (kept & 1)));
}

/// Encodes a finite magnitude into `exponentBits` and `mantissaBits`, with gradual underflow. A result too large shows
/// as an exponent field beyond the format's.
static uint32_t encodeMagnitude(float value, unsigned mantissaBits, int bias) {
  uint32_t bits = std::bit_cast<uint32_t>(value) & 0x7FFFFFFF;
  int exponent = int(bits >> 23) - 127;
  uint32_t mantissa = (bits & 0x7FFFFF) | (bits >> 23 ? 0x800000 : 0);
  unsigned drop = 23 - mantissaBits;
  int field = exponent + bias;
  if (field <= 0) {
    return roundOff(mantissa, drop + unsigned(1 - field));
  }
  return (uint32_t(field - 1) << mantissaBits) + roundOff(mantissa, drop);
}

uint16_t encodeHalf(float value) {
  uint16_t sign = uint16_t(std::bit_cast<uint32_t>(value) >> 16 & 0x8000);
  if (std::isnan(value)) {
    return sign | 0x7E00;
  }
  uint32_t magnitude = std::isinf(value) ? 0x7C00 : encodeMagnitude(value, 10, 15);
  return sign | uint16_t(std::min<uint32_t>(magnitude, 0x7C00));
}

uint16_t encodeBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) {
    return uint16_t(bits >> 16 | 0x40);
  }
  return uint16_t(roundOff(bits, 16));
}

uint8_t encodeE4m3(float value) {
  uint8_t sign = uint8_t(std::bit_cast<uint32_t>(value) >> 24 & 0x80);
  if (std::isnan(value)) {
    return sign | 0x7F;
  }
  uint32_t magnitude = std::isinf(value) ? 0x7E : encodeMagnitude(value, 3, 7);
  return sign | uint8_t(std::min<uint32_t>(magnitude, 0x7E));
}

/// Decodes a magnitude whose exponent field is not all ones.
static float decodeMagnitude(uint32_t bits, unsigned mantissaBits, int bias) {
  // As the bits of a float with an exponent field too small by 127 - bias; the product puts that right, also where the
  // field is 0.
  float scale = std::bit_cast<float>(uint32_t(127 + 127 - bias) << 23);
  return std::bit_cast<float>(bits << (23 - mantissaBits)) * scale;
}

float decodeHalf(uint16_t bits) {
  uint16_t magnitude = bits & 0x7FFF;
  float value = magnitude > 0x7C00    ? std::numeric_limits<float>::quiet_NaN()
                : magnitude == 0x7C00 ? std::numeric_limits<float>::infinity()
                                      : decodeMagnitude(magnitude, 10, 15);
  return bits & 0x8000 ? -value : value;
}

float decodeBfloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

float decodeE4m3(uint8_t bits) {
  uint8_t magnitude = bits & 0x7F;
  float value = magnitude == 0x7F ? std::numeric_limits<float>::quiet_NaN() : decodeMagnitude(magnitude, 3, 7);
  return bits & 0x80 ? -value : value;
}

template <typename Bits, typename Encode>
static std::vector<uint8_t> encodeAll(const std::vector<float> &values, Encode encodeOne) {
  std::vector<uint8_t> bytes(values.size() * sizeof(Bits));
  forEachBlock(values.size(), [&](size_t, size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) {
      Bits bits = encodeOne(values[i]);
      std::memcpy(bytes.data() + i * sizeof(Bits), &bits, sizeof(Bits));
    }
  });
  return bytes;
}

template <typename Bits, typename Decode>
static std::vector<float> decodeAll(const std::vector<uint8_t> &bytes, Decode decodeOne) {
  std::vector<float> values(bytes.size() / sizeof(Bits));
  forEachBlock(values.size(), [&](size_t, size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) {
      Bits bits;
      std::memcpy(&bits, bytes.data() + i * sizeof(Bits), sizeof(Bits));
      values[i] = decodeOne(bits);
    }
  });
  return values;
}

std::vector<uint8_t> encode(std::string_view dtype, const std::vector<float> &values) {
  if (dtype == "fp16") {
    return encodeAll<uint16_t>(values, encodeHalf);
  }
  if (dtype == "bf16") {
    return encodeAll<uint16_t>(values, encodeBfloat);
  }
  if (dtype == "e4m3") {
    return encodeAll<uint8_t>(values, encodeE4m3);
  }
  if (dtype == "fp64") {
    return encodeAll<double>(values, [](float value) { return double(value); });
  }
  return encodeAll<float>(values, [](float value) { return value; });
}

std::vector<float> decode(std::string_view dtype, const std::vector<uint8_t> &bytes) {
  if (dtype == "fp16") {
    return decodeAll<uint16_t>(bytes, decodeHalf);
  }
  if (dtype == "bf16") {
    return decodeAll<uint16_t>(bytes, decodeBfloat);
  }
  if (dtype == "e4m3") {
    return decodeAll<uint8_t>(bytes, decodeE4m3);
  }
  if (dtype == "int32") {
    return decodeAll<int32_t>(bytes, [](int32_t value) { return float(value); });
  }
  if (dtype == "fp64") {
    return decodeAll<double>(bytes, [](double value) { return float(value); });
  }
  return decodeAll<float>(bytes, [](float value) { return value; });
}

double unitRoundoff(std::string_view dtype) {
  if (dtype == "fp16") {
    return 0x1p-11;
  }
  if (dtype == "bf16") {
    return 0x1p-8;
  }
  return dtype == "e4m3" ? 0x1p-4 : 0x1p-24;
}

} // namespace jitk::reference
