// Buffers in shared memory: what one layout stores, another loads, through every encoding and view.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <numeric>

using namespace jitk::codegen::test;

namespace {

const std::string rows =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
const std::string columns =
    "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>";
const std::string scattered =
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>";
const std::string mma2 =
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>";
const std::string mma3 =
    "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>";

std::string operand(int index, int kWidth) {
  return "#ttg.dot_op<{opIdx = " + std::to_string(index) + ", parent = " + mma2 +
         ", kWidth = " + std::to_string(kWidth) + "}>";
}

std::string swizzled(int vec, int perPhase, int maxPhase, const std::string &order = "[1, 0]") {
  return "#ttg.swizzled_shared<{vec = " + std::to_string(vec) + ", perPhase = " + std::to_string(perPhase) +
         ", maxPhase = " + std::to_string(maxPhase) + ", order = " + order + "}>";
}

std::string nvmma(int swizzle, int bits, bool transposed = false) {
  return "#ttg.nvmma_shared<{swizzlingByteWidth = " + std::to_string(swizzle) +
         ", transposed = " + (transposed ? "true" : "false") + ", elementBitWidth = " + std::to_string(bits) + "}>";
}

std::string buffer(const std::string &shape, const std::string &element, const std::string &encoding,
                   const std::string &alloc = "") {
  return "!ttg.memdesc<" + shape + "x" + element + ", " + encoding + ", #ttg.shared_memory, mutable" +
         (alloc.empty() ? "" : ", " + alloc) + ">";
}

/// Stores a 64 x 64 tensor from one layout into a buffer and loads it into another.
template <typename T>
void checkRoundTrip(const std::string &element, const std::string &source, const std::string &encoding,
                    const std::string &target) {
  CAPTURE(element);
  CAPTURE(source);
  CAPTURE(encoding);
  CAPTURE(target);
  const std::vector<int64_t> shape = {64, 64};
  const std::string memory = buffer("64x64", element, encoding);
  const std::string body = loadTensor("x", "in", shape, element, source) + "  %m = ttg.local_alloc %x : (" +
                           tensorType(shape, element, source) + ") -> " + memory +
                           "\n  %y = ttg.local_load %m : " + memory + " -> " + tensorType(shape, element, target) +
                           "\n" + storeTensor("y", "out", shape, element, target);
  const CompiledKernel kernel = compileKernel(
      moduleOf("", kernelOf(pointerParameter("in", element) + ", " + pointerParameter("out", element), body)));
  std::vector<T> input(64 * 64);
  std::iota(input.begin(), input.end(), T(1));
  CHECK(runEverywhere<T>(kernel, input.size(), input) == input);
}

/// Stores a 64 x 64 tensor, takes a view by `views`, whose last line defines %v, and loads that.
std::vector<int16_t> loadView(const std::string &encoding, const std::string &views, const std::string &viewType,
                              const std::vector<int64_t> &shape) {
  const std::string memory = buffer("64x64", "i16", encoding);
  const std::string body = loadTensor("x", "in", {64, 64}, "i16", rows) + "  %m = ttg.local_alloc : () -> " + memory +
                           "\n  ttg.local_store %x, %m : " + tensorType({64, 64}, "i16", rows) + " -> " + memory +
                           "\n" + views + "  %y = ttg.local_load %v : " + viewType + " -> " +
                           tensorType(shape, "i16", rows) + "\n" + storeTensor("y", "out", shape, "i16", rows);
  const CompiledKernel kernel = compileKernel(
      moduleOf("", kernelOf(pointerParameter("in", "i16") + ", " + pointerParameter("out", "i16"), body)));
  std::vector<int16_t> input(64 * 64);
  std::iota(input.begin(), input.end(), int16_t(1));
  return runEverywhere<int16_t>(kernel, size_t(shape[0] * shape[1]), input);
}

/// The address of each element of a 64 x 64 buffer, in elements: fills memory with the addresses and reads it as one.
std::vector<int16_t> addressesOf(const std::string &encoding, const std::string &layout) {
  const std::string line = "#ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
  const std::string plain = buffer("8192", "i16",
                                   "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = "
                                   "[0]}>");
  const std::string wide = tensorType({8192}, "i32", line), narrow = tensorType({8192}, "i16", line);
  const std::string memory = buffer("64x64", "i16", encoding);
  const std::string body =
      "  %i = tt.make_range {end = 8192 : i32, start = 0 : i32} : " + wide + "\n  %x = arith.trunci %i : " + wide +
      " to " + narrow + "\n  %m = ttg.local_alloc %x : (" + narrow + ") -> " + plain +
      "\n  %v = ttg.memdesc_reinterpret %m : " + plain + " -> " + memory + "\n  %y = ttg.local_load %v : " + memory +
      " -> " + tensorType({64, 64}, "i16", layout) + "\n" + storeTensor("y", "out", {64, 64}, "i16", layout);
  return runEverywhere<int16_t>(compileKernel(moduleOf("", kernelOf(pointerParameter("out", "i16"), body))), 64 * 64);
}

/// What the view of (row, column) of the stored tensor must give.
template <typename Function> std::vector<int16_t> expected(int64_t height, int64_t width, Function element) {
  std::vector<int16_t> values;
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      auto [r, c] = element(row, column);
      values.push_back(int16_t(r * 64 + c + 1));
    }
  }
  return values;
}

} // namespace

TEST_SUITE("codegen/LocalMemory") {
  TEST_CASE("16-bit tensors go through every encoding") {
    const std::string padded = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>";
    for (const std::string &encoding :
         {swizzled(1, 1, 1), swizzled(8, 1, 8), swizzled(8, 1, 8, "[0, 1]"), swizzled(4, 2, 4), nvmma(128, 16),
          nvmma(64, 16), nvmma(32, 16), nvmma(0, 16), nvmma(128, 16, true), padded}) {
      checkRoundTrip<int16_t>("i16", rows, encoding, columns);
      checkRoundTrip<int16_t>("i16", columns, encoding, rows);
    }
  }

  TEST_CASE("a padded buffer leaves room after each interval") {
    struct Case {
      std::string encoding;
      int16_t (*address)(int, int); ///< of row, column; in elements
    };
    for (const Case &c : std::vector<Case>{
             {"#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>",
              [](int row, int col) { return int16_t(72 * row + col); }},
             {"#ttg.padded_shared<[128:+4] {order = [0, 1], shape = [64, 64]}>",
              [](int row, int col) { return int16_t(row + 64 * col + 4 * (col / 2)); }},
             {"#ttg.padded_shared<[32:+4, 256:+16] {order = [1, 0], shape = [64, 64]}>",
              [](int row, int col) { return int16_t(64 * row + col + 4 * (2 * row + col / 32) + 16 * (row / 4)); }},
             // The even columns of two rows, then their odd ones.
             {"#ttg.padded_shared<[64:+2] {offset = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [0, 1], [2, 0], "
              "[4, 0], [8, 0], [16, 0], [32, 0]], block = []}>",
              [](int row, int col) {
                return int16_t(col / 2 + 32 * (row % 2) + 64 * (col % 2) + 128 * (row / 2) + 2 * (col % 2) +
                               4 * (row / 2));
              }},
         }) {
      CAPTURE(c.encoding);
      std::vector<int16_t> wanted;
      for (int row = 0; row < 64; ++row) {
        for (int col = 0; col < 64; ++col) {
          wanted.push_back(c.address(row, col));
        }
      }
      for (const std::string &layout : {rows, columns, scattered}) {
        CHECK(addressesOf(c.encoding, layout) == wanted);
      }
    }
  }

  TEST_CASE("fragments of tensor cores are loaded and stored by matrices") {
    for (const std::string &encoding : {swizzled(8, 1, 8), swizzled(8, 1, 8, "[0, 1]"), nvmma(128, 16)}) {
      checkRoundTrip<int16_t>("i16", rows, encoding, operand(0, 2));
      checkRoundTrip<int16_t>("i16", rows, encoding, operand(1, 2));
      checkRoundTrip<int16_t>("i16", mma3, encoding, rows);
      checkRoundTrip<int16_t>("i16", mma2, encoding, mma3);
    }
  }

  TEST_CASE("other widths go through too") {
    checkRoundTrip<int8_t>("i8", rows, nvmma(64, 8), columns);
    checkRoundTrip<int8_t>("i8", rows, swizzled(16, 2, 4), operand(0, 4));
    checkRoundTrip<int8_t>("i8", rows, swizzled(16, 2, 4), operand(1, 4));
    checkRoundTrip<int32_t>("i32", rows, nvmma(128, 32), scattered);
    checkRoundTrip<int32_t>("i32", rows, swizzled(4, 1, 8), operand(0, 1));
    checkRoundTrip<int64_t>("i64", rows, swizzled(2, 1, 4), columns);
  }

  TEST_CASE("a slice keeps the swizzle of its buffer") {
    for (const std::string &encoding : {swizzled(8, 1, 8), nvmma(128, 16)}) {
      CAPTURE(encoding);
      const std::string memory = buffer("64x64", "i16", encoding), part = buffer("32x64", "i16", encoding, "64x64");
      auto lower = loadView(encoding, "  %v = ttg.memdesc_subslice %m[32, 0] : " + memory + " -> " + part + "\n", part,
                            {32, 64});
      CHECK(lower == expected(32, 64, [](int64_t r, int64_t c) { return std::pair(r + 32, c); }));
    }
  }

  TEST_CASE("a transposed buffer swaps rows and columns") {
    const std::string memory = buffer("64x64", "i16", swizzled(8, 1, 8)),
                      turned = buffer("64x64", "i16", swizzled(8, 1, 8, "[0, 1]"));
    auto result =
        loadView(swizzled(8, 1, 8),
                 "  %v = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : " + memory + " -> " + turned + "\n", turned,
                 {64, 64});
    CHECK(result == expected(64, 64, [](int64_t r, int64_t c) { return std::pair(c, r); }));
  }

  TEST_CASE("an index chooses one of several buffers") {
    const std::string encoding = nvmma(128, 16), ring = buffer("3x32x64", "i16", encoding),
                      slot = buffer("32x64", "i16", encoding);
    const std::vector<int64_t> shape = {32, 64};
    std::string body = loadTensor("x", "in", shape, "i16", rows) + "  %m = ttg.local_alloc : () -> " + ring + "\n";
    std::string last;
    for (int i = 0; i < 3; ++i) {
      const std::string n = std::to_string(i), type = tensorType(shape, "i16", rows);
      body += "  %i" + n + " = arith.constant " + n + " : i32\n  %s" + n + " = ttg.memdesc_index %m[%i" + n +
              "] : " + ring + " -> " + slot + "\n  %k" + n + " = arith.constant dense<" + n + "> : " + type + "\n  %x" +
              n + " = arith.addi %x, %k" + n + " : " + type + "\n  ttg.local_store %x" + n + ", %s" + n + " : " + type +
              " -> " + slot + "\n";
    }
    body += "  %which = tt.load %index : !tt.ptr<i32>\n  %v = ttg.memdesc_index %m[%which] : " + ring + " -> " + slot +
            "\n  %y = ttg.local_load %v : " + slot + " -> " + tensorType(shape, "i16", rows) + "\n" +
            storeTensor("y", "out", shape, "i16", rows);
    const CompiledKernel kernel = compileKernel(moduleOf(
        "",
        kernelOf(pointerParameter("in", "i16") + ", %index: !tt.ptr<i32>, " + pointerParameter("out", "i16"), body)));
    std::vector<int16_t> input(32 * 64), wanted;
    std::iota(input.begin(), input.end(), int16_t(1));
    for (int16_t value : input) {
      wanted.push_back(int16_t(value + 2));
    }
    CHECK(runEverywhere<int16_t>(kernel, input.size(), input, std::vector<int32_t>{2}) == wanted);
  }
}
