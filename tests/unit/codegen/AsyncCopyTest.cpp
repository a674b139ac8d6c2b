// cp.async: elements arrive at the wait, and zero where the mask leaves them out.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <numeric>

using namespace jitk::codegen::test;

namespace {

const std::vector<int64_t> shape = {32, 64};
const std::string rows =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
const std::string memory = "!ttg.memdesc<32x64xi16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = "
                           "[1, 0]}>, #ttg.shared_memory, mutable>";

/// Copies a tensor to shared memory with `copyOptions`, waits, and stores it.
CompiledKernel copyKernel(const std::string &before, const std::string &copyOptions) {
  const std::string body =
      rowMajorPointers("x", "in", shape, "i16", rows) + before + "  %m = ttg.local_alloc : () -> " + memory +
      "\n  %t = ttg.async_copy_global_to_local %x_p, %m " + copyOptions + " : " +
      tensorType(shape, "!tt.ptr<i16>", rows) + " -> " + memory +
      "\n  %u = ttg.async_commit_group tokens %t\n  %w = ttg.async_wait %u {num = 0 : i32}\n"
      "  %y = ttg.local_load %m token %w : " +
      memory + " -> " + tensorType(shape, "i16", rows) + "\n" + storeTensor("y", "out", shape, "i16", rows);
  return compileKernel(
      moduleOf("", kernelOf(pointerParameter("in", "i16") + ", " + pointerParameter("out", "i16"), body), 4, 80));
}

std::vector<int16_t> counted() {
  std::vector<int16_t> input(32 * 64);
  std::iota(input.begin(), input.end(), int16_t(1));
  return input;
}

} // namespace

TEST_SUITE("codegen/AsyncCopy") {
  TEST_CASE("copies of 4, 8 and 16 bytes arrive") {
    for (const char *contiguity : {"2", "4", "8"}) {
      CAPTURE(contiguity);
      const CompiledKernel kernel = copyKernel("", std::string("{contiguity = ") + contiguity + " : i32}");
      CHECK(runEverywhere<int16_t>(kernel, 32 * 64, counted()) == counted());
    }
  }

  TEST_CASE("what the mask leaves out is zero, and is not read") {
    const std::string type = tensorType(shape, "i32", rows), row = tensorType({32, 1}, "i32", rows);
    const std::string slice = "#ttg.slice<{dim = 1, parent = " + rows + "}>";
    const std::string mask =
        "  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : " + tensorType({32}, "i32", slice) +
        "\n  %re = tt.expand_dims %r {axis = 1 : i32} : " + tensorType({32}, "i32", slice) + " -> " + row +
        "\n  %limit = arith.constant dense<20> : " + row + "\n  %in_row = arith.cmpi slt, %re, %limit : " + row +
        "\n  %mask = tt.broadcast %in_row : " + tensorType({32, 1}, "i1", rows) + " -> " +
        tensorType(shape, "i1", rows) + "\n  %zero = arith.constant dense<0> : " + tensorType(shape, "i16", rows) +
        "\n";
    const CompiledKernel kernel = copyKernel(mask, "mask %mask other %zero {contiguity = 8 : i32}");
    std::vector<int16_t> input = counted(), wanted = counted();
    input.resize(20 * 64);
    std::fill(wanted.begin() + 20 * 64, wanted.end(), int16_t(0));
    CHECK(runEverywhere<int16_t>(kernel, 32 * 64, input) == wanted);
  }
}
