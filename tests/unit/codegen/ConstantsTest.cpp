// Constant tensors whose elements differ, in every kind of layout.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

using namespace jitk::codegen::test;

namespace {

const std::string blocked =
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>";
const std::string columns =
    "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>";
const std::string mma =
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>";

/// "[[1, 2], [3, 4]]" of `rows` x 16 elements, each as `text` has it.
template <typename Text> std::string dense(int rows, Text text) {
  std::string all = "[";
  for (int row = 0; row < rows; ++row) {
    all += row == 0 ? "[" : ", [";
    for (int col = 0; col < 16; ++col) {
      all += (col == 0 ? "" : ", ") + text(row * 16 + col);
    }
    all += "]";
  }
  return "dense<" + all + "]>";
}

/// Stores a 32 x 16 constant.
CompiledKernel storing(const std::string &constant, const std::string &element, const std::string &layout) {
  return compileKernel(
      moduleOf("", kernelOf(pointerParameter("out", element), "  %x = arith.constant " + constant + " : " +
                                                                  tensorType({32, 16}, element, layout) + "\n" +
                                                                  storeTensor("x", "out", {32, 16}, element, layout))));
}

int mix(int n) { return n * 37 % 101; }

} // namespace

TEST_SUITE("codegen/Constants") {
  TEST_CASE("each thread finds its elements, in any layout") {
    std::vector<int32_t> wanted;
    for (int n = 0; n < 512; ++n) {
      wanted.push_back(mix(n) - 50);
    }
    const std::string constant = dense(32, [](int n) { return std::to_string(mix(n) - 50); });
    for (const std::string &layout : {blocked, columns, mma}) {
      CAPTURE(layout);
      CHECK(runEverywhere<int32_t>(storing(constant, "i32", layout), 512) == wanted);
    }
  }

  TEST_CASE("elements of every width") {
    std::vector<int8_t> bytes, bools;
    std::vector<int64_t> words;
    std::vector<uint16_t> halves;
    for (int n = 0; n < 512; ++n) {
      bytes.push_back(int8_t(mix(n) - 50));
      bools.push_back(mix(n) % 3 == 0);
      words.push_back(int64_t(mix(n)) << 40);
      halves.push_back(n % 2 ? 0x3e00 : 0xc000); // 1.5, -2
    }
    CHECK(runEverywhere<int8_t>(storing(dense(32, [](int n) { return std::to_string(mix(n) - 50); }), "i8", blocked),
                                512) == bytes);
    CHECK(runEverywhere<int8_t>(
              storing(dense(32, [](int n) { return std::string(mix(n) % 3 == 0 ? "true" : "false"); }), "i1", blocked),
              512) == bools);
    CHECK(runEverywhere<int64_t>(
              storing(dense(32, [](int n) { return std::to_string(int64_t(mix(n)) << 40); }), "i64", blocked), 512) ==
          words);
    CHECK(runEverywhere<uint16_t>(
              storing(dense(32, [](int n) { return std::string(n % 2 ? "1.5" : "-2.0"); }), "f16", blocked), 512) ==
          halves);
    const std::vector<uint8_t> small = runEverywhere<uint8_t>(
        storing(dense(32, [](int n) { return std::string(n % 2 ? "1.5" : "-2.0"); }), "f8E4M3FN", blocked), 512);
    CHECK(small[0] == 0xc0);
    CHECK(small[511] == 0x3c);
  }

  TEST_CASE("a constant is given the layout of what uses it") {
    std::string values;
    std::vector<float> wanted;
    for (int n = 0; n < 256; ++n) {
      values += (n == 0 ? "" : ", ") + std::to_string(mix(n)) + ".0";
      wanted.push_back(float(mix(n)) + 1);
    }
    const CompiledKernel kernel = compileCommonIr(
        moduleOf("",
                 "tt.func public @k(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {\n  %x = arith.constant dense<[" +
                     values +
                     "]> : tensor<256xf32>\n  %one = arith.constant dense<1.0> : tensor<256xf32>\n"
                     "  %y = arith.addf %x, %one : tensor<256xf32>\n"
                     "  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>\n"
                     "  %b = tt.splat %out : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>\n"
                     "  %p = tt.addptr %b, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>\n"
                     "  tt.store %p, %y : tensor<256x!tt.ptr<f32>>\n  tt.return\n}\n"),
        "sm_90a");
    CHECK(runEverywhere<float>(kernel, 256) == wanted);
  }
}
