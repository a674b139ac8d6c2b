// tt.dot on mma.sync and on scalar arithmetic, against integer products.

#include "tests/unit/codegen/SmallNumbers.h"
#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <cmath>
#include <random>

using namespace jitk::codegen::test;

namespace {

const std::string rows =
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";

struct Product {
  std::string claim;
  NumberFormat a, b, c;
  std::string result, operandA, operandB;
  int capability;
  int m = 64, n = 64, k = 64;
};

std::string mma(const std::string &warps) {
  return "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = " + warps + ", instrShape = [16, 8]}>";
}

std::string operand(int index, const std::string &parent, int kWidth) {
  return "#ttg.dot_op<{opIdx = " + std::to_string(index) + ", parent = " + parent +
         (kWidth ? ", kWidth = " + std::to_string(kWidth) : "") + "}>";
}

Product onTensorCores(const std::string &claim, const NumberFormat &a, const NumberFormat &b, const NumberFormat &c,
                      int kWidth, int capability, const std::string &warps = "[2, 2]") {
  return {claim, a, b, c, mma(warps), operand(0, mma(warps), kWidth), operand(1, mma(warps), kWidth), capability};
}

Product onScalars(const std::string &claim, const NumberFormat &a, const NumberFormat &c) {
  const std::string blocked =
      "#ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>";
  return {claim, a, a, c, blocked, operand(0, blocked, 0), operand(1, blocked, 0), 80, 32, 32, 16};
}

const NumberFormat s32 = {"i32", 4, {0, 1, 2, 3, 4}, 0};

CompiledKernel compileProduct(const Product &p, const std::string &precision) {
  const std::vector<int64_t> shapeA = {p.m, p.k}, shapeB = {p.k, p.n}, shapeC = {p.m, p.n};
  const std::string &eA = p.a.element, &eB = p.b.element, &eC = p.c.element;
  auto converted = [](const std::string &name, const std::vector<int64_t> &shape, const std::string &element,
                      const std::string &layout) {
    return "  %" + name + "o = ttg.convert_layout %" + name + " : " + tensorType(shape, element, rows) + " -> " +
           tensorType(shape, element, layout) + "\n";
  };
  const std::string body = loadTensor("a", "pa", shapeA, eA, rows) + loadTensor("b", "pb", shapeB, eB, rows) +
                           loadTensor("c", "pc", shapeC, eC, p.result) + converted("a", shapeA, eA, p.operandA) +
                           converted("b", shapeB, eB, p.operandB) +
                           "  %d = tt.dot %ao, %bo, %c, inputPrecision = " + precision + " : " +
                           tensorType(shapeA, eA, p.operandA) + " * " + tensorType(shapeB, eB, p.operandB) + " -> " +
                           tensorType(shapeC, eC, p.result) + "\n" + storeTensor("d", "pd", shapeC, eC, p.result);
  const std::string parameters = pointerParameter("pa", eA) + ", " + pointerParameter("pb", eB) + ", " +
                                 pointerParameter("pc", eC) + ", " + pointerParameter("pd", eC);
  return compileKernel(moduleOf("", kernelOf(parameters, body), 4, p.capability));
}

void check(const Product &p) {
  CAPTURE(p.claim);
  const CompiledKernel kernel = compileProduct(p, "tf32");
  const std::vector<int> a = smallNumbers(size_t(p.m) * p.k, 1), b = smallNumbers(size_t(p.k) * p.n, 2),
                         c = smallNumbers(size_t(p.m) * p.n, 3);
  std::vector<int> wanted = multiply(a, b, p.m, p.n, p.k);
  for (size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] += c[i];
  }
  const std::vector<uint8_t> bytes =
      runEverywhere<uint8_t>(kernel, wanted.size() * p.c.bytes, encode(a, p.a), encode(b, p.b), encode(c, p.c));
  CHECK(decode(bytes, p.c) == wanted);
}

/// The largest error of a product of f32 operands of 24 random bits, as a part of the sum of the terms' magnitudes.
double largestError(const Product &p, const std::string &precision) {
  std::mt19937 random(1);
  auto draw = [&](int rows, int columns) {
    std::vector<float> values(size_t(rows) * size_t(columns));
    for (float &value : values) {
      value = std::ldexp(float(int32_t(random() % (1u << 25)) - (1 << 24)), -24);
    }
    return values;
  };
  const std::vector<float> a = draw(p.m, p.k), b = draw(p.k, p.n), c(size_t(p.m) * size_t(p.n));
  const std::vector<float> d = runEverywhere<float>(compileProduct(p, precision), c.size(), a, b, c);
  double largest = 0;
  for (size_t i = 0; i < d.size(); ++i) {
    double sum = 0, magnitude = 0;
    for (size_t k = 0; k < size_t(p.k); ++k) {
      double term = double(a[i / size_t(p.n) * size_t(p.k) + k]) * b[k * size_t(p.n) + i % size_t(p.n)];
      sum += term;
      magnitude += std::fabs(term);
    }
    largest = std::max(largest, std::fabs(d[i] - sum) / magnitude);
  }
  return largest;
}

} // namespace

TEST_SUITE("codegen/Dot") {
  TEST_CASE("tensor cores multiply") {
    check(onTensorCores("f16 to f32", f16, f16, f32, 2, 80));
    check(onTensorCores("f16 to f16", f16, f16, f16, 2, 80));
    check(onTensorCores("bf16 to f32", bf16, bf16, f32, 2, 80));
    check(onTensorCores("tf32 to f32", f32, f32, f32, 1, 80));
    check(onTensorCores("s8 to s32", s8, s8, s32, 4, 80));
    check(onTensorCores("fp8", e4m3, e4m3, f32, 4, 89));
    check(onTensorCores("fp8 of two kinds", e4m3, e5m2, f32, 4, 89));
  }

  TEST_CASE("f32 as the sum of two tf32 numbers keeps nearly all of its bits") {
    const double one = largestError(onTensorCores("tf32", f32, f32, f32, 1, 80), "tf32");
    CHECK(one > 0x1p-13);
    for (int kWidth : {1, 2}) {
      CAPTURE(kWidth);
      CHECK(largestError(onTensorCores("tf32x3", f32, f32, f32, kWidth, 80), "tf32x3") < 0x1p-20);
    }
  }

  TEST_CASE("fp8 is decoded where tensor cores lack it") {
    check(onTensorCores("e4m3 on sm_80", e4m3, e4m3, f32, 4, 80));
    check(onTensorCores("e5m2 on sm_80", e5m2, e5m2, f32, 4, 80));
  }

  TEST_CASE("wide operands and other arrangements of warps") {
    check(onTensorCores("kWidth of two words", f16, f16, f32, 4, 80));
    check(onTensorCores("kWidth of four words", f16, f16, f32, 8, 80));
    check(onTensorCores("warps along rows", f16, f16, f32, 2, 80, "[4, 1]"));
    check(onTensorCores("warps along columns", f16, f16, f32, 2, 80, "[1, 4]"));
  }

  TEST_CASE("without tensor cores each element is multiplied") {
    check(onScalars("f32", f32, f32));
    check(onScalars("f16 to f32", f16, f32));
    check(onScalars("f16", f16, f16));
    check(onScalars("s8 to s32", s8, s32));
    check(onScalars("fp8 to f32", e5m2, f32));
  }
}
