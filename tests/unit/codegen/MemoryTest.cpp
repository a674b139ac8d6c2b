// tt.load and tt.store: vectors, masks, other values, and elements that several threads hold.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <numeric>

using namespace jitk::codegen::test;

namespace {

const std::string layout = "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
constexpr int64_t count = 1024;

/// Loads where n < limit, else takes `other` if there is one; stores where n < limit + extra.
std::string maskedCopy(const std::string &element, int limit, int extra, const std::string &other) {
  const std::string tensor = tensorType({count}, "i32", layout), values = tensorType({count}, element, layout);
  const std::string pointers = tensorType({count}, "!tt.ptr<" + element + ">", layout);
  auto mask = [&](const std::string &name, int bound) {
    return "  %" + name + "_c = arith.constant dense<" + std::to_string(bound) + "> : " + tensor + "\n  %" + name +
           " = arith.cmpi slt, %n, %" + name + "_c : " + tensor + "\n";
  };
  return kernelOf(pointerParameter("in", element) + ", " + pointerParameter("out", element),
                  rowMajorIndex("n", {count}, layout) + mask("lm", limit) + mask("sm", limit + extra) +
                      rowMajorPointers("x", "in", {count}, element, layout) +
                      rowMajorPointers("y", "out", {count}, element, layout) +
                      (other.empty() ? "" : "  %o = arith.constant dense<" + other + "> : " + values + "\n") +
                      "  %x = tt.load %x_p, %lm" + (other.empty() ? "" : ", %o") + " : " + pointers +
                      "\n  tt.store %y_p, %x, %sm : " + pointers + "\n");
}

template <typename T> void checkMaskedCopy(const std::string &element) {
  for (int limit : {0, 1, 511, 514, 1024}) {
    CAPTURE(element);
    CAPTURE(limit);
    std::vector<T> input(limit), expected(count);
    std::iota(input.begin(), input.end(), T(1));
    std::copy(input.begin(), input.end(), expected.begin());
    const int extra = std::min(100, int(count) - limit);
    std::fill_n(expected.begin() + limit, extra, T(7));
    input.resize(std::max(limit, 1)); // what the mask excludes is not there to be read
    CHECK(runEverywhere<T>(compileKernel(moduleOf("", maskedCopy(element, limit, extra, "7"))), count, input) ==
          expected);
  }
}

} // namespace

TEST_SUITE("codegen/Memory") {
  TEST_CASE("masked elements are neither read nor written, and read as the other value") {
    checkMaskedCopy<int8_t>("i8");
    checkMaskedCopy<int16_t>("i16");
    checkMaskedCopy<int32_t>("i32");
    checkMaskedCopy<int64_t>("i64");
  }

  TEST_CASE("pointers of unknown alignment are read element by element") {
    const std::string parameters = "%in: !tt.ptr<i32>, %out: !tt.ptr<i32>";
    const std::string body = "  %c1 = arith.constant 1 : i32\n  %in1 = tt.addptr %in, %c1 : !tt.ptr<i32>, i32\n" +
                             loadTensor("x", "in1", {count}, "i32", layout) +
                             storeTensor("x", "out", {count}, "i32", layout);
    std::vector<int32_t> input(count + 1);
    std::iota(input.begin(), input.end(), 0);
    CHECK(runEverywhere<int32_t>(compileKernel(moduleOf("", kernelOf(parameters, body))), count, input) ==
          std::vector<int32_t>(input.begin() + 1, input.end()));
  }

  TEST_CASE("scalars load in every thread and store once") {
    const std::string body = "  %v = tt.load %in : !tt.ptr<i32>\n  %two = arith.constant 2 : i32\n"
                             "  %w = arith.muli %v, %two : i32\n  tt.store %out, %w : !tt.ptr<i32>\n";
    const std::string parameters = pointerParameter("in", "i32") + ", " + pointerParameter("out", "i32");
    CHECK(runEverywhere<int32_t>(compileKernel(moduleOf("", kernelOf(parameters, body))), 1,
                                 std::vector<int32_t>{21}) == std::vector<int32_t>{42});
  }

  TEST_CASE("pointers are elements too") {
    // in[i] -> in[255 - i] through a tensor of pointers that changes its layout.
    const std::string a = "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    const std::string b = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    const std::string pa = tensorType({256}, "!tt.ptr<i32>", a), pb = tensorType({256}, "!tt.ptr<i32>", b);
    const std::string body = rowMajorIndex("n", {256}, a) +
                             "  %c = arith.constant dense<255> : " + tensorType({256}, "i32", a) +
                             "\n  %r = arith.subi %c, %n : " + tensorType({256}, "i32", a) +
                             "\n  %b = tt.splat %in : !tt.ptr<i32> -> " + pa + "\n  %p = tt.addptr %b, %r : " + pa +
                             ", " + tensorType({256}, "i32", a) + "\n  %q = ttg.convert_layout %p : " + pa + " -> " +
                             pb + "\n  %x = tt.load %q : " + pb + "\n" + storeTensor("x", "out", {256}, "i32", b);
    const std::string parameters = pointerParameter("in", "i32") + ", " + pointerParameter("out", "i32");
    std::vector<int32_t> input(256);
    std::iota(input.begin(), input.end(), 0);
    CHECK(runEverywhere<int32_t>(compileKernel(moduleOf("", kernelOf(parameters, body))), 256, input) ==
          std::vector<int32_t>(input.rbegin(), input.rend()));
  }
}
