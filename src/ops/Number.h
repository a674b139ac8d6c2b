// The values of Number attributes: positive, in fp32, as kernels compute with them.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace jitk {

/// Reads a decimal number ("0.125", "1.25e-1") and rounds it to fp32. None for other text, and for what is not above 0
/// or has fewer digits than an fp32 number: subnormal numbers, which kernels may take for 0.
std::optional<float> parseNumber(std::string_view text);

/// The shortest decimal text that `parseNumber` reads back as `value`.
std::string numberText(float value);

} // namespace jitk
