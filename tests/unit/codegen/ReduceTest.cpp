// tt.reduce: along each axis, over registers, lanes and warps, with any combination of operands.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <algorithm>
#include <random>

using namespace jitk::codegen::test;

namespace {

struct Layout {
  std::string claim;
  std::string text;
  int numWarps = 4;
};

const std::vector<Layout> layouts = {
    {"rows over warps",
     "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>"},
    {"columns over warps",
     "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>"},
    {"both over warps",
     "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [0, 1]}>"},
    {"a warp in a row",
     "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>"},
    {"copies in lanes",
     "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [1, 4], order = [1, 0]}>"},
    {"one warp",
     "#ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>", 1},
    {"accumulators",
     "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"},
};

constexpr int64_t rows = 32, columns = 64;

std::vector<int32_t> randomIntegers(size_t count, int32_t limit) {
  std::mt19937 random(8812);
  std::vector<int32_t> values(count);
  for (int32_t &value : values) {
    value = int32_t(random() % (2 * limit)) - limit;
  }
  return values;
}

std::string sliceOf(const std::string &layout, int axis) {
  return "#ttg.slice<{dim = " + std::to_string(axis) + ", parent = " + layout + "}>";
}

/// A kernel that reduces the tensor `in` along `axis` and stores the result of `element`; `combine` ends in the return.
CompiledKernel reduction(const Layout &layout, int axis, const std::string &element, const std::string &combine) {
  const int64_t results = axis == 0 ? columns : rows;
  const std::string slice = sliceOf(layout.text, axis);
  const std::string body =
      loadTensor("x", "in", {rows, columns}, element, layout.text) +
      "  %y = \"tt.reduce\"(%x) <{axis = " + std::to_string(axis) + " : i32}> ({\n  ^bb0(%a: " + element +
      ", %b: " + element + "):\n" + combine + "  }) : (" + tensorType({rows, columns}, element, layout.text) + ") -> " +
      tensorType({results}, element, slice) + "\n" + storeTensor("y", "out", {results}, element, slice);
  return compileKernel(moduleOf(
      "", kernelOf(pointerParameter("in", element) + ", " + pointerParameter("out", element), body), layout.numWarps));
}

template <typename T, typename Combine>
std::vector<T> expected(const std::vector<T> &input, int axis, Combine combine) {
  std::vector<T> results(axis == 0 ? columns : rows);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      T &result = results[axis == 0 ? j : i];
      const bool first = axis == 0 ? i == 0 : j == 0;
      result = first ? input[i * columns + j] : combine(result, input[i * columns + j]);
    }
  }
  return results;
}

} // namespace

TEST_SUITE("codegen/Reduce") {
  TEST_CASE("sums of integers are exact along each axis") {
    const std::vector<int32_t> input = randomIntegers(rows * columns, 1000);
    for (const Layout &layout : layouts) {
      for (int axis : {0, 1}) {
        CAPTURE(layout.claim);
        CAPTURE(axis);
        const CompiledKernel kernel =
            reduction(layout, axis, "i32", "    %s = arith.addi %a, %b : i32\n    tt.reduce.return %s : i32\n");
        CHECK(runEverywhere<int32_t>(kernel, axis == 0 ? columns : rows, input) ==
              expected(input, axis, std::plus<int32_t>()));
      }
    }
  }

  TEST_CASE("maxima of 64-bit and 16-bit elements") {
    const std::vector<int32_t> values = randomIntegers(rows * columns, 30000);
    const Layout &layout = layouts[2];
    auto larger = [](auto a, auto b) { return std::max(a, b); };
    const std::vector<int64_t> wide(values.begin(), values.end());
    const CompiledKernel wideKernel =
        reduction(layout, 1, "i64", "    %s = arith.maxsi %a, %b : i64\n    tt.reduce.return %s : i64\n");
    CHECK(runEverywhere<int64_t>(wideKernel, rows, wide) == expected(wide, 1, larger));
    const std::vector<int16_t> narrow(values.begin(), values.end());
    const CompiledKernel narrowKernel =
        reduction(layout, 0, "i16", "    %s = arith.maxsi %a, %b : i16\n    tt.reduce.return %s : i16\n");
    CHECK(runEverywhere<int16_t>(narrowKernel, columns, narrow) == expected(narrow, 0, larger));
  }

  TEST_CASE("two operands are reduced together") {
    // The first position of the largest element of each row.
    const std::vector<int32_t> input = randomIntegers(rows * columns, 20);
    for (const Layout &layout : layouts) {
      CAPTURE(layout.claim);
      const std::string tensor = tensorType({rows, columns}, "i32", layout.text), slice = sliceOf(layout.text, 1);
      const std::string result = tensorType({rows}, "i32", slice);
      const std::string body = loadTensor("x", "in", {rows, columns}, "i32", layout.text) +
                               rowMajorIndex("n", {rows, columns}, layout.text) +
                               "  %y:2 = \"tt.reduce\"(%x, %n) <{axis = 1 : i32}> ({\n"
                               "  ^bb0(%a: i32, %ai: i32, %b: i32, %bi: i32):\n"
                               "    %gt = arith.cmpi sgt, %a, %b : i32\n"
                               "    %eq = arith.cmpi eq, %a, %b : i32\n"
                               "    %lt = arith.cmpi slt, %ai, %bi : i32\n"
                               "    %tie = arith.andi %eq, %lt : i1\n"
                               "    %left = arith.ori %gt, %tie : i1\n"
                               "    %v = arith.select %left, %a, %b : i32\n"
                               "    %i = arith.select %left, %ai, %bi : i32\n"
                               "    tt.reduce.return %v, %i : i32, i32\n"
                               "  }) : (" +
                               tensor + ", " + tensor + ") -> (" + result + ", " + result + ")\n" +
                               "  %z = arith.addi %y#1, %y#1 : " + result + "\n" +
                               storeTensor("z", "out", {rows}, "i32", slice);
      const CompiledKernel kernel = compileKernel(moduleOf(
          "", kernelOf(pointerParameter("in", "i32") + ", " + pointerParameter("out", "i32"), body), layout.numWarps));
      std::vector<int32_t> positions;
      for (int64_t i = 0; i < rows; ++i) {
        auto begin = input.begin() + i * columns;
        positions.push_back(2 * int32_t(std::max_element(begin, begin + columns) - input.begin()));
      }
      CHECK(runEverywhere<int32_t>(kernel, rows, input) == positions);
    }
  }

  TEST_CASE("a one-dimensional tensor gives a scalar that all threads hold") {
    const std::string layout =
        "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    const std::vector<int32_t> input = randomIntegers(512, 1000);
    const std::string body = loadTensor("x", "in", {512}, "i32", layout) +
                             "  %s = \"tt.reduce\"(%x) <{axis = 0 : i32}> ({\n  ^bb0(%a: i32, %b: i32):\n"
                             "    %c = arith.minsi %a, %b : i32\n    tt.reduce.return %c : i32\n  }) : (" +
                             tensorType({512}, "i32", layout) + ") -> i32\n  %y = tt.splat %s : i32 -> " +
                             tensorType({512}, "i32", layout) + "\n" + storeTensor("y", "out", {512}, "i32", layout);
    const CompiledKernel kernel = compileKernel(
        moduleOf("", kernelOf(pointerParameter("in", "i32") + ", " + pointerParameter("out", "i32"), body)));
    const std::vector<int32_t> smallest(512, *std::min_element(input.begin(), input.end()));
    CHECK(runEverywhere<int32_t>(kernel, 512, input) == smallest);
  }
}
