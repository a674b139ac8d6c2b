// Elementwise arithmetic and functions on f32, against double precision.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <cmath>
#include <functional>
#include <limits>

using namespace jitk::codegen::test;

namespace {

const std::string layout = "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
constexpr int64_t count = 512;

/// Runs `operation`, lines that compute %y from %x on tensors of f32.
std::vector<float> evaluate(const std::string &operation, const std::vector<float> &input) {
  const std::string body =
      loadTensor("x", "in", {count}, "f32", layout) + operation + storeTensor("y", "out", {count}, "f32", layout);
  const CompiledKernel kernel = compileKernel(
      moduleOf("", kernelOf(pointerParameter("in", "f32") + ", " + pointerParameter("out", "f32"), body)));
  return runEverywhere<float>(kernel, count, input);
}

std::vector<float> between(double low, double high) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = float(low + (high - low) * double(i) / (count - 1));
  }
  return values;
}

struct Function {
  std::string name; ///< of an operation with one operand
  double low, high;
  std::function<double(double)> exact;
  double relative, absolute; ///< what the result may differ by
};

// The approximate instructions are good to about 2^-22 (relative), sin and cos to 2^-20.9 (absolute); exp scales the
// error of its argument by its size.
const std::vector<Function> functions = {
    {"math.exp", -10, 10, [](double x) { return std::exp(x); }, 2e-6, 0},
    {"math.exp2", -20, 20, [](double x) { return std::exp2(x); }, 3e-7, 0},
    {"math.expm1", -3, 3, [](double x) { return std::expm1(x); }, 2e-6, 1e-9},
    {"math.log", 0.01, 100, [](double x) { return std::log(x); }, 3e-6, 3e-7},
    {"math.log2", 0.01, 100, [](double x) { return std::log2(x); }, 3e-6, 3e-7},
    {"math.log10", 0.01, 100, [](double x) { return std::log10(x); }, 3e-6, 3e-7},
    {"math.log1p", -0.5, 3, [](double x) { return std::log1p(x); }, 3e-6, 1e-7},
    {"math.sqrt", 0, 50, [](double x) { return std::sqrt(x); }, 3e-7, 0},
    {"math.rsqrt", 0.1, 50, [](double x) { return 1 / std::sqrt(x); }, 3e-7, 0},
    {"math.sin", -20, 20, [](double x) { return std::sin(x); }, 0, 2e-6},
    {"math.cos", -20, 20, [](double x) { return std::cos(x); }, 0, 2e-6},
    {"math.tanh", -5, 5, [](double x) { return std::tanh(x); }, 1e-6, 0},
    {"math.erf", -4, 4, [](double x) { return std::erf(x); }, 1e-6, 0},
    {"math.absf", -4, 4, [](double x) { return std::fabs(x); }, 0, 0},
    {"math.floor", -4, 4, [](double x) { return std::floor(x); }, 0, 0},
    {"math.ceil", -4, 4, [](double x) { return std::ceil(x); }, 0, 0},
    {"math.roundeven", -4, 4, [](double x) { return std::nearbyint(x); }, 0, 0},
    {"arith.negf", -4, 4, [](double x) { return -x; }, 0, 0},
    {"tt.precise_sqrt", 0, 50, [](double x) { return double(std::sqrt(float(x))); }, 0, 0},
};

} // namespace

TEST_SUITE("codegen/Math") {
  TEST_CASE("functions are as accurate as their instructions") {
    for (const Function &function : functions) {
      CAPTURE(function.name);
      const std::vector<float> input = between(function.low, function.high);
      const std::vector<float> output =
          evaluate("  %y = " + function.name + " %x : " + tensorType({count}, "f32", layout) + "\n", input);
      for (int64_t i = 0; i < count; ++i) {
        const double exact = function.exact(input[i]);
        CAPTURE(input[i]);
        CAPTURE(output[i]);
        CHECK(std::fabs(output[i] - exact) <= function.relative * std::fabs(exact) + function.absolute);
      }
    }
  }

  TEST_CASE("powers of negative bases need integer exponents") {
    const std::string tensor = tensorType({count}, "f32", layout);
    const std::string cube =
        "  %e = arith.constant dense<3.0> : " + tensor + "\n  %y = math.powf %x, %e : " + tensor + "\n";
    const std::vector<float> input = between(-3, 3), output = evaluate(cube, input);
    for (int64_t i = 0; i < count; ++i) {
      CAPTURE(input[i]);
      CHECK(std::fabs(output[i] - std::pow(double(input[i]), 3)) <= 2e-6 * std::fabs(std::pow(double(input[i]), 3)));
    }
    const std::string root =
        "  %e = arith.constant dense<0.5> : " + tensor + "\n  %y = math.powf %x, %e : " + tensor + "\n";
    const std::vector<float> roots = evaluate(root, input);
    CHECK(std::isnan(roots.front()));
    CHECK(std::fabs(roots.back() - std::sqrt(3.0)) < 1e-5);
  }

  TEST_CASE("integer division rounds as each operation says") {
    const std::string tensor = tensorType({count}, "i32", layout);
    const std::vector<std::pair<std::string, std::function<int32_t(int32_t)>>> divisions = {
        {"arith.divsi", [](int32_t x) { return x / -7; }},
        {"arith.floordivsi", [](int32_t x) { return int32_t(std::floor(x / -7.0)); }},
        {"arith.ceildivsi", [](int32_t x) { return int32_t(std::ceil(x / -7.0)); }},
        {"arith.remsi", [](int32_t x) { return x % -7; }},
    };
    std::vector<int32_t> input(count);
    for (int64_t i = 0; i < count; ++i) {
      input[i] = int32_t(i) - 256;
    }
    for (const auto &[name, exact] : divisions) {
      CAPTURE(name);
      const std::string body = loadTensor("x", "in", {count}, "i32", layout) +
                               "  %d = arith.constant dense<-7> : " + tensor + "\n  %y = " + name +
                               " %x, %d : " + tensor + "\n" + storeTensor("y", "out", {count}, "i32", layout);
      const CompiledKernel kernel = compileKernel(
          moduleOf("", kernelOf(pointerParameter("in", "i32") + ", " + pointerParameter("out", "i32"), body)));
      std::vector<int32_t> expected(count);
      std::transform(input.begin(), input.end(), expected.begin(), exact);
      CHECK(runEverywhere<int32_t>(kernel, count, input) == expected);
    }
  }

  TEST_CASE("the upper half of an unsigned product") {
    const std::string tensor = tensorType({count}, "i32", layout);
    std::vector<int32_t> input(count), expected(count);
    for (int64_t i = 0; i < count; ++i) {
      input[i] = int32_t(uint32_t(i) * 0x9E3779B9u);
      expected[i] = int32_t(uint64_t(uint32_t(input[i])) * uint32_t(input[i]) >> 32);
    }
    const std::string body = loadTensor("x", "in", {count}, "i32", layout) + "  %y = tt.mulhiui %x, %x : " + tensor +
                             "\n" + storeTensor("y", "out", {count}, "i32", layout);
    const CompiledKernel kernel = compileKernel(
        moduleOf("", kernelOf(pointerParameter("in", "i32") + ", " + pointerParameter("out", "i32"), body)));
    CHECK(runEverywhere<int32_t>(kernel, count, input) == expected);
  }

  TEST_CASE("clamping") {
    const std::string tensor = tensorType({count}, "f32", layout);
    for (const char *mode : {"none", "all"}) {
      const std::string clamp = "  %lo = arith.constant dense<-1.0> : " + tensor +
                                "\n  %hi = arith.constant dense<2.0> : " + tensor +
                                "\n  %y = tt.clampf %x, %lo, %hi, propagateNan = " + mode + " : " + tensor + "\n";
      std::vector<float> input = between(-3, 3);
      const std::vector<float> output = evaluate(clamp, input);
      for (int64_t i = 0; i < count; ++i) {
        CHECK(output[i] == std::clamp(input[i], -1.0f, 2.0f));
      }
    }
  }

  TEST_CASE("functions of f64 are good to a few units in the last place") {
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double rootOfTwo = 0x1.6a09e667f3bcdp0;
    std::vector<double> input = {0.0,
                                 -0.0,
                                 infinity,
                                 -infinity,
                                 nan,
                                 1.0,
                                 -1.0,
                                 0x1p-1074,
                                 0x1.8p-1060,
                                 0x1p-1022,
                                 0x1.fffffffffffffp1023,
                                 1e-300,
                                 -745.2,
                                 -708.4,
                                 709.7,
                                 710.0,
                                 1023.9,
                                 1024.0,
                                 -1074.6,
                                 rootOfTwo,
                                 rootOfTwo / 2,
                                 std::nextafter(rootOfTwo, 1.0),
                                 std::nextafter(1.0, 0.0),
                                 std::nextafter(1.0, 2.0)};
    while (input.size() < size_t(count)) {
      const double i = double(input.size());
      input.push_back(input.size() % 2 ? std::ldexp(1 + i / 700, int(input.size() % 100) - 50) : i * 1.3 - 330);
    }
    const std::pair<const char *, double (*)(double)> functions[] = {{"math.exp", [](double x) { return std::exp(x); }},
                                                                     {"math.exp2", [](double x) { return std::exp2(x); }},
                                                                     {"math.log", [](double x) { return std::log(x); }},
                                                                     {"math.log2", [](double x) { return std::log2(x); }},
                                                                     {"math.log10", [](double x) { return std::log10(x); }},
                                                                     {"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }}};
    for (const auto &[name, exact] : functions) {
      CAPTURE(std::string(name));
      const std::string type = tensorType({count}, "f64", layout);
      const CompiledKernel kernel = compileKernel(
          moduleOf("", kernelOf(pointerParameter("in", "f64") + ", " + pointerParameter("out", "f64"),
                                loadTensor("x", "in", {count}, "f64", layout) + "  %y = " + name + " %x : " + type +
                                    "\n" + storeTensor("y", "out", {count}, "f64", layout))));
      const std::vector<double> output = runEverywhere<double>(kernel, count, input);
      for (int64_t i = 0; i < count; ++i) {
        const double wanted = exact(input[i]);
        CAPTURE(input[i]);
        CAPTURE(output[i]);
        CAPTURE(wanted);
        if (std::isnan(wanted) || std::isinf(wanted)) {
          CHECK((std::isnan(wanted) ? std::isnan(output[i]) : output[i] == wanted));
          continue;
        }
        // The rounding of a last product or sum, of the factor to another base, and of the terms before.
        CHECK(std::fabs(output[i] - wanted) <=
              4 * std::numeric_limits<double>::epsilon() * std::fabs(wanted) + 0x1p-1074);
      }
    }
  }
}
