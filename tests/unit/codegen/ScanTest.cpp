// tt.scan: every order of registers, lanes and warps along the axis, forwards and backwards.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <random>

using namespace jitk::codegen::test;

namespace {

struct Case {
  std::string claim;
  std::vector<int64_t> shape;
  int axis;
  std::string layout;
  int numWarps = 4;
};

const std::vector<Case> cases = {
    {"registers, lanes, warps, registers",
     {1024},
     0,
     "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"},
    {"lanes and warps",
     {128},
     0,
     "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"},
    {"one warp",
     {256},
     0,
     "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>",
     1},
    {"along rows",
     {8, 64},
     1,
     "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>"},
    {"along columns",
     {64, 8},
     0,
     "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"},
    {"accumulators along rows",
     {32, 32},
     1,
     "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"},
    {"lanes, registers, warps",
     {64, 8},
     0,
     "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>"},
    {"fewer elements than threads",
     {16},
     0,
     "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"},
    {"warps, then registers of several runs",
     {512},
     0,
     "#ttg.linear<{register = [[1], [64], [128], [256]], lane = [[2], [4], [8], [16], [0]], warp = [[32], [0]], block "
     "= []}>"},
};

} // namespace

TEST_SUITE("codegen/Scan") {
  TEST_CASE("a scan of affine maps keeps the order of its operands") {
    for (const Case &scan : cases) {
      for (bool reverse : {false, true}) {
        CAPTURE(scan.claim);
        CAPTURE(reverse);
        const int64_t count = scan.shape.size() == 1 ? scan.shape[0] : scan.shape[0] * scan.shape[1];
        const std::string tensor = tensorType(scan.shape, "i32", scan.layout);
        const std::string body =
            loadTensor("x", "in", scan.shape, "i32", scan.layout) + rowMajorIndex("n", scan.shape, scan.layout) +
            "  %y:2 = \"tt.scan\"(%x, %n) <{axis = " + std::to_string(scan.axis) +
            " : i32, reverse = " + (reverse ? "true" : "false") +
            "}> ({\n  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):\n"
            "    %ac = arith.muli %a, %c : i32\n    %bc = arith.muli %b, %c : i32\n"
            "    %bcd = arith.addi %bc, %d : i32\n    tt.scan.return %ac, %bcd : i32, i32\n  }) : (" +
            tensor + ", " + tensor + ") -> (" + tensor + ", " + tensor + ")\n" +
            "  %z = arith.xori %y#0, %y#1 : " + tensor + "\n" + storeTensor("z", "out", scan.shape, "i32", scan.layout);
        const CompiledKernel kernel = compileKernel(moduleOf(
            "", kernelOf(pointerParameter("in", "i32") + ", " + pointerParameter("out", "i32"), body), scan.numWarps));

        std::mt19937 random(8812);
        std::vector<int32_t> input(count);
        for (int32_t &value : input) {
          value = int32_t(random());
        }
        const int64_t length = scan.shape[scan.axis],
                      stride = scan.axis + 1 == int(scan.shape.size()) ? 1 : scan.shape[1];
        std::vector<int32_t> expected(count);
        for (int64_t start = 0; start < count; ++start) {
          if (start / stride % length != 0) {
            continue;
          }
          uint32_t a = 1, b = 0;
          for (int64_t step = 0; step < length; ++step) {
            const int64_t at = start + (reverse ? length - 1 - step : step) * stride;
            const uint32_t c = uint32_t(input[at]), d = uint32_t(at);
            b = step == 0 ? d : b * c + d;
            a = step == 0 ? c : a * c;
            expected[at] = int32_t(a ^ b);
          }
        }
        CHECK(runEverywhere<int32_t>(kernel, count, input) == expected);
      }
    }
  }
}
