#include "src/emulator/Formats.h"

#include <array>
#include <cstring>

namespace jitk::emulator {

namespace {

using ir::ptx::Element;

/// Rounds a finite magnitude to a format of `mantissaBits` and least exponent `minExponent` (of its normal numbers),
/// ties to even; the result is the number of units in the last place of the subnormal range, exponents stacked above,
/// which is how the bits of an IEEE-like format count.
uint32_t roundMagnitude(float magnitude, int mantissaBits, int minExponent) {
  if (magnitude == 0) {
    return 0;
  }
  const int exponent = std::max(std::ilogb(magnitude), minExponent);
  // Scaling by a power of two is exact in double, and nearbyint rounds ties to even.
  const double units = std::nearbyint(std::ldexp(double(magnitude), mantissaBits - exponent));
  // A normal number's implicit one counts as the exponent's step; so does a carry out of the mantissa.
  return uint32_t(units) + (uint32_t(exponent - minExponent) << mantissaBits);
}

float decodeMini(uint8_t bits, int mantissaBits, int bias) {
  const int exponent = (bits & 0x7f) >> mantissaBits;
  const int mantissa = bits & ((1 << mantissaBits) - 1);
  const float magnitude = exponent == 0
                              ? std::ldexp(float(mantissa), 1 - bias - mantissaBits)
                              : std::ldexp(float(mantissa + (1 << mantissaBits)), exponent - bias - mantissaBits);
  return bits & 0x80 ? -magnitude : magnitude;
}

std::array<float, 256> makeE4m3Table() {
  std::array<float, 256> table;
  for (unsigned bits = 0; bits < 256; ++bits) {
    table[bits] = (bits & 0x7f) == 0x7f ? std::bit_cast<float>(0x7fc00000u) : decodeMini(uint8_t(bits), 3, 7);
  }
  return table;
}

std::array<float, 256> makeE5m2Table() {
  std::array<float, 256> table;
  for (unsigned bits = 0; bits < 256; ++bits) {
    // The upper half of a half-precision number.
    table[bits] = halfToFloat(uint16_t(bits << 8));
  }
  return table;
}

const std::array<float, 256> &e4m3Table() {
  static const std::array<float, 256> table = makeE4m3Table();
  return table;
}

const std::array<float, 256> &e5m2Table() {
  static const std::array<float, 256> table = makeE5m2Table();
  return table;
}

uint8_t saturate(float value, int mantissaBits, int minExponent, uint8_t largest) {
  const auto sign = uint8_t(std::signbit(value) ? 0x80 : 0);
  if (std::isnan(value)) {
    return 0x7f;
  }
  if (std::isinf(value)) {
    return sign | largest;
  }
  const uint32_t units = roundMagnitude(std::fabs(value), mantissaBits, minExponent);
  return sign | uint8_t(std::min<uint32_t>(units, largest));
}

} // namespace

float e4m3ToFloat(uint8_t bits) { return e4m3Table()[bits]; }

float e5m2ToFloat(uint8_t bits) { return e5m2Table()[bits]; }

uint16_t floatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = uint16_t(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000u) {
    return 0x7fff; // the device's canonical NaN
  }
  if (magnitude >= 0x47800000u) {
    return sign | 0x7c00;
  }
  if (magnitude < 0x38800000u) {
    return sign | uint16_t(roundMagnitude(std::fabs(value), 10, -14));
  }
  const uint32_t rebased = magnitude - 0x38000000u;
  return sign | uint16_t((rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}

uint16_t floatToBfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000u) {
    return 0x7fff;
  }
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint8_t floatToE4m3(float value) { return saturate(value, 3, -6, 0x7e); }

uint8_t floatToE5m2(float value) { return saturate(value, 2, -14, 0x7b); }

uint32_t floatToTf32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) >= 0x7f800000u) {
    return bits;
  }
  return (bits + 0x1000) & 0xffffe000u;
}

float elementToFloat(Element element, uint32_t bits) {
  switch (element) {
  case Element::F16:
    return halfToFloat(uint16_t(bits));
  case Element::BF16:
    return bfloatToFloat(uint16_t(bits));
  case Element::TF32:
    return tf32ToFloat(bits);
  case Element::F32:
    return std::bit_cast<float>(bits);
  case Element::E4M3:
    return e4m3ToFloat(uint8_t(bits));
  case Element::E5M2:
    return e5m2ToFloat(uint8_t(bits));
  case Element::S8:
    return float(int8_t(bits));
  case Element::U8:
    return float(uint8_t(bits));
  case Element::S32:
    return float(int32_t(bits));
  }
  return 0;
}

void elementsToFloat(Element element, const void *source, float *target, unsigned count) {
  const auto *bytes = static_cast<const uint8_t *>(source);
  switch (elementBits(element)) {
  case 8:
    for (unsigned i = 0; i < count; ++i) {
      target[i] = elementToFloat(element, bytes[i]);
    }
    return;
  case 16:
    for (unsigned i = 0; i < count; ++i) {
      uint16_t bits;
      std::memcpy(&bits, bytes + 2 * i, 2);
      target[i] = element == Element::F16 ? halfToFloat(bits) : bfloatToFloat(bits);
    }
    return;
  default:
    for (unsigned i = 0; i < count; ++i) {
      uint32_t bits;
      std::memcpy(&bits, bytes + 4 * i, 4);
      target[i] = elementToFloat(element, bits);
    }
  }
}

} // namespace jitk::emulator
