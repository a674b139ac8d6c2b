// tt.dot on mma.sync and on scalar arithmetic, against integer products.

#include "tests/unit/codegen/SmallNumbers.h"
#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

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

void check(const Product &p) {
  CAPTURE(p.claim);
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
                           "  %d = tt.dot %ao, %bo, %c, inputPrecision = tf32 : " + tensorType(shapeA, eA, p.operandA) +
                           " * " + tensorType(shapeB, eB, p.operandB) + " -> " + tensorType(shapeC, eC, p.result) +
                           "\n" + storeTensor("d", "pd", shapeC, eC, p.result);
  const CompiledKernel kernel =
      compileKernel(moduleOf("",
                             kernelOf(pointerParameter("pa", eA) + ", " + pointerParameter("pb", eB) + ", " +
                                          pointerParameter("pc", eC) + ", " + pointerParameter("pd", eC),
                                      body),
                             4, p.capability));
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
