// What tt.print writes, line by line.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

using namespace jitk::codegen::test;

namespace {

using Lines = std::vector<std::string>;

const std::string row = "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
const std::string square =
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";

/// What the kernel prints, sorted: threads print in any order.
template <typename... In>
Lines linesOf(const CompiledKernel &kernel, std::array<uint32_t, 3> grid, const std::vector<In> &...inputs) {
  jitk::emulator::DeviceOptions options;
  std::mutex mutex;
  Lines lines;
  options.print = [&](std::string_view text) {
    std::lock_guard lock(mutex);
    lines.emplace_back(text);
  };
  Machine machine(options);
  const LaunchReport report = launch(machine, kernel, {machine.upload(inputs)...}, grid);
  INFO(report.toString());
  CHECK(report.clean());
  std::ranges::sort(lines);
  return lines;
}

/// Prints a tensor of the given shape, loaded from the first argument.
CompiledKernel printing(const std::vector<int64_t> &shape, const std::string &element, const std::string &layout,
                        bool isHex = false, bool isSigned = true) {
  return compileKernel(moduleOf(
      "", kernelOf(pointerParameter("in", element), loadTensor("x", "in", shape, element, layout) +
                                                        "  tt.print \" x: \" {hex = " + (isHex ? "true" : "false") +
                                                        ", isSigned = array<i32: " + (isSigned ? "1" : "0") +
                                                        ">} : %x : " + tensorType(shape, element, layout) + "\n")));
}

} // namespace

TEST_SUITE("codegen/Print") {
  TEST_CASE("each element is printed once, with its place") {
    // 16 elements over 256 registers: one thread of those that hold an element prints it.
    std::vector<int32_t> input;
    Lines wanted;
    for (int32_t i = 0; i < 16; ++i) {
      input.push_back(i * 100 - 700);
      wanted.push_back("pid (0, 0, 0) idx (" + std::to_string(i) + ") x: " + std::to_string(i * 100 - 700) + "\n");
    }
    std::ranges::sort(wanted);
    CHECK(linesOf(printing({16}, "i32", row), {1, 1, 1}, input) == wanted);
  }

  TEST_CASE("the place is the row and the column") {
    std::vector<float> input;
    Lines wanted;
    for (int r = 0; r < 64; ++r) {
      for (int c = 0; c < 16; ++c) {
        input.push_back(float(r) + float(c) / 16);
        char text[64];
        std::snprintf(text, sizeof text, "pid (0, 0, 0) idx (%d, %d) x: %f\n", r, c, r + c / 16.0);
        wanted.push_back(text);
      }
    }
    std::ranges::sort(wanted);
    CHECK(linesOf(printing({64, 16}, "f32", square), {1, 1, 1}, input) == wanted);
  }

  TEST_CASE("each type is printed in its own way") {
    auto first = [](const Lines &lines) { return lines.front(); };
    const std::array<uint32_t, 3> one = {1, 1, 1};
    const std::string line = "pid (0, 0, 0) idx (0) x: ";
    CHECK(first(linesOf(printing({1}, "i8", row), one, std::vector<int8_t>{-3})) == line + "-3\n");
    CHECK(first(linesOf(printing({1}, "i8", row, false, false), one, std::vector<int8_t>{-3})) == line + "253\n");
    CHECK(first(linesOf(printing({1}, "i16", row, true), one, std::vector<int16_t>{-3})) == line + "0xfffd\n");
    CHECK(first(linesOf(printing({1}, "i64", row), one, std::vector<int64_t>{-5000000000})) == line + "-5000000000\n");
    CHECK(first(linesOf(printing({1}, "i64", row, true), one, std::vector<int64_t>{-1})) ==
          line + "0xffffffffffffffff\n");
    CHECK(first(linesOf(printing({1}, "f16", row), one, std::vector<uint16_t>{0xbe00})) == line + "-1.500000\n");
    CHECK(first(linesOf(printing({1}, "bf16", row), one, std::vector<uint16_t>{0x4049})) == line + "3.140625\n");
    CHECK(first(linesOf(printing({1}, "f8E4M3FN", row), one, std::vector<uint8_t>{0x3c})) == line + "1.500000\n");
    CHECK(first(linesOf(printing({1}, "f64", row), one, std::vector<double>{0.125})) == line + "0.125000\n");
    CHECK(first(linesOf(printing({1}, "f32", row, true), one, std::vector<float>{1})) == line + "0x3f800000\n");
  }

  TEST_CASE("scalars and bare texts are printed once a program, with 100 percent of the prefix") {
    const CompiledKernel kernel = compileKernel(moduleOf(
        "", kernelOf("%n: i32, %m: i64", "  tt.print \"at 100%d\" {hex = false, isSigned = array<i32>}\n"
                                         "  tt.print \" n, m: \" {hex = false, isSigned = array<i32: 1, 1>} : %n, %m "
                                         ": i32, i64\n")));
    Lines lines;
    std::mutex mutex;
    jitk::emulator::DeviceOptions options;
    options.print = [&](std::string_view text) {
      std::lock_guard lock(mutex);
      lines.emplace_back(text);
    };
    Machine machine(options);
    CHECK(launch(machine, kernel, {uint64_t(7), uint64_t(1) << 40}, {2, 1, 1}).clean());
    std::ranges::sort(lines);
    CHECK(lines == Lines{"pid (0, 0, 0) n, m: (operand 0) 7\n", "pid (0, 0, 0) n, m: (operand 1) 1099511627776\n",
                         "pid (0, 0, 0)at 100%d\n", "pid (1, 0, 0) n, m: (operand 0) 7\n",
                         "pid (1, 0, 0) n, m: (operand 1) 1099511627776\n", "pid (1, 0, 0)at 100%d\n"});
  }
}
