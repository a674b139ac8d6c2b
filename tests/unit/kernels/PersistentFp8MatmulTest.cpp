// The persistent fp8 matmul in every configuration that its model can choose, on small problems that fill none of them
// evenly: tails in every dimension, blocks of scales that are cut, more tiles than CTAs and fewer, rings that wrap.

#include "src/kernels/fp8/PersistentFp8Matmul.h"

#include "src/ops/OpSchema.h"
#include "tests/unit/codegen/SmallNumbers.h"
#include "tests/unit/kernels/EmulatedKernel.h"

#include "mlir/IR/MLIRContext.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::kernels;
using namespace jitk::codegen::test;
using namespace jitk::kernels::test;

TEST_SUITE_BEGIN("kernels/PersistentFp8Matmul");

namespace {

constexpr int kBlock = 128;

struct Problem {
  int m, n, k;
  const char *outType = "bf16";

  Description describe() const {
    Result<Description> description =
        parseDescription("fp8_block_matmul m=" + std::to_string(m) + " n=" + std::to_string(n) +
                         " k=" + std::to_string(k) + " out_dtype=" + outType);
    REQUIRE(description.ok());
    return *description;
  }
};

/// Scales of blocks: integers from 1 to 4.
std::vector<int> scales(int rows, int blocks, unsigned seed) {
  std::vector<int> values = smallNumbers(size_t(rows) * blocks, seed);
  for (int &value : values) {
    value = 1 + std::abs(value) % 4;
  }
  return values;
}

/// Row `row` of A by row `column` of B; both have their scales.
int product(const Problem &problem, const std::vector<int> &a, const std::vector<int> &scaleOfA, int row,
            const std::vector<int> &b, const std::vector<int> &scaleOfB, int group, int column) {
  int blocks = (problem.k + kBlock - 1) / kBlock, blocksOfB = (problem.n + kBlock - 1) / kBlock, sum = 0;
  for (int i = 0; i < problem.k; ++i) {
    sum += a[size_t(row) * problem.k + i] * b[(size_t(group) * problem.n + column) * problem.k + i] *
           scaleOfA[size_t(row) * blocks + i / kBlock] *
           scaleOfB[size_t(group * blocksOfB + column / kBlock) * blocks + i / kBlock];
  }
  return sum;
}

void check(const Problem &problem, const PersistentTile &tile, const std::vector<emulator::DeviceOptions> &devices) {
  CAPTURE(problem.describe().toString());
  CAPTURE(tile.rows);
  CAPTURE(tile.columns);
  CAPTURE(tile.transposed);
  int blocks = (problem.k + kBlock - 1) / kBlock;
  std::vector<int> a = smallNumbers(size_t(problem.m) * problem.k, 1);
  std::vector<int> b = smallNumbers(size_t(problem.n) * problem.k, 2);
  std::vector<int> scaleOfA = scales(problem.m, blocks, 3);
  std::vector<int> scaleOfB = scales((problem.n + kBlock - 1) / kBlock, blocks, 4);
  std::vector<int> sums;
  for (int row = 0; row < problem.m; ++row) {
    for (int column = 0; column < problem.n; ++column) {
      sums.push_back(product(problem, a, scaleOfA, row, b, scaleOfB, 0, column));
    }
  }
  std::vector<uint8_t> wanted = rounded(sums, problem.outType);
  std::vector<std::vector<uint8_t>> inputs = {encode(a, e4m3), encode(scaleOfA, f32), encode(b, e4m3),
                                              encode(scaleOfB, f32)};
  EmulatedKernel kernel([&](const Target &target, mlir::MLIRContext &context) {
    return buildPersistentFp8Matmul(problem.describe(), PersistentVariant{tile}, target, context);
  });
  for (const emulator::DeviceOptions &options : devices) {
    CAPTURE(options.seed);
    CHECK(kernel.run(options, inputs, wanted.size()) == wanted);
  }
}

std::vector<uint8_t> bytesOf(const std::vector<int32_t> &integers) {
  std::vector<uint8_t> bytes(integers.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), integers.data(), bytes.size());
  return bytes;
}

/// Rows of groups: `groupOfRow` of all rows of A and C, -1 where C is undefined; `integers` is what the kernel is given
/// for them. Rows that are not written keep their bytes.
void checkGroups(const Problem &problem, const std::string &attributes, int groups, const PersistentTile &tile,
                 const std::vector<int32_t> &integers, const std::vector<int32_t> &groupOfRow,
                 const std::vector<bool> &isWritten, const std::vector<emulator::DeviceOptions> &devices) {
  std::string text = "grouped_fp8_block_matmul groups=" + std::to_string(groups) + " m=" + std::to_string(problem.m) +
                     " n=" + std::to_string(problem.n) + " k=" + std::to_string(problem.k) + attributes;
  CAPTURE(text);
  int rows = int(groupOfRow.size()), blocks = (problem.k + kBlock - 1) / kBlock;
  int blocksOfB = (problem.n + kBlock - 1) / kBlock;
  std::vector<int> a = smallNumbers(size_t(rows) * problem.k, 1);
  std::vector<int> b = smallNumbers(size_t(groups) * problem.n * problem.k, 2);
  std::vector<int> scaleOfA = scales(rows, blocks, 3), scaleOfB = scales(groups * blocksOfB, blocks, 4);
  EmulatedKernel kernel([&](const Target &target, mlir::MLIRContext &context) {
    return buildPersistentFp8Matmul(*parseDescription(text), PersistentVariant{tile}, target, context);
  });
  std::vector<std::vector<uint8_t>> inputs = {encode(a, e4m3), encode(scaleOfA, f32), encode(b, e4m3),
                                              encode(scaleOfB, f32), bytesOf(integers)};
  size_t rowBytes = size_t(problem.n) * 2;
  for (const emulator::DeviceOptions &options : devices) {
    CAPTURE(options.seed);
    std::vector<uint8_t> output = kernel.run(options, inputs, size_t(rows) * rowBytes);
    for (int row = 0; row < rows; ++row) {
      CAPTURE(row);
      auto begin = output.begin() + ptrdiff_t(size_t(row) * rowBytes);
      std::vector<uint8_t> found(begin, begin + ptrdiff_t(rowBytes));
      if (groupOfRow[size_t(row)] >= 0) {
        std::vector<int> sums;
        for (int column = 0; column < problem.n; ++column) {
          sums.push_back(product(problem, a, scaleOfA, row, b, scaleOfB, groupOfRow[size_t(row)], column));
        }
        REQUIRE(found == rounded(sums, "bf16"));
      } else if (!isWritten[size_t(row)]) {
        REQUIRE(found == std::vector<uint8_t>(rowBytes, 0xEE));
      }
    }
  }
}

PersistentTile fp8Tile(int64_t rows, int64_t columns, bool transposed = false) {
  int64_t unrolled = columns <= 64 ? 4 : columns <= 128 ? 2 : 1;
  return {.rows = rows,
          .columns = columns,
          .transposed = transposed,
          .k = kBlock,
          .largestPart = kBlock,
          .stages = std::max<int64_t>(3, unrolled + 1),
          .unrolled = unrolled,
          .groupRows = 2};
}

} // namespace

TEST_CASE("every fp8 tile that the model can choose gives the product") {
  unsigned number = 0;
  auto checkTile = [&](const PersistentTile &tile, int m, int n) {
    // One tile and a part of one in each direction; through three slots, three blocks of K and a part of one, whose
    // scales come with one load, and five, whose scales do not.
    for (int k : {400, 640}) {
      CAPTURE(k);
      auto mode = number % 2 ? emulator::AsyncMode::Immediate : emulator::AsyncMode::Deferred;
      check({m, n, k}, tile, {deviceOptions(mode, number, 3)});
      ++number;
    }
    ++number;
  };
  for (int64_t rows : {64, 128}) {
    for (int64_t columns : {32, 64, 128, 192, 256}) {
      checkTile(fp8Tile(rows, columns), int(rows) + 40, int(columns) + 24);
    }
    // Few rows of A are the columns; none beside them, and one more tile.
    for (int64_t columns : {8, 24, 40, 48, 64}) {
      checkTile(fp8Tile(rows, columns, true), int(columns) - 3, int(rows) + 24);
    }
    checkTile(fp8Tile(rows, 16, true), 21, int(rows) + 24);
  }
}

TEST_CASE("each part of a tile has the scale of its block of B") {
  // Four tiles of 192 columns: where blocks begin at the first part, and at the second one.
  check({70, 4 * 192 - 8, 256}, fp8Tile(64, 192), {deviceOptions(emulator::AsyncMode::Deferred, 1, 2)});
  check({70, 600, 256}, fp8Tile(128, 256), {deviceOptions(emulator::AsyncMode::Deferred, 2, 2)});
  check({70, 320, 256}, fp8Tile(64, 32), {deviceOptions(emulator::AsyncMode::Deferred, 3, 2)});
  check({20, 320, 256}, fp8Tile(128, 24, true), {deviceOptions(emulator::AsyncMode::Deferred, 4, 2)});
}

TEST_CASE("scales are written into slots that wrap") {
  for (auto mode : {emulator::AsyncMode::Deferred, emulator::AsyncMode::Immediate}) {
    std::vector<emulator::DeviceOptions> devices = {deviceOptions(mode, 1, 2), deviceOptions(mode, 8812, 2)};
    // Twelve blocks of K, the last one cut, and eleven; three tiles for two CTAs.
    for (int k : {1520, 1392}) {
      check({300, 240, k}, fp8Tile(128, 256), devices);
      check({150, 368, k}, fp8Tile(128, 192), devices);
      check({150, 368, k}, fp8Tile(64, 128), devices);
      check({150, 72, k}, fp8Tile(64, 32), devices);
      check({40, 136, k}, fp8Tile(64, 40, true), devices);
      check({5, 296, k}, fp8Tile(128, 8, true), devices);
    }
  }
}

TEST_CASE("the order of threads and of asynchronous work does not matter in fp8") {
  std::vector<emulator::DeviceOptions> devices = inBothModes({0, 1, 8812}, 2);
  PersistentTile tile = fp8Tile(128, 64);
  tile.stages = 2;
  tile.unrolled = 1;
  check({200, 72, 656}, tile, devices);
  check({40, 136, 656}, fp8Tile(64, 40, true), devices);
}

TEST_CASE("two CTAs of a cluster load the columns of both in fp8") {
  // Rows of tiles in pairs, and one that has none beside it; a cluster that takes several pairs, and clusters of one.
  for (uint32_t multiprocessors : {2, 5, 100}) {
    CAPTURE(multiprocessors);
    std::vector<emulator::DeviceOptions> devices = inBothModes({1, 977}, multiprocessors);
    PersistentTile tile = fp8Tile(128, 192);
    tile.sharers = 2;
    check({400, 264, 656}, tile, devices);
    tile.storesAtOnce = true;
    check({256, 392, 1024}, tile, devices);
  }
}

TEST_CASE("blocks of 256 columns are written out, eight of them and four") {
  PersistentTile tile = fp8Tile(128, 256);
  tile.storesAtOnce = true;
  for (auto mode : {emulator::AsyncMode::Deferred, emulator::AsyncMode::Immediate}) {
    std::vector<emulator::DeviceOptions> devices = {deviceOptions(mode, 1, 2), deviceOptions(mode, 8812, 2)};
    check({384, 264, 2048}, tile, devices); // whole rows: eight
    check({300, 264, 1024}, tile, devices); // rows that are cut: four
  }
}

TEST_CASE("the CTAs of a cluster add up their parts of K in fp8") {
  std::vector<emulator::DeviceOptions> devices = inBothModes({0, 1, 8812}, 4);
  auto checkCluster = [&](const Problem &problem, PersistentTile tile, int64_t size) {
    tile.splits = size;
    tile.clustered = true;
    check(problem, tile, devices);
  };
  checkCluster({70, 136, 1024}, fp8Tile(64, 128), 2);
  checkCluster({100, 200, 2048}, fp8Tile(64, 64), 4);
  checkCluster({9, 72, 2048}, fp8Tile(64, 16, true), 4);
}

TEST_CASE("runs of rows have the B of their group, and runs of none are passed over") {
  std::vector<int32_t> groups;
  std::vector<bool> isWritten;
  for (int row = 0; row < 4 * 128 + 40; ++row) {
    // A short run, one of no group, one that is whole, a group again, and a cut one.
    int run = row / 128, ofRun[] = {2, -1, 0, 2, 1};
    groups.push_back(run == 0 && row >= 70 ? -1 : ofRun[run]);
    isWritten.push_back(run != 1);
  }
  std::vector<emulator::DeviceOptions> devices;
  for (uint64_t seed : {1, 2, 3}) {
    devices.push_back(deviceOptions(emulator::AsyncMode::Deferred, seed, 3));
    devices.push_back(deviceOptions(emulator::AsyncMode::Immediate, seed, 2));
  }
  Problem problem = {int(groups.size()), 200, 272};
  checkGroups(problem, "", 3, fp8Tile(128, 64), groups, groups, isWritten, devices);
  problem.k = 400;
  checkGroups(problem, "", 3, fp8Tile(128, 128), groups, groups, isWritten, devices);
  checkGroups(problem, "", 3, fp8Tile(128, 256), groups, groups, isWritten, {devices.front()});
  problem.k = 272;
  checkGroups(problem, "", 3, fp8Tile(64, 192), groups, groups, isWritten, {devices.front()});
}

TEST_CASE("groups of masked rows are counted on the device, and nothing is written past their last tiles") {
  std::vector<int32_t> valid = {70, 0, 128, 1, 64}, groups;
  std::vector<emulator::DeviceOptions> devices;
  for (uint64_t seed : {1, 2, 3}) {
    devices.push_back(deviceOptions(emulator::AsyncMode::Deferred, seed, 3));
    devices.push_back(deviceOptions(emulator::AsyncMode::Immediate, seed, 7));
  }
  for (int64_t rows : {64, 128}) {
    CAPTURE(rows);
    groups.clear();
    std::vector<bool> isWritten;
    for (int row = 0; row < 5 * 128; ++row) {
      int ofGroup = valid[size_t(row / 128)], within = row % 128;
      groups.push_back(within < ofGroup ? row / 128 : -1);
      isWritten.push_back(within < (ofGroup + int(rows) - 1) / int(rows) * int(rows));
    }
    checkGroups({128, 136, 272}, " masked=true", 5, fp8Tile(rows, 64), valid, groups, isWritten, devices);
    checkGroups({128, 136, 400}, " masked=true", 5, fp8Tile(rows, 256), valid, groups, isWritten, {devices.front()});
  }
}

TEST_CASE("one block of fp8, and less than one") {
  for (int k : {16, 112, 128, 144}) {
    check({70, 40, k}, fp8Tile(64, 32), {deviceOptions(emulator::AsyncMode::Deferred, 5, 4)});
    check({9, 40, k}, fp8Tile(64, 16, true), {deviceOptions(emulator::AsyncMode::Immediate, 6, 4)});
  }
}

TEST_CASE("the model gives fp8 blocks of 128, a scale of B to each part, and rings that fit") {
  for (int m : {1, 8, 33, 64, 65, 128, 200, 1024, 4096}) {
    for (int n : {576, 2112, 7168}) {
      CAPTURE(m);
      CAPTURE(n);
      Problem problem = {m, n, 7168};
      for (const PersistentTile &tile : persistentTiles(problem.describe())) {
        CHECK(tile.k == kBlock);
        CHECK(tile.parts().front() <= kBlock);
        CHECK(tile.stages >= 3);
        CHECK(tile.unrolled < tile.stages);
        CHECK(tile.stages * (tile.rows + tile.columns) * tile.k < 227 * 1024);
        CHECK(56 % tile.splits == 0);
        CHECK(56 / tile.splits % 4 == 0);
      }
      bool isTransposed = choosePersistentTile(problem.describe()).transposed;
      CHECK(isTransposed >= (m <= 8));
      CHECK(isTransposed <= (m <= 64));
    }
  }
}

TEST_CASE("the model gives fp8 the tiles that were measured to be fast") {
  auto choose = [](int m, int n, int k) { return choosePersistentTile(Problem{m, n, k}.describe()); };
  auto hasShape = [](const PersistentTile &tile, int rows, int columns, bool transposed) {
    return tile.rows == rows && tile.columns == columns && tile.transposed == transposed;
  };
  CHECK(hasShape(choose(4096, 7168, 16384), 128, 256, false));
  CHECK(hasShape(choose(4096, 4096, 7168), 128, 256, false));
  CHECK(hasShape(choose(4096, 7168, 2048), 128, 256, false));
  CHECK(hasShape(choose(4096, 24576, 1536), 128, 256, false));
  CHECK(choose(4096, 2112, 7168).name() == "128x192.s2");
  CHECK(choose(4096, 576, 7168).name() == "128x192.s2");
  CHECK(choose(1024, 2112, 7168).name() == "128x192.s2");
  CHECK(choose(1024, 576, 7168).name() == "64x128");
  CHECK(choose(512, 1536, 7168).name() == "64x128");
  CHECK(choose(1024, 32768, 512).name() == "128x128");
  CHECK(choose(128, 36864, 7168).name() == "64x192");
  CHECK(choose(128, 24576, 1536).name() == "128x192");
  CHECK(choose(128, 32768, 512).name() == "128x128");
  for (int few : {1, 8}) {
    CAPTURE(few);
    CHECK(choose(few, 36864, 7168).name() == "64x8.t");
    CHECK(choose(few, 24576, 1536).name() == "64x8.t");
    CHECK(choose(few, 32768, 512).name() == "128x8.t");
  }
  CHECK(hasShape(choose(128, 7168, 2048), 64, 128, false));
  CHECK(hasShape(choose(128, 2112, 7168), 64, 64, false));
  CHECK(choose(128, 2112, 7168).splits == 2);
  CHECK(choose(1, 576, 7168).name() == "64x8.t.k7");
  CHECK(choose(8, 4096, 7168).name() == "64x8.t.c2");
  CHECK(choose(64, 576, 7168).name() == "64x64.k7");
  CHECK(choose(128, 576, 7168).name() == "64x128.k7");
  CHECK(choose(64, 4096, 7168).name() == "64x64.c2");
  CHECK(choose(1, 4096, 7168).name() == "64x8.t.c2");
  CHECK(choose(8, 2112, 7168).name() == "64x8.t.c2");
  CHECK(hasShape(choose(64, 7168, 2048), 64, 64, false));
  CHECK(hasShape(choose(1, 4096, 7168), 64, 8, true));
  CHECK(hasShape(choose(8, 7168, 16384), 64, 8, true));
}

TEST_CASE("the model gives groups the tiles that were measured to be fast") {
  auto choose = [](const std::string &attributes) {
    Result<Description> description = parseDescription("grouped_fp8_block_matmul " + attributes);
    REQUIRE(description.ok());
    return chooseFp8Variants(*description).front().tile.name();
  };
  for (const char *runs : {"groups=4 m=32768", "groups=8 m=32768"}) {
    for (const char *matrix : {" n=4096 k=7168", " n=7168 k=2048", " n=6144 k=7168", " n=7168 k=3072"}) {
      CAPTURE(matrix);
      CHECK(choose(std::string(runs) + matrix) == "128x256");
    }
  }
  struct Measured {
    const char *rows, *up, *down; ///< of 7168 inputs and 4096 outputs; of 2048 and 7168
  };
  for (Measured each : {Measured{"groups=32 m=192 expected_m=192", "64x128", "64x128"},
                        {"groups=6 m=1024 expected_m=1024", "128x256", "128x128"},
                        {"groups=32 m=64 expected_m=20", "64x64", "64x64"},
                        {"groups=6 m=64 expected_m=20", "64x64", "64x64"},
                        {"groups=1 m=1024 expected_m=1024", "128x256", "128x256"},
                        {"groups=4 m=256 expected_m=256", "128x256", "64x128"}}) {
    CAPTURE(each.rows);
    CHECK(choose(std::string("masked=true ") + each.rows + " n=4096 k=7168") == each.up);
    CHECK(choose(std::string("masked=true ") + each.rows + " n=7168 k=2048") == each.down);
  }
}

TEST_SUITE_END();
