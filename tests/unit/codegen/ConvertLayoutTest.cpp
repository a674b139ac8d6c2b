// ttg.convert_layout: every element arrives where the target layout says, whatever way it goes.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <numeric>

using namespace jitk::codegen::test;

namespace {

struct Conversion {
  std::string claim;
  std::vector<int64_t> shape;
  std::string source, target;
  int numWarps = 4;
};

const std::vector<Conversion> conversions = {
    {"registers only",
     {128},
     "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>",
     "#ttg.linear<{register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = [], block = []}>",
     1},
    {"within a warp",
     {128},
     "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>",
     "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>",
     1},
    {"between warps",
     {512},
     "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>",
     "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"},
    {"rows to columns",
     {32, 64},
     "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
     "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>"},
    {"accumulator to blocked",
     {64, 64},
     "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>",
     "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"},
    {"blocked to operand",
     {64, 64},
     "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
     "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
     "instrShape = [16, 8]}>, kWidth = 2}>"},
    {"accumulator to operand",
     {64, 64},
     "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>",
     "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
     "instrShape = [16, 64, 16]}>, kWidth = 2}>"},
    {"smaller than the threads",
     {16, 4},
     "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>",
     "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>"},
    {"to a slice",
     {64},
     "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>",
     "#ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, "
     "1], "
     "order = [1, 0]}>}>"},
    {"from a slice",
     {64},
     "#ttg.slice<{dim = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
     "instrShape "
     "= [16, 8]}>}>",
     "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"},
};

template <typename T> void check(const std::string &element) {
  for (const Conversion &conversion : conversions) {
    CAPTURE(conversion.claim);
    CAPTURE(element);
    const size_t count =
        std::accumulate(conversion.shape.begin(), conversion.shape.end(), int64_t(1), std::multiplies());
    const std::string body =
        loadTensor("x", "in", conversion.shape, element, conversion.source) +
        "  %y = ttg.convert_layout %x : " + tensorType(conversion.shape, element, conversion.source) + " -> " +
        tensorType(conversion.shape, element, conversion.target) + "\n" +
        storeTensor("y", "out", conversion.shape, element, conversion.target);
    const CompiledKernel kernel = compileKernel(
        moduleOf("", kernelOf(pointerParameter("in", element) + ", " + pointerParameter("out", element), body),
                 conversion.numWarps));
    std::vector<T> input(count);
    std::iota(input.begin(), input.end(), T(1));
    CHECK(runEverywhere<T>(kernel, count, input) == input);
  }
}

} // namespace

TEST_SUITE("codegen/ConvertLayout") {
  TEST_CASE("32-bit elements arrive") { check<int32_t>("i32"); }
  TEST_CASE("16-bit elements arrive") { check<int16_t>("i16"); }
  TEST_CASE("8-bit elements arrive") { check<int8_t>("i8"); }
  TEST_CASE("64-bit elements arrive") { check<int64_t>("i64"); }
}
