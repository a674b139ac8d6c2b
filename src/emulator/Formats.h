// The number formats of GPU instructions, bit by bit: exact widening to float, rounding back.

#pragma once

#include "src/ir/ptx/Instructions.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace jitk::emulator {

inline float halfToFloat(uint16_t bits) {
  // The exponent is rebased by a multiplication, which normalises subnormals on the way.
  const uint32_t magnitude = uint32_t(bits & 0x7fff) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t finite = std::bit_cast<uint32_t>(scaled);
  const uint32_t result = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : finite;
  return std::bit_cast<float>(result | uint32_t(bits & 0x8000) << 16);
}

inline float bfloatToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// The tensor cores read the upper 19 bits of a register.
inline float tf32ToFloat(uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000u); }

float e4m3ToFloat(uint8_t bits);
float e5m2ToFloat(uint8_t bits);

/// Round to nearest, ties to even.
uint16_t floatToHalf(float value);
uint16_t floatToBfloat(float value);
/// Round to nearest, ties to even; finite values beyond the largest one become the largest one.
uint8_t floatToE4m3(float value);
uint8_t floatToE5m2(float value);
/// Round to nearest, ties away from zero.
uint32_t floatToTf32(float value);

inline float flushSubnormal(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

/// Bits of one element.
constexpr unsigned elementBits(ir::ptx::Element element) {
  switch (element) {
  case ir::ptx::Element::F16:
  case ir::ptx::Element::BF16:
    return 16;
  case ir::ptx::Element::TF32:
  case ir::ptx::Element::F32:
  case ir::ptx::Element::S32:
    return 32;
  case ir::ptx::Element::E4M3:
  case ir::ptx::Element::E5M2:
  case ir::ptx::Element::S8:
  case ir::ptx::Element::U8:
    return 8;
  }
  return 32;
}

/// The value of one element, given in the low bits; integers of up to 8 bits included.
float elementToFloat(ir::ptx::Element element, uint32_t bits);
/// The same over `count` elements packed in memory.
void elementsToFloat(ir::ptx::Element element, const void *source, float *target, unsigned count);

} // namespace jitk::emulator
