#include "src/emulator/Formats.h"
#include "src/emulator/Handlers.h"
#include "src/emulator/Memory.h"

#include <cmath>
#include <utility>

namespace jitk::emulator {

using ir::ptx::Conversion;
using ir::ptx::MathFunction;

namespace {

uint32_t pair(uint16_t low, uint16_t high) { return low | uint32_t(high) << 16; }
uint32_t bytePair(uint8_t low, uint8_t high) { return low | uint32_t(high) << 8; }

uint32_t convert(const Call &call) {
  const uint32_t bits = call.operand32(0);
  const auto low = uint16_t(bits), high = uint16_t(bits >> 16);
  switch (Conversion(call.parameter(0))) {
  case Conversion::E4M3x2ToF16x2:
    return pair(floatToHalf(e4m3ToFloat(uint8_t(bits))), floatToHalf(e4m3ToFloat(uint8_t(bits >> 8))));
  case Conversion::E5M2x2ToF16x2:
    return pair(floatToHalf(e5m2ToFloat(uint8_t(bits))), floatToHalf(e5m2ToFloat(uint8_t(bits >> 8))));
  case Conversion::F16x2ToE4M3x2:
    return bytePair(floatToE4m3(halfToFloat(low)), floatToE4m3(halfToFloat(high)));
  case Conversion::F16x2ToE5M2x2:
    return bytePair(floatToE5m2(halfToFloat(low)), floatToE5m2(halfToFloat(high)));
  case Conversion::F32PairToE4M3x2:
    return bytePair(floatToE4m3(call.operandFloat(0)), floatToE4m3(call.operandFloat(1)));
  case Conversion::F32PairToE5M2x2:
    return bytePair(floatToE5m2(call.operandFloat(0)), floatToE5m2(call.operandFloat(1)));
  case Conversion::F32PairToF16x2:
    return pair(floatToHalf(call.operandFloat(0)), floatToHalf(call.operandFloat(1)));
  case Conversion::F32PairToBF16x2:
    return pair(floatToBfloat(call.operandFloat(0)), floatToBfloat(call.operandFloat(1)));
  case Conversion::F32ToTF32:
    return floatToTf32(call.operandFloat(0));
  }
  return 0;
}

/// The function on exact floats, and whether subnormals count as zero.
std::pair<float, bool> evaluate(MathFunction function, float x, float y) {
  switch (function) {
  case MathFunction::Ex2:
    return {std::exp2(x), false};
  case MathFunction::Ex2Ftz:
    return {std::exp2(x), true};
  case MathFunction::Lg2:
    return {std::log2(x), false};
  case MathFunction::Lg2Ftz:
    return {std::log2(x), true};
  case MathFunction::Rcp:
    return {1.0f / x, false};
  case MathFunction::RcpFtz:
    return {1.0f / x, true};
  case MathFunction::Rsqrt:
    return {float(1.0 / std::sqrt(double(x))), false};
  case MathFunction::RsqrtFtz:
    return {float(1.0 / std::sqrt(double(x))), true};
  case MathFunction::Sqrt:
    return {std::sqrt(x), false};
  case MathFunction::SqrtFtz:
    return {std::sqrt(x), true};
  case MathFunction::Tanh:
    return {std::tanh(x), false};
  case MathFunction::Sin:
    return {std::sin(x), false};
  case MathFunction::Cos:
    return {std::cos(x), false};
  case MathFunction::DivFull:
    return {x / y, false};
  case MathFunction::DivFullFtz:
    return {x / y, true};
  case MathFunction::Ex2F16x2:
  case MathFunction::TanhF16x2:
    return {function == MathFunction::Ex2F16x2 ? std::exp2(x) : std::tanh(x), false};
  case MathFunction::Ex2BF16x2:
    return {std::exp2(x), true};
  case MathFunction::TanhBF16x2:
    return {std::tanh(x), false};
  }
  return {x, false};
}

bool flushes(MathFunction function) { return evaluate(function, 1.0f, 1.0f).second; }

float evaluateFlushed(MathFunction function, float x, float y) {
  if (!flushes(function)) {
    return evaluate(function, x, y).first;
  }
  return flushSubnormal(evaluate(function, flushSubnormal(x), flushSubnormal(y)).first);
}

} // namespace

void executeConvert(Thread &thread) {
  for (size_t i = 0; i < thread.call.instruction->operands.size(); ++i) {
    checkPoison(thread, thread.call.operands[i]);
  }
  thread.call.results[0] = convert(thread.call);
}

void executeMath(Thread &thread) {
  const Call &call = thread.call;
  checkPoison(thread, call.operands[0]);
  const auto function = MathFunction(call.parameter(0));
  const uint32_t bits = call.operand32(0);
  switch (function) {
  case MathFunction::Ex2F16x2:
  case MathFunction::TanhF16x2:
    call.results[0] = pair(floatToHalf(evaluateFlushed(function, halfToFloat(uint16_t(bits)), 0)),
                           floatToHalf(evaluateFlushed(function, halfToFloat(uint16_t(bits >> 16)), 0)));
    return;
  case MathFunction::Ex2BF16x2:
  case MathFunction::TanhBF16x2:
    call.results[0] = pair(floatToBfloat(evaluateFlushed(function, bfloatToFloat(uint16_t(bits)), 0)),
                           floatToBfloat(evaluateFlushed(function, bfloatToFloat(uint16_t(bits >> 16)), 0)));
    return;
  default: {
    const bool binary = call.instruction->operands.size() == 2;
    call.setFloat(0, evaluateFlushed(function, call.operandFloat(0), binary ? call.operandFloat(1) : 1.0f));
  }
  }
}

void executePermute(Thread &thread) {
  const Call &call = thread.call;
  const uint64_t bytes = call.operand32(0) | uint64_t(call.operand32(1)) << 32;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t selector = call.operand32(2) >> (4 * i) & 0xf;
    auto byte = uint8_t(bytes >> (8 * (selector & 7)));
    if (selector & 8) {
      byte = byte & 0x80 ? 0xff : 0; // the sign, replicated
    }
    result |= uint32_t(byte) << (8 * i);
  }
  call.results[0] = result;
}

void executeCachePolicy(Thread &thread) { thread.call.results[0] = 0; }

} // namespace jitk::emulator
