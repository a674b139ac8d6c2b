// tt.atomic_rmw, tt.atomic_cas, tt.histogram, tt.gather: threads meet in memory.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <algorithm>
#include <numeric>

using namespace jitk::codegen::test;

namespace {

const std::string layout = "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
/// Fewer elements than threads: several threads hold each.
const std::string shared = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";

std::string pointersTo(const std::string &name, const std::string &base, const std::string &offsets, int64_t count,
                       const std::string &element, const std::string &encoding) {
  const std::string pointers = tensorType({count}, "!tt.ptr<" + element + ">", encoding);
  return "  %" + name + "_b = tt.splat %" + base + " : !tt.ptr<" + element + "> -> " + pointers + "\n  %" + name +
         " = tt.addptr %" + name + "_b, %" + offsets + " : " + pointers + ", " + tensorType({count}, "i32", encoding) +
         "\n";
}

std::string parameters(const std::string &element = "i32") {
  return pointerParameter("in", element) + ", " + pointerParameter("out", element);
}

} // namespace

TEST_SUITE("codegen/Atomics") {
  TEST_CASE("each element adds once, whichever threads hold it") {
    for (const std::string &encoding : {layout, shared}) {
      const int64_t count = encoding == layout ? 512 : 16;
      CAPTURE(count);
      // Adds x[i] to out[i % 8].
      const std::string body =
          loadTensor("x", "in", {count}, "i32", encoding) + rowMajorIndex("n", {count}, encoding) +
          "  %m = arith.constant dense<7> : " + tensorType({count}, "i32", encoding) +
          "\n  %o = arith.andi %n, %m : " + tensorType({count}, "i32", encoding) + "\n" +
          pointersTo("p", "out", "o", count, "i32", encoding) + "  %old = tt.atomic_rmw add, relaxed, gpu, %p, %x : (" +
          tensorType({count}, "!tt.ptr<i32>", encoding) + ", " + tensorType({count}, "i32", encoding) + ") -> " +
          tensorType({count}, "i32", encoding) + "\n";
      const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters(), body)));
      std::vector<int32_t> input(count), expected(8);
      for (int64_t i = 0; i < count; ++i) {
        input[i] = int32_t(i * i + 1);
        expected[i % 8] += input[i];
      }
      CHECK(runEverywhere<int32_t>(kernel, 8, input) == expected);
    }
  }

  TEST_CASE("old values reach every thread that holds the element") {
    const int64_t count = 16;
    const std::string tensor = tensorType({count}, "i32", shared);
    const std::string body =
        loadTensor("x", "in", {count}, "i32", shared) + rowMajorIndex("n", {count}, shared) +
        pointersTo("p", "in", "n", count, "i32", shared) + "  %old = tt.atomic_rmw max, acq_rel, gpu, %p, %n : (" +
        tensorType({count}, "!tt.ptr<i32>", shared) + ", " + tensor + ") -> " + tensor + "\n" +
        "  %y = arith.addi %old, %n : " + tensor + "\n" + storeTensor("y", "out", {count}, "i32", shared);
    const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters(), body)));
    std::vector<int32_t> input(count), expected(count);
    std::iota(input.begin(), input.end(), 100);
    for (int64_t i = 0; i < count; ++i) {
      expected[i] = input[i] + int32_t(i);
    }
    CHECK(runEverywhere<int32_t>(kernel, count, input) == expected);
  }

  TEST_CASE("a scalar atomic is executed by one thread and its result known to all") {
    const std::string tensor = tensorType({512}, "i32", layout);
    const std::string body = "  %c = arith.constant 5 : i32\n  %t = arith.constant true\n"
                             "  %old = tt.atomic_rmw add, acq_rel, gpu, %in, %c, %t : (!tt.ptr<i32>, i32, i1) -> i32\n"
                             "  %new = tt.atomic_cas acq_rel, gpu, %in, %old, %c : (!tt.ptr<i32>, i32, i32) -> i32\n"
                             "  %sum = arith.addi %old, %new : i32\n  %y = tt.splat %sum : i32 -> " +
                             tensor + "\n" + storeTensor("y", "out", {512}, "i32", layout);
    const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters(), body)));
    // 37 becomes 42; 42 is not 37, so that the swap does not happen.
    CHECK(runEverywhere<int32_t>(kernel, 512, std::vector<int32_t>{37}) == std::vector<int32_t>(512, 37 + 42));
  }

  TEST_CASE("floats add atomically") {
    const int64_t count = 512;
    const std::string tensor = tensorType({count}, "f32", layout);
    const std::string body = loadTensor("x", "in", {count}, "f32", layout) + rowMajorIndex("n", {count}, layout) +
                             "  %z = arith.constant dense<0> : " + tensorType({count}, "i32", layout) + "\n" +
                             pointersTo("p", "out", "z", count, "f32", layout) +
                             "  %old = tt.atomic_rmw fadd, relaxed, gpu, %p, %x : (" +
                             tensorType({count}, "!tt.ptr<f32>", layout) + ", " + tensor + ") -> " + tensor + "\n";
    const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters("f32"), body)));
    std::vector<float> input(count);
    std::iota(input.begin(), input.end(), 1.0f);
    CHECK(runEverywhere<float>(kernel, 1, input) == std::vector<float>{512 * 513 / 2});
  }

  TEST_CASE("16-bit elements, by instructions or by compare and swap") {
    const std::string tensor = tensorType({256}, "i32", layout);
    /// All 256 elements of the input combine into out[0]; out[1], masked, stays.
    auto run = [&]<typename T>(const std::string &operation, const std::string &element, int capability, T start,
                               const std::vector<T> &input) {
      const std::string values = tensorType({256}, element, layout), masks = tensorType({256}, "i1", layout);
      const std::string body =
          loadTensor("x", "in", {256}, element, layout) + "  %z = arith.constant dense<0> : " + tensor +
          "\n  %one = arith.constant dense<1> : " + tensor + "\n  %no = arith.constant dense<false> : " + masks + "\n" +
          pointersTo("p", "out", "z", 256, element, layout) + pointersTo("q", "out", "one", 256, element, layout) +
          "  %i = arith.constant " + (element == "i16" ? std::to_string(start) : "0.0") + " : " + element +
          "\n  tt.store %out, %i : !tt.ptr<" + element + ">\n  ttg.local_barrier\n  %old = tt.atomic_rmw " + operation +
          ", relaxed, gpu, %p, %x : (" + tensorType({256}, "!tt.ptr<" + element + ">", layout) + ", " + values +
          ") -> " + values + "\n  %kept = tt.atomic_rmw " + operation + ", relaxed, gpu, %q, %x, %no : (" +
          tensorType({256}, "!tt.ptr<" + element + ">", layout) + ", " + values + ", " + masks + ") -> " + values +
          "\n";
      const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters(element), body), 4, capability));
      const std::vector<T> result = runEverywhere<T>(kernel, 2, input);
      CHECK(result[1] == 0);
      return result[0];
    };
    std::vector<int16_t> numbers(256);
    for (int i = 0; i < 256; ++i) {
      numbers[i] = int16_t((i * 37 % 256) - 128);
    }
    // The sum of -128 .. 127 is -128.
    CHECK(run("add", "i16", 90, int16_t(1000), numbers) == 872);
    CHECK(run("max", "i16", 80, int16_t(5), numbers) == 127);
    CHECK(run("min", "i16", 90, int16_t(5), numbers) == -128);
    CHECK(run("umax", "i16", 90, int16_t(5), numbers) == -1);
    CHECK(run("umin", "i16", 90, int16_t(5), numbers) == 0);
    CHECK(run("and", "i16", 90, int16_t(-1), std::vector<int16_t>(256, 0x0ff0)) == 0x0ff0);
    CHECK(run("or", "i16", 90, int16_t(1), std::vector<int16_t>(256, 0x0f0)) == 0x0f1);
    CHECK(run("xor", "i16", 90, int16_t(3), std::vector<int16_t>(256, 5)) == 3);
    CHECK(run("exch", "i16", 90, int16_t(3), std::vector<int16_t>(256, 5)) == 5);
    // 256 times 0.5, exact in every order: 128 is 0x5800 as f16, 0x4300 as bf16.
    for (int capability : {80, 90}) {
      CAPTURE(capability);
      CHECK(run("fadd", "f16", capability, uint16_t(0), std::vector<uint16_t>(256, 0x3800)) == 0x5800);
      CHECK(run("fadd", "bf16", capability, uint16_t(0), std::vector<uint16_t>(256, 0x3f00)) == 0x4300);
    }
  }

  TEST_CASE("the old value of a 16-bit swap reaches the thread") {
    const std::string values = tensorType({128}, "bf16", shared);
    const std::string body =
        loadTensor("x", "in", {128}, "bf16", shared) + rowMajorIndex("n", {128}, shared) +
        pointersTo("p", "in", "n", 128, "bf16", shared) + "  %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x : (" +
        tensorType({128}, "!tt.ptr<bf16>", shared) + ", " + values + ") -> " + values + "\n" +
        "  %new = tt.load %p : " + tensorType({128}, "!tt.ptr<bf16>", shared) +
        "\n  %y = arith.addf %old, %new : " + values + "\n" + storeTensor("y", "out", {128}, "bf16", shared);
    const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters("bf16"), body), 4, 80));
    // x + 2 x for x = 1.5.
    CHECK(runEverywhere<uint16_t>(kernel, 128, std::vector<uint16_t>(128, 0x3fc0)) ==
          std::vector<uint16_t>(128, 0x4090));
  }

  TEST_CASE("a histogram counts what has a bin and is not masked") {
    const std::string bins =
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    const std::string body = loadTensor("x", "in", {512}, "i32", layout) + rowMajorIndex("n", {512}, layout) +
                             "  %c = arith.constant dense<500> : " + tensorType({512}, "i32", layout) +
                             "\n  %m = arith.cmpi slt, %n, %c : " + tensorType({512}, "i32", layout) +
                             "\n  %y = tt.histogram %x, %m : " + tensorType({512}, "i32", layout) + " -> " +
                             tensorType({16}, "i32", bins) + "\n" + storeTensor("y", "out", {16}, "i32", bins);
    const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters(), body)));
    std::vector<int32_t> input(512), expected(16);
    for (int i = 0; i < 512; ++i) {
      input[i] = i % 19;
      if (input[i] < 16 && i < 500) {
        ++expected[input[i]];
      }
    }
    CHECK(runEverywhere<int32_t>(kernel, 16, input) == expected);
  }

  TEST_CASE("a gather picks elements along its axis") {
    const std::vector<int64_t> shape = {16, 32};
    const std::string encoding =
        "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>";
    for (int axis : {0, 1}) {
      CAPTURE(axis);
      const std::string tensor = tensorType(shape, "i32", encoding);
      const std::string body =
          loadTensor("x", "in", shape, "i32", encoding) + "  %c = arith.constant dense<" +
          std::to_string(shape[axis] - 1) + "> : " + tensor + "\n  %i = arith.andi %x, %c : " + tensor +
          "\n  %y = tt.gather %x[%i] {axis = " + std::to_string(axis) + " : i32} : (" + tensor + ", " + tensor +
          ") -> " + tensor + "\n" + storeTensor("y", "out", shape, "i32", encoding);
      const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters(), body)));
      std::vector<int32_t> input(512), expected(512);
      for (int i = 0; i < 512; ++i) {
        input[i] = i * 2654435 >> 3;
      }
      for (int r = 0; r < 16; ++r) {
        for (int c = 0; c < 32; ++c) {
          const int index = input[r * 32 + c] & (int(shape[axis]) - 1);
          expected[r * 32 + c] = axis == 0 ? input[index * 32 + c] : input[r * 32 + index];
        }
      }
      CHECK(runEverywhere<int32_t>(kernel, 512, input) == expected);
    }
  }
}
