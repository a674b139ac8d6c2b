// The persistent matmul in every configuration that its model can choose, on small problems that fill none of them
// evenly: tails in every dimension, more tiles than CTAs and fewer, rings that wrap.

#include "src/kernels/matmul/PersistentMatmul.h"

#include "src/compiler/Pipelines.h"
#include "src/emulator/EmulatorBackend.h"
#include "src/emulator/EmulatorDevice.h"
#include "src/emulator/HostLoader.h"
#include "src/ops/OpSchema.h"
#include "tests/unit/codegen/SmallNumbers.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::kernels;
using namespace jitk::codegen::test;

TEST_SUITE_BEGIN("kernels/PersistentMatmul");

namespace {

struct Problem {
  int m, n, k;
  bool columnMajorB;
  const char *outType;

  Description describe() const {
    Result<Description> description =
        parseDescription("matmul m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
                         " dtype=bf16 out_dtype=" + outType + " b_layout=" + (columnMajorB ? "col" : "row"));
    REQUIRE(description.ok());
    return *description;
  }
};

/// A kernel for the emulator, with its recipe.
struct Compiled {
  std::vector<uint8_t> code;
  Recipe recipe;
  uint32_t threads = 0, sharedBytes = 0;
};

Compiled compile(const Problem &problem, const PersistentTile &tile) {
  Target target = {Target::Kind::Emulator, 90, true};
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  loadKernelDialects(context);
  Result<BuiltKernel> built = buildPersistentMatmul(problem.describe(), PersistentVariant{tile}, target, context);
  REQUIRE(built.ok());
  mlir::PassManager passes(&context);
  compiler::buildTtgirPipeline(passes, target);
  compiler::buildLoweringPipeline(passes);
  REQUIRE(succeeded(passes.run(*built->module)));
  Compiled kernel;
  auto number = [&](const char *name) {
    return uint32_t(built->module.get()->getAttrOfType<mlir::IntegerAttr>(name).getInt());
  };
  kernel.threads = 32 * number("ttg.total-num-warps");
  kernel.sharedBytes = number("ttg.shared");
  kernel.recipe = built->recipe;
  Result<emulator::HostObject> object = emulator::compileForHost(*built->module);
  REQUIRE(object.ok());
  kernel.code = std::move(object->code);
  return kernel;
}

/// Runs the kernel on static sizes and gives C's bytes, which begin as 0xEE.
std::vector<uint8_t> run(const Compiled &kernel, const emulator::DeviceOptions &options,
                         const std::vector<std::vector<uint8_t>> &inputs, size_t outputBytes) {
  emulator::EmulatorDevice device(options);
  std::vector<std::vector<uint8_t>> images = inputs;
  images.emplace_back(outputBytes, 0xEE);
  std::vector<uint64_t> addresses;
  for (const std::vector<uint8_t> &image : images) {
    addresses.push_back(*device.allocate(image.size()));
    REQUIRE(device.copyToDevice(addresses.back(), image.data(), image.size()).ok());
  }
  Recipe recipe = kernel.recipe.onDevice(device.multiprocessors());
  struct alignas(64) Map {
    uint8_t bytes[128];
  };
  std::vector<Map> maps(recipe.tensorMaps.size());
  std::vector<void *> arguments;
  for (size_t i = 0; i < maps.size(); ++i) {
    const TensorMap &map = recipe.tensorMaps[i];
    std::vector<uint64_t> sizes, strides;
    for (const Expression &size : map.sizes) {
      sizes.push_back(uint64_t(size.evaluate({})));
    }
    for (const Expression &stride : map.strides) {
      strides.push_back(uint64_t(stride.evaluate({})));
    }
    REQUIRE(
        device.encodeTensorMap(&maps[i], map.elementType, addresses[map.tensor], sizes, strides, map.box, map.swizzle)
            .ok());
    arguments.push_back(&maps[i]);
  }
  uint64_t null = 0;
  arguments.insert(arguments.end(), 2, &null);

  auto module = emulator::loadHostObject(kernel.code);
  REQUIRE(module.ok());
  auto record = (*module)->kernel("matmul");
  REQUIRE(record.ok());
  LaunchParameters parameters;
  parameters.grid[0] = uint32_t(recipe.steps.front().grid[0].evaluate({}));
  parameters.threads = kernel.threads;
  parameters.sharedBytes = kernel.sharedBytes;
  parameters.arguments = arguments.data();
  auto report = device.run(**record, parameters);
  REQUIRE(report.ok());
  INFO(report->toString());
  REQUIRE(report->clean());
  std::vector<uint8_t> output(outputBytes);
  REQUIRE(device.copyToHost(output.data(), addresses.back(), outputBytes).ok());
  return output;
}

std::vector<int> transposed(const std::vector<int> &matrix, int rows, int columns) {
  std::vector<int> result(matrix.size());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      result[size_t(j) * rows + i] = matrix[size_t(i) * columns + j];
    }
  }
  return result;
}

/// Exact: small integers sum without rounding in fp32, and are rounded to bf16 as the host does.
std::vector<uint8_t> expected(const std::vector<int> &product, const std::string &outType) {
  std::vector<uint8_t> bytes(product.size() * (outType == "fp32" ? 4 : 2));
  for (size_t i = 0; i < product.size(); ++i) {
    float value = float(product[i]);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (outType == "fp32") {
      std::memcpy(&bytes[4 * i], &bits, 4);
    } else {
      uint16_t upper = uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
      std::memcpy(&bytes[2 * i], &upper, 2);
    }
  }
  return bytes;
}

void check(const Problem &problem, const PersistentTile &tile, const std::vector<emulator::DeviceOptions> &devices) {
  CAPTURE(problem.describe().toString());
  CAPTURE(tile.rows);
  CAPTURE(tile.columns);
  std::vector<int> a = smallNumbers(size_t(problem.m) * problem.k, 1);
  std::vector<int> b = smallNumbers(size_t(problem.k) * problem.n, 2);
  std::vector<uint8_t> wanted = expected(multiply(a, b, problem.m, problem.n, problem.k), problem.outType);
  std::vector<std::vector<uint8_t>> inputs = {
      encode(a, bf16), encode(problem.columnMajorB ? transposed(b, problem.k, problem.n) : b, bf16)};
  Compiled kernel = compile(problem, tile);
  for (const emulator::DeviceOptions &options : devices) {
    CAPTURE(options.seed);
    CHECK(run(kernel, options, inputs, wanted.size()) == wanted);
  }
}

emulator::DeviceOptions device(emulator::AsyncMode mode, uint64_t seed, uint32_t multiprocessors) {
  emulator::DeviceOptions options;
  options.mode = mode;
  options.seed = seed;
  options.multiprocessors = multiprocessors;
  return options;
}

} // namespace

TEST_CASE("every tile that the model can choose gives the product") {
  unsigned number = 0;
  auto checkTile = [&](PersistentTile tile, int m, int n) {
    // One tile and a part of one in each direction, three blocks of K and a part of one, through three slots.
    Problem problem = {m, n, 200, number % 2 == 0, number % 3 == 0 ? "fp32" : "bf16"};
    auto mode = number % 2 ? emulator::AsyncMode::Immediate : emulator::AsyncMode::Deferred;
    tile.stages = 3;
    tile.groupRows = 2;
    check(problem, tile, {device(mode, number, 3)});
    ++number;
  };
  for (int64_t rows : {64, 128}) {
    for (int64_t columns : {32, 64, 128, 192, 256}) {
      checkTile({.rows = rows, .columns = columns}, int(rows) + 40, int(columns) + 24);
    }
    // Few rows of A are the columns; none beside them, and one more tile.
    for (int64_t columns : {8, 24, 40, 48, 64}) {
      checkTile({.rows = rows, .columns = columns, .transposed = true}, int(columns) - 3, int(rows) + 24);
    }
    checkTile({.rows = rows, .columns = 16, .transposed = true}, 21, int(rows) + 24);
  }
}

TEST_CASE("the order of threads and of asynchronous work does not matter") {
  std::vector<emulator::DeviceOptions> devices;
  for (auto mode : {emulator::AsyncMode::Deferred, emulator::AsyncMode::Immediate}) {
    for (uint64_t seed : {0, 1, 8812}) {
      devices.push_back(device(mode, seed, 2));
    }
  }
  check({200, 72, 328, true, "bf16"}, {.rows = 128, .columns = 64, .stages = 2, .groupRows = 1}, devices);
  check({72, 136, 328, false, "fp32"}, {.rows = 64, .columns = 64, .stages = 3, .groupRows = 1}, devices);
}

TEST_CASE("as many CTAs as tiles, fewer, and more multiprocessors than tiles") {
  for (uint32_t multiprocessors : {1, 6, 100}) {
    CAPTURE(multiprocessors);
    check({150, 60 + 4, 72, false, "bf16"}, {.rows = 64, .columns = 32, .stages = 3, .groupRows = 2},
          {device(emulator::AsyncMode::Deferred, 3, multiprocessors)});
  }
}

TEST_CASE("one block of K, and less than one") {
  for (int k : {8, 64, 72, 128}) {
    check({70, 40, k, true, "bf16"}, {.rows = 64, .columns = 32, .stages = 3, .groupRows = 1},
          {device(emulator::AsyncMode::Deferred, 5, 4), device(emulator::AsyncMode::Immediate, 6, 4)});
  }
}

TEST_SUITE_END();
