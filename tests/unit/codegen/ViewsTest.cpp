// Views, control flow, calls: what moves values between names.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <numeric>

using namespace jitk::codegen::test;

namespace {

std::string parameters() { return pointerParameter("in", "i32") + ", " + pointerParameter("out", "i32"); }

std::vector<int32_t> counting(size_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

const std::string rowsOf =
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
const std::string columnsOf =
    "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>";
const std::string flat = "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";

} // namespace

TEST_SUITE("codegen/Views") {
  TEST_CASE("a transpose renames dimensions") {
    const std::string body = loadTensor("x", "in", {16, 32}, "i32", rowsOf) +
                             "  %y = tt.trans %x {order = array<i32: 1, 0>} : " + tensorType({16, 32}, "i32", rowsOf) +
                             " -> " + tensorType({32, 16}, "i32", columnsOf) + "\n" +
                             storeTensor("y", "out", {32, 16}, "i32", columnsOf);
    const std::vector<int32_t> output =
        runEverywhere<int32_t>(compileKernel(moduleOf("", kernelOf(parameters(), body))), 512, counting(512));
    for (int r = 0; r < 32; ++r) {
      for (int c = 0; c < 16; ++c) {
        CHECK(output[r * 16 + c] == c * 32 + r);
      }
    }
  }

  TEST_CASE("a reshape keeps row-major order") {
    const std::string body =
        loadTensor("x", "in", {512}, "i32", flat) + "  %y = tt.reshape %x : " + tensorType({512}, "i32", flat) +
        " -> " + tensorType({16, 32}, "i32", rowsOf) + "\n" + storeTensor("y", "out", {16, 32}, "i32", rowsOf);
    CHECK(runEverywhere<int32_t>(compileKernel(moduleOf("", kernelOf(parameters(), body))), 512, counting(512)) ==
          counting(512));
  }

  TEST_CASE("join and split are inverse, and join interleaves") {
    const std::string pair =
        "#ttg.blocked<{sizePerThread = [4, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>";
    const std::string tensor = tensorType({512}, "i32", flat), joined = tensorType({512, 2}, "i32", pair);
    const std::string body = loadTensor("x", "in", {512}, "i32", flat) + "  %d = arith.addi %x, %x : " + tensor +
                             "\n  %j = tt.join %x, %d : " + tensor + " -> " + joined +
                             "\n  %l, %r = tt.split %j : " + joined + " -> " + tensor +
                             "\n  %s = tt.join %r, %l : " + tensor + " -> " + joined + "\n" +
                             storeTensor("s", "out", {512, 2}, "i32", pair);
    const std::vector<int32_t> output =
        runEverywhere<int32_t>(compileKernel(moduleOf("", kernelOf(parameters(), body))), 1024, counting(512));
    for (int i = 0; i < 512; ++i) {
      CHECK(output[2 * i] == 2 * i);
      CHECK(output[2 * i + 1] == i);
    }
  }

  TEST_CASE("a concatenation holds all elements, in some order") {
    const std::string wide =
        "#ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    const std::string tensor = tensorType({512}, "i32", flat);
    const std::string body = loadTensor("x", "in", {512}, "i32", flat) +
                             "  %c = arith.constant dense<512> : " + tensor + "\n  %d = arith.addi %x, %c : " + tensor +
                             "\n  %y = tt.cat %x, %d : " + tensor + " -> " + tensorType({1024}, "i32", wide) + "\n" +
                             storeTensor("y", "out", {1024}, "i32", wide);
    std::vector<int32_t> output =
        runEverywhere<int32_t>(compileKernel(moduleOf("", kernelOf(parameters(), body))), 1024, counting(512));
    std::sort(output.begin(), output.end());
    CHECK(output == counting(1024));
  }

  TEST_CASE("loops and branches carry tensors") {
    // Doubles while below 100, adding the iteration in odd ones.
    const std::string tensor = tensorType({512}, "i32", flat);
    const std::string body =
        loadTensor("x", "in", {512}, "i32", flat) +
        "  %c0 = arith.constant 0 : i32\n  %c1 = arith.constant 1 : i32\n  %c5 = arith.constant 5 : i32\n"
        "  %y = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> (" +
        tensor +
        ") : i32 {\n"
        "    %odd = arith.andi %i, %c1 : i32\n    %is = arith.cmpi eq, %odd, %c1 : i32\n"
        "    %r = scf.if %is -> (" +
        tensor + ") {\n      %s = tt.splat %i : i32 -> " + tensor + "\n      %t = arith.addi %a, %s : " + tensor +
        "\n      scf.yield %t : " + tensor + "\n    } else {\n      %d = arith.addi %a, %a : " + tensor +
        "\n      scf.yield %d : " + tensor + "\n    }\n    scf.yield %r : " + tensor + "\n  }\n" +
        storeTensor("y", "out", {512}, "i32", flat);
    std::vector<int32_t> expected = counting(512);
    for (int32_t &value : expected) {
      for (int i = 0; i < 5; ++i) {
        value = i % 2 ? value + i : 2 * value;
      }
    }
    CHECK(runEverywhere<int32_t>(compileKernel(moduleOf("", kernelOf(parameters(), body))), 512, counting(512)) ==
          expected);
  }

  TEST_CASE("scalar code with branches runs on each pack of elements") {
    // The larger of two neighbours goes first, and odd ones are negated.
    const std::string tensor = tensorType({512}, "i32", flat);
    const std::string body = loadTensor("x", "in", {512}, "i32", flat) +
                             "  %y = \"tt.map_elementwise\"(%x) <{pack = 2 : i32}> ({\n  ^bb0(%a: i32, %b: i32):\n"
                             "    %m = arith.maxsi %a, %b : i32\n    %n = arith.minsi %a, %b : i32\n"
                             "    %one = arith.constant 1 : i32\n    %zero = arith.constant 0 : i32\n"
                             "    %odd = arith.andi %m, %one : i32\n    %is = arith.cmpi ne, %odd, %zero : i32\n"
                             "    %r = scf.if %is -> (i32) {\n      %neg = arith.subi %zero, %m : i32\n"
                             "      scf.yield %neg : i32\n    } else {\n      scf.yield %m : i32\n    }\n"
                             "    tt.map_elementwise.return %r, %n : i32, i32\n  }) : (" +
                             tensor + ") -> " + tensor + "\n" + storeTensor("y", "out", {512}, "i32", flat);
    std::vector<int32_t> expected;
    for (int i = 0; i < 512; i += 2) {
      expected.push_back(-(i + 1));
      expected.push_back(i);
    }
    CHECK(runEverywhere<int32_t>(compileKernel(moduleOf("", kernelOf(parameters(), body))), 512, counting(512)) ==
          expected);
  }

  TEST_CASE("device functions take and return tensors, and have shared memory of their own") {
    const std::string tensor = tensorType({512}, "i32", flat);
    const std::string reduce = "    %s = \"tt.reduce\"(%a) <{axis = 0 : i32}> ({\n    ^bb0(%u: i32, %v: i32):\n"
                               "      %w = arith.maxsi %u, %v : i32\n      tt.reduce.return %w : i32\n    }) : (" +
                               tensor + ") -> i32\n";
    const std::string device = "tt.func private @f(%a: " + tensor + ") -> (" + tensor +
                               ", i32) attributes {noinline = true} {\n" + reduce + "    %t = tt.splat %s : i32 -> " +
                               tensor + "\n    %d = arith.subi %t, %a : " + tensor +
                               "\n    tt.return %d, %s : " + tensor + ", i32\n}\n";
    const std::string body = loadTensor("x", "in", {512}, "i32", flat) + "  %y:2 = tt.call @f(%x) : (" + tensor +
                             ") -> (" + tensor + ", i32)\n  %z:2 = tt.call @f(%y#0) : (" + tensor + ") -> (" + tensor +
                             ", i32)\n" + "  %m = tt.splat %z#1 : i32 -> " + tensor +
                             "\n  %r = arith.addi %z#0, %m : " + tensor + "\n" +
                             storeTensor("r", "out", {512}, "i32", flat);
    // y = 511 - x, z = 511 - y = x, r = x + 511.
    std::vector<int32_t> expected = counting(512);
    for (int32_t &value : expected) {
      value += 511;
    }
    const CompiledKernel kernel = compileKernel(moduleOf("", device + kernelOf(parameters(), body)));
    CHECK(runEverywhere<int32_t>(kernel, 512, counting(512)) == expected);
  }
}
