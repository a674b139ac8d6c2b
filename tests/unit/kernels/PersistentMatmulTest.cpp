// The persistent matmul in every configuration that its model can choose, on small problems that fill none of them
// evenly: tails in every dimension, more tiles than CTAs and fewer, rings that wrap.

#include "src/kernels/matmul/PersistentMatmul.h"

#include "src/ir/ttng/Ttng.h"
#include "src/ops/OpSchema.h"
#include "tests/unit/codegen/SmallNumbers.h"
#include "tests/unit/kernels/EmulatedKernel.h"

#include "mlir/IR/MLIRContext.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::kernels;
using namespace jitk::codegen::test;
using namespace jitk::kernels::test;

TEST_SUITE_BEGIN("kernels/PersistentMatmul");

namespace {

struct Problem {
  int m, n, k;
  bool columnMajorB;
  const char *outType;
  bool addsMore = false; ///< a bias and a residual

  Description describe() const {
    Result<Description> description =
        parseDescription("matmul m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
                         " dtype=bf16 out_dtype=" + outType + " b_layout=" + (columnMajorB ? "col" : "row") +
                         (addsMore ? " bias=true residual=true" : ""));
    REQUIRE(description.ok());
    return *description;
  }
};

std::vector<int> transposed(const std::vector<int> &matrix, int rows, int columns) {
  std::vector<int> result(matrix.size());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      result[size_t(j) * rows + i] = matrix[size_t(i) * columns + j];
    }
  }
  return result;
}

void check(const Problem &problem, const PersistentTile &tile, const std::vector<emulator::DeviceOptions> &devices) {
  CAPTURE(problem.describe().toString());
  CAPTURE(tile.rows);
  CAPTURE(tile.columns);
  std::vector<int> a = smallNumbers(size_t(problem.m) * problem.k, 1);
  std::vector<int> b = smallNumbers(size_t(problem.k) * problem.n, 2);
  std::vector<int> product = multiply(a, b, problem.m, problem.n, problem.k);
  std::vector<std::vector<uint8_t>> inputs = {
      encode(a, bf16), encode(problem.columnMajorB ? transposed(b, problem.k, problem.n) : b, bf16)};
  if (problem.addsMore) {
    std::vector<int> bias = smallNumbers(size_t(problem.n), 3);
    std::vector<int> residual = smallNumbers(product.size(), 4);
    for (size_t i = 0; i < product.size(); ++i) {
      product[i] += bias[i % size_t(problem.n)] + residual[i];
    }
    inputs.push_back(rounded(bias, problem.outType));
    inputs.push_back(rounded(residual, problem.outType));
  }
  std::vector<uint8_t> wanted = rounded(product, problem.outType);
  EmulatedKernel kernel([&](const Target &target, mlir::MLIRContext &context) {
    return buildPersistentMatmul(problem.describe(), PersistentVariant{tile}, target, context);
  });
  for (const emulator::DeviceOptions &options : devices) {
    CAPTURE(options.seed);
    CHECK(kernel.run(options, inputs, wanted.size()) == wanted);
  }
}

} // namespace

TEST_CASE("every tile that the model can choose gives the product") {
  unsigned number = 0;
  auto checkTile = [&](PersistentTile tile, int m, int n) {
    // One tile and a part of one in each direction, three blocks of K and a part of one, through three slots.
    bool isWide = number % 3 == 0 && tile.columns < 248;
    // Three slots beside fp32 results of five parts, or fp32 addends of the widest tiles, would not fit.
    bool addsMore = number % 4 < 2 && !(isWide && tile.columns >= 192);
    Problem problem = {m, n, 200, number % 2 == 0 || tile.joinsParts, isWide ? "fp32" : "bf16", addsMore};
    auto mode = number % 2 ? emulator::AsyncMode::Immediate : emulator::AsyncMode::Deferred;
    tile.stages = 3;
    tile.groupRows = 2;
    // With one block of K too, in which all stores find their place.
    tile.defersStores = tile.numConsumers() == 2 && !tile.transposed;
    check(problem, tile, {deviceOptions(mode, number, 3)});
    ++number;
  };
  for (int64_t rows : {64, 128}) {
    for (int64_t columns : {32, 64, 128, 192, 256}) {
      checkTile({.rows = rows, .columns = columns}, int(rows) + 40, int(columns) + 24);
    }
    // Even tiles of one round have a part of 16 or 32 columns.
    if (rows == 128) {
      checkTile({.rows = rows, .columns = 144}, int(rows) + 40, 144 + 24);
      checkTile({.rows = rows, .columns = 160}, int(rows) + 40, 160 + 136);
      checkTile({.rows = rows, .columns = 80}, int(rows) + 40, 80 + 24);
    }
    // One product of all parts, of which the second tile may have the first few columns.
    for (int64_t columns : {72, 112, 144, 192, 208, 224, 248}) {
      checkTile({.rows = rows, .columns = columns, .joinsParts = true}, int(rows) + 40, int(columns) + 24);
    }
    checkTile({.rows = rows, .columns = 40, .transposed = true, .joinsParts = true}, 37, int(rows) + 24);
    check({int(rows) + 40, 216, 200, false, "bf16"}, {.rows = rows, .columns = 192, .joinsParts = true, .stages = 3},
          {deviceOptions(emulator::AsyncMode::Deferred, 1, 3)});
    // Few rows of A are the columns; none beside them, and one more tile.
    for (int64_t columns : {8, 24, 40, 48, 64, 96, 136, 192}) {
      checkTile({.rows = rows, .columns = columns, .transposed = true}, int(columns) - 3, int(rows) + 24);
    }
    checkTile({.rows = rows, .columns = 16, .transposed = true}, 21, int(rows) + 24);
  }
}

TEST_CASE("the order of threads and of asynchronous work does not matter") {
  std::vector<emulator::DeviceOptions> devices = inBothModes({0, 1, 8812}, 2);
  check({200, 72, 328, true, "bf16"}, {.rows = 128, .columns = 64, .stages = 2, .groupRows = 1}, devices);
  check({72, 136, 328, false, "fp32"}, {.rows = 64, .columns = 64, .stages = 3, .groupRows = 1}, devices);
  check({150, 264, 72, true, "bf16", true}, {.rows = 128, .columns = 128, .stages = 2, .groupRows = 1}, devices);
}

TEST_CASE("two CTAs of a cluster load the columns of both") {
  // Halves of one part and of two, of either layout of B; rows of tiles in pairs, and one that has none beside it; one
  // cluster that takes several pairs, and clusters that take one or none.
  for (uint32_t multiprocessors : {2, 5, 100}) {
    CAPTURE(multiprocessors);
    std::vector<emulator::DeviceOptions> devices = inBothModes({1, 977}, multiprocessors);
    check({300, 200, 200, true, "bf16"}, {.rows = 64, .columns = 64, .stages = 2, .groupRows = 2, .sharers = 2},
          devices);
    check({400, 264, 136, true, "fp32", true}, {.rows = 128, .columns = 192, .stages = 2, .sharers = 2}, devices);
    check({130, 136, 328, false, "bf16", true}, {.rows = 64, .columns = 128, .stages = 3, .sharers = 2}, devices);
    check({300, 264, 136, true, "bf16"}, {.rows = 128, .columns = 144, .joinsParts = true, .stages = 2, .sharers = 2},
          devices);
  }
}

TEST_CASE("the CTAs of a cluster add up their parts of K") {
  std::vector<emulator::DeviceOptions> devices = inBothModes({0, 1, 8812}, 4);
  auto checkCluster = [&](const Problem &problem, PersistentTile tile, int64_t size) {
    CAPTURE(size);
    tile.stages = 3;
    tile.splits = size;
    tile.clustered = true;
    check(problem, tile, devices);
  };
  // A slice for each CTA, and fewer slices than CTAs; parts of two sizes; the last part of K is cut.
  checkCluster({100, 72, 504, true, "bf16", true}, {.rows = 64, .columns = 64}, 2);
  checkCluster({70, 200, 1000, false, "fp32", true}, {.rows = 64, .columns = 128}, 4);
  checkCluster({33, 40, 1000, true, "bf16"}, {.rows = 64, .columns = 32}, 8);
  checkCluster({20, 264, 296, true, "fp32"}, {.rows = 64, .columns = 192}, 2);
  // Of C^T: one slice, two of one part and one of another, and one for each CTA.
  checkCluster({5, 136, 504, true, "bf16", true}, {.rows = 64, .columns = 8, .transposed = true}, 4);
  checkCluster({21, 72, 296, false, "fp32"}, {.rows = 64, .columns = 24, .transposed = true}, 2);
  checkCluster({60, 72, 1000, true, "bf16"}, {.rows = 64, .columns = 64, .transposed = true}, 8);
  checkCluster({90, 72, 1000, true, "bf16"}, {.rows = 64, .columns = 96, .transposed = true}, 4);
  checkCluster({128, 72, 1000, false, "bf16"}, {.rows = 64, .columns = 128, .transposed = true}, 8);
}

TEST_CASE("as many CTAs as tiles, fewer, and more multiprocessors than tiles") {
  for (uint32_t multiprocessors : {1, 6, 100}) {
    CAPTURE(multiprocessors);
    check({150, 60 + 4, 72, false, "bf16"}, {.rows = 64, .columns = 32, .stages = 3, .groupRows = 2},
          {deviceOptions(emulator::AsyncMode::Deferred, 3, multiprocessors)});
  }
}

TEST_CASE("stores beside the next tile's products, with as few blocks of K as there may be") {
  for (int k : {64, 128, 200, 520}) {
    for (uint32_t multiprocessors : {1, 2}) {
      check({200, 328, k, true, "bf16", k == 200},
            {.rows = 128, .columns = 128, .defersStores = true, .stages = 3, .groupRows = 2},
            {deviceOptions(emulator::AsyncMode::Deferred, 3, multiprocessors),
             deviceOptions(emulator::AsyncMode::Immediate, 4, multiprocessors)});
      // Half of the results in fp32, and of an odd number of slices.
      for (int64_t columns : {32, 128, 192, 256}) {
        check({200, 328, k, false, "fp32", k == 200},
              {.rows = 128, .columns = columns, .defersStores = true, .stages = 2, .groupRows = 2},
              {deviceOptions(emulator::AsyncMode::Deferred, 5, multiprocessors),
               deviceOptions(emulator::AsyncMode::Immediate, 6, multiprocessors)});
      }
    }
  }
}

TEST_CASE("tiles of two widths cover C once") {
  // One row of tiles with two wide and one narrow, the others with one wide and three narrow ones, the last one cut.
  PersistentTile tile = {.rows = 128, .columns = 192, .stages = 3, .groupRows = 2};
  tile.mix = {1, {2, 1}, {1, 3}};
  for (bool defersStores : {false, true}) {
    tile.defersStores = tile.joinsParts = defersStores;
    for (uint32_t multiprocessors : {1, 2, 20}) {
      for (int k : {64, 328}) {
        check({300, 504, k, true, "bf16"}, tile,
              {deviceOptions(emulator::AsyncMode::Deferred, 3, multiprocessors),
               deviceOptions(emulator::AsyncMode::Immediate, 4, multiprocessors)});
      }
    }
  }
  tile.mix = {2, {2, 0}, {1, 4}}; // a row of narrow ones alone
  for (bool defersStores : {false, true}) {
    tile.defersStores = defersStores;
    check({300, 504, 200, false, "fp32"}, tile, {deviceOptions(emulator::AsyncMode::Deferred, 5, 2)});
  }
}

TEST_CASE("stores that wait are staged where the epilogue's addend comes") {
  // One part of as many slices as slots, of twice as many, and two parts of one and of two.
  for (int64_t columns : {64, 128, 192, 256}) {
    for (int k : {64, 200, 840}) {
      CAPTURE(columns);
      std::vector<emulator::DeviceOptions> devices = inBothModes({1, 60331}, 2);
      check({200, int(columns) * 2 + 40, k, true, "bf16", true},
            {.rows = 128, .columns = columns, .defersStores = true, .stages = 2, .groupRows = 2}, devices);
    }
  }
}

TEST_CASE("a step takes the tensors and the maps that it uses") {
  // M is known at launch: a variant for few rows, with the tiles of its own.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  loadKernelDialects(context);
  Description description = *parseDescription("matmul m=*<=100 n=512 k=192 b_layout=col");
  Result<BuiltKernel> built = buildPersistentMatmul(description, choosePersistentVariants(description),
                                                    *Target::parse("emulator:sm_90a"), context);
  REQUIRE(built.ok());
  CHECK(built->recipe.steps.size() == 5);
  for (const LaunchStep &step : built->recipe.steps) {
    CAPTURE(step.symbol);
    CHECK(std::ranges::count(step.arguments, Argument::Kind::TensorMap, &Argument::kind) == 3);
    CHECK(std::ranges::count(step.arguments, Argument::Kind::Tensor, &Argument::kind) == 0);
  }
  CHECK(built->recipe.tensorMaps.size() > 3);
}

TEST_CASE("memory adds to C where nothing follows the sum and fp32 is stored") {
  auto adds = [](const std::string &attributes) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    loadKernelDialects(context);
    Description description = *parseDescription("matmul m=128 n=512 k=192 b_layout=col accumulate=true " + attributes);
    Result<BuiltKernel> built = buildPersistentMatmul(description, choosePersistentVariants(description),
                                                      *Target::parse("emulator:sm_90a"), context);
    REQUIRE(built.ok());
    bool found = false;
    built->module->walk([&](ir::ttng::AsyncTMAReduceOp) { found = true; });
    return found;
  };
  CHECK(adds("out_dtype=fp32"));
  CHECK(adds("out_dtype=fp32 bias=true"));
  // Rounded once.
  CHECK_FALSE(adds("out_dtype=bf16"));
  CHECK_FALSE(adds("out_dtype=fp32 activation=relu"));
}

TEST_CASE("one block of K, and less than one") {
  for (int k : {8, 64, 72, 128}) {
    check({70, 40, k, true, "bf16"}, {.rows = 64, .columns = 32, .stages = 3, .groupRows = 1},
          {deviceOptions(emulator::AsyncMode::Deferred, 5, 4), deviceOptions(emulator::AsyncMode::Immediate, 6, 4)});
  }
}

TEST_SUITE_END();
