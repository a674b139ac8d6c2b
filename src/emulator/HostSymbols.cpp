#include "src/emulator/HostSymbols.h"

#include "src/emulator/Formats.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace jitk::emulator {

namespace {

/// The neighbour of `value` whose last bit is 1, or `value` itself: 13 bits more than any 16-bit float has, of which
/// none loses the side that `value` lies on, so that rounding once more is rounding once.
float roundToOdd(double value) {
  const float nearest = float(value);
  const auto bits = std::bit_cast<uint32_t>(nearest);
  if (std::isnan(value) || double(nearest) == value || (bits & 1)) {
    return nearest;
  }
  return std::bit_cast<float>(std::fabs(double(nearest)) < std::fabs(value) ? bits + 1 : bits - 1);
}

// These have the names and conventions of the compiler's support library; 16-bit floats travel in vector registers.
_Float16 truncateToHalf(float value) { return std::bit_cast<_Float16>(floatToHalf(value)); }
_Float16 truncateDoubleToHalf(double value) { return std::bit_cast<_Float16>(floatToHalf(roundToOdd(value))); }
float extendHalf(_Float16 value) { return halfToFloat(std::bit_cast<uint16_t>(value)); }
_Float16 truncateToBfloat(float value) { return std::bit_cast<_Float16>(floatToBfloat(value)); }
_Float16 truncateDoubleToBfloat(double value) { return std::bit_cast<_Float16>(floatToBfloat(roundToOdd(value))); }

template <typename Function> HostSymbol symbol(const char *name, Function *function) {
  return {name, reinterpret_cast<void *>(function)};
}

template <typename Float> using Unary = Float (*)(Float);
template <typename Float> using Binary = Float (*)(Float, Float);

HostSymbol unary(const char *name, Unary<float> function) { return symbol(name, function); }
HostSymbol unary(const char *name, Unary<double> function) { return symbol(name, function); }
HostSymbol binary(const char *name, Binary<float> function) { return symbol(name, function); }
HostSymbol binary(const char *name, Binary<double> function) { return symbol(name, function); }

} // namespace

std::span<const HostSymbol> hostSymbols() {
  static const HostSymbol symbols[] = {
      symbol("memcpy", &::memcpy),
      symbol("memmove", &::memmove),
      symbol("memset", &::memset),
      symbol("__truncsfhf2", &truncateToHalf),
      symbol("__truncdfhf2", &truncateDoubleToHalf),
      symbol("__extendhfsf2", &extendHalf),
      symbol("__truncsfbf2", &truncateToBfloat),
      symbol("__truncdfbf2", &truncateDoubleToBfloat),
      unary("exp2f", ::exp2f),
      unary("expf", ::expf),
      unary("expm1f", ::expm1f),
      unary("log2f", ::log2f),
      unary("logf", ::logf),
      unary("log10f", ::log10f),
      unary("log1pf", ::log1pf),
      unary("sinf", ::sinf),
      unary("cosf", ::cosf),
      unary("tanf", ::tanf),
      unary("tanhf", ::tanhf),
      unary("sinhf", ::sinhf),
      unary("coshf", ::coshf),
      unary("asinf", ::asinf),
      unary("acosf", ::acosf),
      unary("atanf", ::atanf),
      unary("erff", ::erff),
      unary("erfcf", ::erfcf),
      unary("sqrtf", ::sqrtf),
      unary("cbrtf", ::cbrtf),
      unary("floorf", ::floorf),
      unary("ceilf", ::ceilf),
      unary("truncf", ::truncf),
      unary("roundf", ::roundf),
      unary("roundevenf", ::roundevenf),
      unary("rintf", ::rintf),
      unary("nearbyintf", ::nearbyintf),
      binary("powf", ::powf),
      binary("fmodf", ::fmodf),
      binary("fminf", ::fminf),
      binary("fmaxf", ::fmaxf),
      binary("atan2f", ::atan2f),
      symbol("fmaf", static_cast<float (*)(float, float, float)>(::fmaf)),
      symbol("ldexpf", static_cast<float (*)(float, int)>(::ldexpf)),
      unary("exp2", ::exp2),
      unary("exp", ::exp),
      unary("expm1", ::expm1),
      unary("log2", ::log2),
      unary("log", ::log),
      unary("log10", ::log10),
      unary("log1p", ::log1p),
      unary("sin", ::sin),
      unary("cos", ::cos),
      unary("tan", ::tan),
      unary("tanh", ::tanh),
      unary("erf", ::erf),
      unary("erfc", ::erfc),
      unary("sqrt", ::sqrt),
      unary("floor", ::floor),
      unary("ceil", ::ceil),
      unary("trunc", ::trunc),
      unary("round", ::round),
      unary("roundeven", ::roundeven),
      unary("rint", ::rint),
      unary("nearbyint", ::nearbyint),
      binary("pow", ::pow),
      binary("fmod", ::fmod),
      binary("fmin", ::fmin),
      binary("fmax", ::fmax),
      binary("atan2", ::atan2),
      symbol("fma", static_cast<double (*)(double, double, double)>(::fma)),
      symbol("ldexp", static_cast<double (*)(double, int)>(::ldexp)),
  };
  return symbols;
}

} // namespace jitk::emulator
