// Conversions between floating-point types, by instructions (sm_90) and in software (sm_80): fp8 against its
// definition.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <cmath>
#include <limits>

using namespace jitk::codegen::test;

namespace {

const std::string layout = "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";

struct Format {
  std::string type;
  int mantissaBits, bias;
  double largest;
  bool hasInfinity;
};
const Format formats[] = {{"f8E4M3FN", 3, 7, 448, false}, {"f8E5M2", 2, 15, 57344, true}};

/// The number that the code means.
double decode(const Format &format, uint8_t code) {
  const int mantissa = code & ((1 << format.mantissaBits) - 1), exponent = (code & 0x7f) >> format.mantissaBits;
  const double sign = code & 0x80 ? -1 : 1;
  if (format.hasInfinity ? exponent == 31 : (code & 0x7f) == 0x7f) {
    return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  const double fraction = double(mantissa) / (1 << format.mantissaBits);
  return sign * (exponent ? std::ldexp(1 + fraction, exponent - format.bias) : std::ldexp(fraction, 1 - format.bias));
}

/// The code nearest to the number, the even one of two; the largest finite one beyond.
uint8_t encode(const Format &format, double value) {
  if (std::isnan(value)) {
    return 0x7f;
  }
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const double magnitude = std::min(std::fabs(value), format.largest);
  uint8_t best = 0;
  for (int code = 0; code < 0x80; ++code) {
    const double candidate = decode(format, uint8_t(code));
    if (!(std::fabs(candidate) <= format.largest)) {
      continue;
    }
    const double distance = std::fabs(candidate - magnitude), least = std::fabs(decode(format, best) - magnitude);
    if (distance < least || (distance == least && code % 2 == 0)) {
      best = uint8_t(code);
    }
  }
  return sign | best;
}

CompiledKernel conversion(const std::string &from, const std::string &to, bool rounds, int64_t count, int capability,
                          const std::string &mode = "rtne") {
  const std::string body = loadTensor("x", "in", {count}, from, layout) + "  %y = tt.fp_to_fp %x" +
                           (rounds ? ", rounding = " + mode : "") + " : " + tensorType({count}, from, layout) + " -> " +
                           tensorType({count}, to, layout) + "\n" + storeTensor("y", "out", {count}, to, layout);
  return compileKernel(
      moduleOf("", kernelOf(pointerParameter("in", from) + ", " + pointerParameter("out", to), body), 4, capability));
}

/// Numbers around each code of the format: themselves, midpoints, and their neighbours.
std::vector<float> numbersAround(const Format &format) {
  std::vector<float> numbers;
  for (int code = 0; code < 0x7f; ++code) {
    const double value = decode(format, uint8_t(code)), next = decode(format, uint8_t(code + 1));
    if (!std::isfinite(value)) {
      continue;
    }
    const float middle = std::isfinite(next) ? float((value + next) / 2) : float(value) * 1.25f;
    for (float number : {float(value), middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)}) {
      numbers.push_back(number);
      numbers.push_back(-number);
    }
  }
  for (float number : {1e-30f, 1e30f, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()}) {
    numbers.push_back(number);
  }
  numbers.resize(1024, 1.0f);
  return numbers;
}

} // namespace

TEST_SUITE("codegen/FloatConversion") {
  TEST_CASE("every fp8 code decodes to its number") {
    std::vector<uint8_t> codes(512);
    for (size_t i = 0; i < codes.size(); ++i) {
      codes[i] = uint8_t(i);
    }
    for (const Format &format : formats) {
      for (int capability : {80, 90}) {
        CAPTURE(format.type);
        CAPTURE(capability);
        const std::vector<float> decoded =
            runEverywhere<float>(conversion(format.type, "f32", false, 512, capability), 512, codes);
        for (size_t i = 0; i < codes.size(); ++i) {
          const double expected = decode(format, codes[i]);
          CAPTURE(i);
          CHECK((std::isnan(expected) ? std::isnan(decoded[i]) : double(decoded[i]) == expected));
        }
      }
    }
  }

  TEST_CASE("numbers encode to the nearest fp8 code and saturate") {
    for (const Format &format : formats) {
      const std::vector<float> numbers = numbersAround(format);
      for (int capability : {80, 90}) {
        CAPTURE(format.type);
        CAPTURE(capability);
        const std::vector<uint8_t> encoded = runEverywhere<uint8_t>(
            conversion("f32", format.type, true, int64_t(numbers.size()), capability), numbers.size(), numbers);
        for (size_t i = 0; i < numbers.size(); ++i) {
          CAPTURE(numbers[i]);
          // The sign of NaN is not kept.
          const uint8_t mask = std::isnan(numbers[i]) ? 0x7f : 0xff;
          CHECK(int(encoded[i] & mask) == int(encode(format, numbers[i]) & mask));
        }
      }
    }
  }

  TEST_CASE("f64 to 16 bits is rounded once") {
    // Just above and below halfway between two numbers, by less than an f32 shows; and the limits.
    const double tiny = std::ldexp(1.0, -40), infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> numbers = {1 + std::ldexp(1.0, -11) + tiny,
                                         1 + std::ldexp(1.0, -11),
                                         1 + std::ldexp(3.0, -11) - tiny,
                                         -1 - std::ldexp(1.0, -11) - tiny,
                                         65519.999999999,
                                         65520,
                                         -infinity,
                                         std::ldexp(1.0, -25) + std::ldexp(1.0, -70)};
    CHECK(runEverywhere<uint16_t>(conversion("f64", "f16", true, 8, 90), 8, numbers) ==
          std::vector<uint16_t>{0x3c01, 0x3c00, 0x3c01, 0xbc01, 0x7bff, 0x7c00, 0xfc00, 0x0001});
    const std::vector<double> wider = {1 + std::ldexp(1.0, -8) + tiny, 1 + std::ldexp(1.0, -8),
                                       1 + std::ldexp(3.0, -8) - tiny, 0.5};
    CHECK(runEverywhere<uint16_t>(conversion("f64", "bf16", true, 4, 90), 4, wider) ==
          std::vector<uint16_t>{0x3f81, 0x3f80, 0x3f81, 0x3f00});
  }

  TEST_CASE("f32 to bf16 and f16 toward zero never grows") {
    std::vector<float> numbers(1024);
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = std::ldexp(1.0f + float(i) / 700, int(i % 20) - 10) * (i % 2 ? 1 : -1);
    }
    for (const char *type : {"f16", "bf16"}) {
      CAPTURE(type);
      const std::vector<uint16_t> converted =
          runEverywhere<uint16_t>(conversion("f32", type, true, 1024, 90, "rtz"), 1024, numbers);
      for (size_t i = 0; i < numbers.size(); ++i) {
        const bool half = std::string(type) == "f16";
        const double value = half ? std::ldexp(1 + (converted[i] & 0x3ff) / 1024.0, ((converted[i] >> 10) & 31) - 15)
                                  : std::ldexp(1 + (converted[i] & 0x7f) / 128.0, ((converted[i] >> 7) & 255) - 127);
        CAPTURE(numbers[i]);
        CHECK(value <= std::fabs(numbers[i]));
        CHECK(value * (1 + (half ? 1 / 1024.0 : 1 / 128.0)) > std::fabs(numbers[i]));
      }
    }
  }
}
