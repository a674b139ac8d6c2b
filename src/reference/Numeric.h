// Element types of tensors, to and from float.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace jitk::reference {

/// Rounds to the nearest even, as hardware does. fp16 and bf16 overflow to infinity; e4m3 (no infinity) saturates at
/// 448; NaN stays NaN.
uint16_t encodeHalf(float value);
uint16_t encodeBfloat(float value);
uint8_t encodeE4m3(float value);
float decodeHalf(uint16_t bits);
float decodeBfloat(uint16_t bits);
float decodeE4m3(uint8_t bits);

/// Whole tensors of a dtype word of the schemas ("fp16", "bf16", "fp32", "e4m3"; integers are read only, and exact up
/// to 2^24).
std::vector<uint8_t> encode(std::string_view dtype, const std::vector<float> &values);
std::vector<float> decode(std::string_view dtype, const std::vector<uint8_t> &bytes);

/// Half the distance between 1 and the next number: the relative error of one rounding.
double unitRoundoff(std::string_view dtype);

} // namespace jitk::reference
