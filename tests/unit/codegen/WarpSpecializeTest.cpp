// ttg.warp_specialize: partitions run beside the default region, with captures, results, barriers of their own.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <numeric>

using namespace jitk::codegen::test;

namespace {

std::string parameters() { return pointerParameter("in", "i32") + ", " + pointerParameter("out", "i32"); }

std::string blocked(int numWarps) {
  return "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [" + std::to_string(numWarps) +
         "], order = [0]}>";
}

/// Lines that store in[first + i] * factor to out[first + i] for i < 128, for `numWarps` warps.
std::string copyPart(const std::string &in, const std::string &out, int first, const std::string &factor, int numWarps,
                     const std::string &prefix) {
  const std::string layout = blocked(numWarps), tensor = tensorType({128}, "i32", layout);
  const std::string offset = "  %" + prefix + "o = arith.constant " + std::to_string(first) + " : i32\n";
  return offset + "  %" + prefix + "in = tt.addptr %" + in + ", %" + prefix + "o : !tt.ptr<i32>, i32\n  %" + prefix +
         "out = tt.addptr %" + out + ", %" + prefix + "o : !tt.ptr<i32>, i32\n" +
         loadTensor(prefix + "x", prefix + "in", {128}, "i32", layout) + "  %" + prefix + "f = tt.splat %" + factor +
         " : i32 -> " + tensor + "\n  %" + prefix + "y = arith.muli %" + prefix + "x, %" + prefix + "f : " + tensor +
         "\n" + storeTensor(prefix + "y", prefix + "out", {128}, "i32", layout);
}

/// The same with the maximum of the part as the factor: needs shared memory and barriers.
std::string scalePart(const std::string &in, const std::string &out, int first, int numWarps,
                      const std::string &prefix) {
  const std::string layout = blocked(numWarps), tensor = tensorType({128}, "i32", layout);
  return "  %" + prefix + "mo = arith.constant " + std::to_string(first) + " : i32\n  %" + prefix +
         "min = tt.addptr %" + in + ", %" + prefix + "mo : !tt.ptr<i32>, i32\n" +
         loadTensor(prefix + "m", prefix + "min", {128}, "i32", layout) + "  %" + prefix + "s = \"tt.reduce\"(%" +
         prefix +
         "m) <{axis = 0 : i32}> ({\n  ^bb0(%u: i32, %v: i32):\n"
         "    %w = arith.maxsi %u, %v : i32\n    tt.reduce.return %w : i32\n  }) : (" +
         tensor + ") -> i32\n" + copyPart(in, out, first, prefix + "s", numWarps, prefix);
}

std::vector<int32_t> counting(size_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

std::vector<int32_t> scaled(size_t count) {
  std::vector<int32_t> expected = counting(count);
  for (size_t i = 0; i < count; ++i) {
    expected[i] *= int32_t(i / 128 * 128 + 127);
  }
  return expected;
}

} // namespace

TEST_SUITE("codegen/WarpSpecialize") {
  TEST_CASE("partitions of one, two and four warps reduce in parts of their own") {
    const std::string captured = "(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>)";
    const std::string body =
        "  ttg.warp_specialize(%in, %out) attributes {requestedRegisters = array<i32: 24, 40, 24>}\n  default {\n" +
        scalePart("in", "out", 0, 4, "d") + "    ttg.warp_yield\n  }\n  partition0" + captured + " num_warps(1) {\n" +
        scalePart("a", "b", 128, 1, "p") + "    ttg.warp_return\n  }\n  partition1" + captured + " num_warps(4) {\n" +
        scalePart("a", "b", 256, 4, "q") + "    ttg.warp_return\n  }\n  partition2" + captured + " num_warps(2) {\n" +
        scalePart("a", "b", 384, 2, "r") + "    ttg.warp_return\n  } : (!tt.ptr<i32>, !tt.ptr<i32>) -> ()\n";
    const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters(), body)));
    CHECK(kernel.threads == 12 * 32);
    CHECK(runEverywhere<int32_t>(kernel, 512, counting(512)) == scaled(512));
  }

  TEST_CASE("a loop of specializations with captured values and a result") {
    // Iteration k scales by a loaded value and by k; the result is carried.
    const std::string captured = "(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %k: i32)";
    const std::string body =
        "  %c0 = arith.constant 0 : i32\n  %c1 = arith.constant 1 : i32\n  %c3 = arith.constant 3 : i32\n"
        "  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%n = %c1) -> (i32) : i32 {\n"
        "    %f = arith.addi %n, %i : i32\n"
        "    %r = ttg.warp_specialize(%in, %out, %f)\n    default {\n" +
        copyPart("in", "out", 0, "f", 4, "d") +
        "      %t = arith.addi %f, %c1 : i32\n      ttg.warp_yield %t : i32\n    }\n    partition0" + captured +
        " num_warps(4) {\n" + copyPart("a", "b", 128, "k", 4, "p") +
        "      ttg.warp_return\n    } : (!tt.ptr<i32>, !tt.ptr<i32>, i32) -> i32\n"
        "    scf.yield %r : i32\n  }\n" +
        copyPart("in", "out", 256, "last", 4, "e");
    const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters(), body)));
    // f: 1, then (2 + 1) = 3, then (4 + 2) = 6; the result is 7.
    std::vector<int32_t> expected = counting(384);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] *= i < 256 ? 6 : 7;
    }
    CHECK(runEverywhere<int32_t>(kernel, 384, counting(384)) == expected);
  }

  TEST_CASE("memory barriers pass a buffer from a producer to a consumer") {
    // The default region fills a ring of two slots, the partition empties it.
    const std::string shared = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>";
    const std::string smem = "#ttg.shared_memory";
    const std::string ring = "!ttg.memdesc<2x128xi32, " + shared + ", " + smem + ", mutable>";
    const std::string slot = "!ttg.memdesc<128xi32, " + shared + ", " + smem + ", mutable>";
    const std::string bars = "!ttg.memdesc<2x1xi64, " + shared + ", " + smem + ", mutable>";
    const std::string bar = "!ttg.memdesc<1xi64, " + shared + ", " + smem + ", mutable>";
    const std::string layout = blocked(4), tensor = tensorType({128}, "i32", layout);
    auto init = [&](const std::string &bank, int index) {
      const std::string name = bank + std::to_string(index);
      return "  %" + name + " = ttg.memdesc_index %" + bank + "[%c" + std::to_string(index) + "] : " + bars + " -> " +
             bar + "\n  ttng.init_barrier %" + name + ", 1 : " + bar + "\n";
    };
    auto loop = [&](const std::string &prefix, const std::string &before) {
      return before + "  %" + prefix + "z = arith.constant 0 : i32\n  %" + prefix + "u = arith.constant 1 : i32\n  %" +
             prefix + "e = arith.constant 6 : i32\n  %" + prefix + "s = arith.constant 128 : i32\n  scf.for %i = %" +
             prefix + "z to %" + prefix + "e step %" + prefix + "u : i32 {\n    %k = arith.andi %i, %" + prefix +
             "u : i32\n    %h = arith.shrui %i, %" + prefix + "u : i32\n    %ph = arith.andi %h, %" + prefix +
             "u : i32\n    %nph = arith.xori %ph, %" + prefix + "u : i32\n    %off = arith.muli %i, %" + prefix +
             "s : i32\n";
    };
    auto views = [&](const std::string &r, const std::string &f, const std::string &e) {
      return "    %v = ttg.memdesc_index %" + r + "[%k] : " + ring + " -> " + slot + "\n    %fb = ttg.memdesc_index %" +
             f + "[%k] : " + bars + " -> " + bar + "\n    %eb = ttg.memdesc_index %" + e + "[%k] : " + bars + " -> " +
             bar + "\n";
    };
    const std::string body =
        "  %c0 = arith.constant 0 : i32\n  %c1 = arith.constant 1 : i32\n  %ring = ttg.local_alloc : () -> " + ring +
        "\n  %full = ttg.local_alloc : () -> " + bars + "\n  %empty = ttg.local_alloc : () -> " + bars + "\n" +
        init("full", 0) + init("full", 1) + init("empty", 0) + init("empty", 1) +
        "  ttg.warp_specialize(%ring, %full, %empty, %out)\n  default {\n" + loop("d", "") +
        views("ring", "full", "empty") + "    ttng.wait_barrier %eb, %nph : " + bar +
        "\n    %src = tt.addptr %in, %off : !tt.ptr<i32>, i32\n" + loadTensor("x", "src", {128}, "i32", layout) +
        "    ttg.local_store %x, %v : " + tensor + " -> " + slot + "\n    ttng.arrive_barrier %fb, 1 : " + bar +
        "\n  }\n    ttg.warp_yield\n  }\n  partition0(%r: " + ring + ", %f: " + bars + ", %e: " + bars +
        ", %o: !tt.ptr<i32>) num_warps(4) {\n" + loop("p", "") + views("r", "f", "e") +
        "    ttng.wait_barrier %fb, %ph : " + bar + "\n    %x = ttg.local_load %v : " + slot + " -> " + tensor +
        "\n    ttng.arrive_barrier %eb, 1 : " + bar + "\n    %y = arith.addi %x, %x : " + tensor +
        "\n    %dst = tt.addptr %o, %off : !tt.ptr<i32>, i32\n" + storeTensor("y", "dst", {128}, "i32", layout) +
        "  }\n    ttg.warp_return\n  } : (" + ring + ", " + bars + ", " + bars + ", !tt.ptr<i32>) -> ()\n";
    const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters(), body)));
    std::vector<int32_t> expected = counting(768);
    for (int32_t &value : expected) {
      value *= 2;
    }
    CHECK(runEverywhere<int32_t>(kernel, 768, counting(768)) == expected);
  }

  TEST_CASE(
      "replicas of a partition, of which the kernel's warps are one, each pass values through a slot of their own") {
    // Each of three copies its part through shared memory in which other threads read it: they meet without the others.
    const std::string shared = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>";
    const std::string slots = "!ttg.memdesc<3x128xi32, " + shared + ", #ttg.shared_memory, mutable>";
    const std::string slot = "!ttg.memdesc<128xi32, " + shared + ", #ttg.shared_memory, mutable>";
    const std::string writers = blocked(4);
    const std::string readers =
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    const std::string captured = "(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %s: " + slots + ")";
    const std::string body =
        "  %slots = ttg.local_alloc : () -> " + slots +
        "\n  ttg.warp_specialize(%in, %out, %slots) attributes {partitionReplicas = array<i32: 3, 1>, "
        "requestedRegisters = array<i32: 152, 24>, warpGroupStartIds = array<i32: 0, 12>}\n  default {\n"
        "    ttg.warp_yield\n  }\n  partition0" +
        captured +
        " num_warps(4) {\n    %id = ttg.replica_id\n    %n = arith.constant 128 : i32\n"
        "    %first = arith.muli %id, %n : i32\n    %src = tt.addptr %a, %first : !tt.ptr<i32>, i32\n"
        "    %dst = tt.addptr %b, %first : !tt.ptr<i32>, i32\n" +
        loadTensor("x", "src", {128}, "i32", writers) + "    %v = ttg.memdesc_index %s[%id] : " + slots + " -> " +
        slot + "\n    ttg.local_store %x, %v : " + tensorType({128}, "i32", writers) + " -> " + slot +
        "\n    %y = ttg.local_load %v : " + slot + " -> " + tensorType({128}, "i32", readers) + "\n" +
        storeTensor("y", "dst", {128}, "i32", readers) + "    ttg.warp_return\n  }\n  partition1" + captured +
        " num_warps(1) {\n" + scalePart("a", "b", 384, 1, "p") +
        "    ttg.warp_return\n  } : (!tt.ptr<i32>, !tt.ptr<i32>, " + slots + ") -> ()\n" +
        scalePart("in", "out", 512, 4, "e");
    const CompiledKernel kernel = compileKernel(moduleOf("", kernelOf(parameters(), body)));
    CHECK(kernel.threads == 16 * 32);
    std::vector<int32_t> expected = scaled(640);
    std::iota(expected.begin(), expected.begin() + 384, 0);
    CHECK(runEverywhere<int32_t>(kernel, 640, counting(640)) == expected);
  }
}
