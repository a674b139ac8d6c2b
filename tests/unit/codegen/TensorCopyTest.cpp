// Bulk tensor copies through maps made on the device: blocks of several boxes, out of bounds, stores and reductions.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <numeric>

using namespace jitk::codegen::test;

namespace {

const std::string rows =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
const std::string barrier = "!ttg.memdesc<1xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = "
                            "[0]}>, #ttg.shared_memory, mutable>";

/// A row-major matrix in global memory, and the block of it that is copied.
struct Block {
  std::string claim;
  int64_t height, width; ///< of the matrix
  int64_t rows, columns; ///< of the block
  int64_t y = 0, x = 0;  ///< where the block begins
  int swizzle = 128;
  std::string element = "i16";

  int64_t bytes() const { return element == "i16" ? 2 : 4; }

  std::string shared() const {
    return "#ttg.nvmma_shared<{swizzlingByteWidth = " + std::to_string(swizzle) +
           ", transposed = false, elementBitWidth = " + std::to_string(8 * bytes()) + "}>";
  }
  std::string shape() const { return std::to_string(rows) + "x" + std::to_string(columns) + "x" + element + ", "; }
  std::string memory() const { return "!ttg.memdesc<" + shape() + shared() + ", #ttg.shared_memory, mutable>"; }
  std::string descriptor() const { return "!tt.tensordesc<tensor<" + shape() + shared() + ">>"; }
  std::string tensor() const { return tensorType({rows, columns}, element, ::rows); }

  /// Lines that define %desc, a map of the matrix at `base`, and the coordinates %y and %x.
  std::string map(const std::string &base) const {
    const int64_t boxColumns = swizzle ? std::min<int64_t>(columns, swizzle / bytes()) : columns;
    const int field = swizzle == 128 ? 3 : swizzle == 64 ? 2 : swizzle == 32 ? 1 : 0;
    auto constant = [](const std::string &name, int64_t value, const std::string &type) {
      return "  %" + name + " = arith.constant " + std::to_string(value) + " : " + type + "\n";
    };
    return constant("bx", boxColumns, "i32") + constant("by", std::min<int64_t>(rows, 256), "i32") +
           constant("w", width, "i32") + constant("h", height, "i32") + constant("pitch", bytes() * width, "i64") +
           constant("one", 1, "i32") + constant("y", y, "i32") + constant("x", x, "i32") +
           "  %raw = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>\n"
           "  ttng.tensormap_create %raw, %" +
           base +
           ", [%bx, %by], [%w, %h], [%pitch], [%one, %one] {elem_type = " + std::to_string(element == "i16" ? 1 : 3) +
           " : i32, fill_mode = 0 : i32, "
           "interleave_layout = 0 : i32, swizzle_mode = " +
           std::to_string(field) + " : i32} : (!tt.ptr<i8>, !tt.ptr<" + element +
           ">, i32, i32, i32, i32, i64, i32, i32) -> ()\n"
           "  ttng.tensormap_fenceproxy_acquire %raw : !tt.ptr<i8>\n"
           "  %desc = ttng.reinterpret_tensor_descriptor %raw : !tt.ptr<i8> to " +
           descriptor() + "\n";
  }
};

template <typename T> std::vector<T> counted(int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), T(1));
  return values;
}

void checkLoad(const Block &block) {
  CAPTURE(block.claim);
  const std::string body =
      block.map("in") + "  %m = ttg.local_alloc : () -> " + block.memory() + "\n  %b = ttg.local_alloc : () -> " +
      barrier + "\n  ttng.init_barrier %b, 1 : " + barrier +
      "\n  gpu.barrier\n  %true = arith.constant true\n  %zero = arith.constant 0 : i32\n  ttng.barrier_expect %b, " +
      std::to_string(block.rows * block.columns * block.bytes()) + ", %true : " + barrier +
      "\n  ttng.async_tma_copy_global_to_local %desc[%y, %x] %m, %b, %true : " + block.descriptor() + ", " + barrier +
      " -> " + block.memory() + "\n  ttng.wait_barrier %b, %zero : " + barrier +
      "\n  %v = ttg.local_load %m : " + block.memory() + " -> " + block.tensor() + "\n" +
      storeTensor("v", "out", {block.rows, block.columns}, block.element, rows) +
      "  ttng.inval_barrier %b : " + barrier + "\n";
  const CompiledKernel kernel = compileKernel(moduleOf(
      "", kernelOf(pointerParameter("in", block.element) + ", " + pointerParameter("out", block.element), body)));
  const std::vector<int16_t> matrix = counted<int16_t>(block.height * block.width);
  std::vector<int16_t> wanted;
  for (int64_t r = block.y; r < block.y + block.rows; ++r) {
    for (int64_t c = block.x; c < block.x + block.columns; ++c) {
      const bool inside = r >= 0 && r < block.height && c >= 0 && c < block.width;
      wanted.push_back(inside ? matrix[size_t(r * block.width + c)] : int16_t(0));
    }
  }
  CHECK(runEverywhere<int16_t>(kernel, wanted.size(), matrix) == wanted);
}

/// Writes the block, twice, with `op` ("async_tma_copy_local_to_global" or "async_tma_reduce add,") into a zero matrix.
template <typename T> void checkStore(const Block &block, const std::string &op, T times) {
  CAPTURE(block.claim);
  CAPTURE(op);
  const std::string copy = "  ttng." + op + " %desc[%y, %x] %m : " + block.descriptor() + ", " + block.memory() + "\n";
  const std::string body = loadTensor("v", "in", {block.rows, block.columns}, block.element, rows) + block.map("out") +
                           "  %m = ttg.local_alloc : () -> " + block.memory() +
                           "\n  ttg.local_store %v, %m : " + block.tensor() + " -> " + block.memory() +
                           "\n  ttng.fence_async_shared {bCluster = false}\n  gpu.barrier\n" + copy + copy +
                           "  ttng.async_tma_store_wait {pendings = 0 : i32}\n";
  const CompiledKernel kernel = compileKernel(moduleOf(
      "", kernelOf(pointerParameter("in", block.element) + ", " + pointerParameter("out", block.element), body)));
  const std::vector<T> input = counted<T>(block.rows * block.columns);
  std::vector<T> wanted(size_t(block.height * block.width));
  for (int64_t r = 0; r < block.rows; ++r) {
    for (int64_t c = 0; c < block.columns; ++c) {
      if (block.y + r < block.height && block.x + c < block.width) {
        wanted[size_t((block.y + r) * block.width + block.x + c)] = T(times * input[size_t(r * block.columns + c)]);
      }
    }
  }
  CHECK(runEverywhere<T>(kernel, wanted.size(), input) == wanted);
}

} // namespace

TEST_SUITE("codegen/TensorCopy") {
  TEST_CASE("blocks arrive, swizzled or not") {
    checkLoad({.claim = "one box", .height = 64, .width = 64, .rows = 64, .columns = 64});
    checkLoad({.claim = "two boxes", .height = 64, .width = 256, .rows = 32, .columns = 128, .y = 16, .x = 64});
    checkLoad({.claim = "64 bytes", .height = 64, .width = 64, .rows = 32, .columns = 32, .x = 32, .swizzle = 64});
    checkLoad({.claim = "32 bytes", .height = 64, .width = 64, .rows = 32, .columns = 64, .swizzle = 32});
    checkLoad({.claim = "plain", .height = 64, .width = 64, .rows = 32, .columns = 64, .swizzle = 0});
    checkLoad({.claim = "more than 256 rows", .height = 512, .width = 64, .rows = 512, .columns = 64});
  }

  TEST_CASE("what lies outside reads as zero") {
    checkLoad({.claim = "beyond the end", .height = 40, .width = 104, .rows = 32, .columns = 64, .y = 24, .x = 64});
    checkLoad({.claim = "before the start", .height = 64, .width = 64, .rows = 32, .columns = 64, .y = -8, .x = -16});
  }

  TEST_CASE("stores write what lies inside") {
    const Block inside = {.claim = "inside", .height = 64, .width = 256, .rows = 32, .columns = 128, .y = 16, .x = 64};
    const Block edge = {
        .claim = "at the edge", .height = 40, .width = 104, .rows = 32, .columns = 64, .y = 24, .x = 64};
    checkStore<int16_t>(inside, "async_tma_copy_local_to_global", 1);
    checkStore<int16_t>(edge, "async_tma_copy_local_to_global", 1);
    // The engine does not add 16-bit integers.
    const Block sums = {
        .claim = "sums", .height = 64, .width = 64, .rows = 32, .columns = 64, .y = 16, .element = "i32"};
    checkStore<int32_t>(sums, "async_tma_reduce add,", 2);
  }
}
