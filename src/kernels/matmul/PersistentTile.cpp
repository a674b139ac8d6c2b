#include "src/kernels/matmul/PersistentTile.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace jitk::kernels {

namespace {

/// The machine that the model has in mind. The grid follows the device that is there; only the choice is made for this.
constexpr double kMultiprocessors = 132;
constexpr double kL2BytesPerClock = 64;       ///< of one multiprocessor
constexpr double kMemoryBytesPerClock = 2400; ///< of all, at what copies reach
constexpr double kLatency = 1000;             ///< of a load from memory under load
constexpr double kEpilogue = 900, kFill = 1500;
constexpr int64_t kSharedBytes = 232448;
constexpr int64_t kReserved = 2048; ///< barriers, captures, and what alignment loses
constexpr int64_t kMostStages = 16, kFewestStages = 3;

struct Problem {
  int64_t m, n, k;
  int64_t elementBytes, outputBytes;
};

int64_t sizeOf(const Dimension &dimension) {
  constexpr int64_t kLarge = 4096;
  return dimension.isStatic() ? dimension.value : dimension.bound ? dimension.bound : kLarge;
}

Problem problemOf(const Description &description) {
  return {std::max<int64_t>(1, sizeOf(description.dimension("m"))),
          std::max<int64_t>(1, sizeOf(description.dimension("n"))),
          std::max<int64_t>(1, sizeOf(description.dimension("k"))), 2, description.word("out_dtype") == "fp32" ? 4 : 2};
}

/// Bytes of C that all consumers stage, two slices of 128 bytes a row each.
int64_t stagedBytes(const PersistentTile &tile, const Problem &problem) {
  return tile.m * std::min<int64_t>(2 * 128, tile.n * problem.outputBytes);
}

int64_t stageBytes(const PersistentTile &tile, const Problem &problem) {
  return (tile.m + tile.n) * tile.k * problem.elementBytes;
}

double blockClocks(const PersistentTile &tile, const Problem &problem) {
  // An instruction takes 64 rows and 16 of K: 64 x n x 16 products at 2048 a clock, or its operands at 128 bytes a
  // clock.
  double instruction = std::max(double(tile.n) / 2, 16 + double(tile.n) / 4);
  double tensor = double(tile.numConsumers() * tile.k / 16) * instruction;
  double rows = double(std::min(tile.m, problem.m) + std::min(tile.n, problem.n));
  double l2 = rows * double(tile.k * problem.elementBytes) / kL2BytesPerClock;
  return std::max({tensor, l2, kLatency / double(tile.stages)});
}

double tileClocks(const PersistentTile &tile, const Problem &problem) {
  double waves =
      std::ceil(double(llvm::divideCeil(problem.m, tile.m) * llvm::divideCeil(problem.n, tile.n)) / kMultiprocessors);
  double blocks = double(llvm::divideCeil(problem.k, tile.k));
  return waves * (blocks * blockClocks(tile, problem) + kEpilogue) + kFill;
}

double memoryClocks(const Problem &problem) {
  double operands = double(problem.m * problem.k + problem.n * problem.k) * double(problem.elementBytes);
  return (operands + double(problem.m * problem.n * problem.outputBytes)) / kMemoryBytesPerClock;
}

/// As many stages as fit; as many rows of tiles to a group as make a wave's rectangle square.
PersistentTile complete(PersistentTile tile, const Problem &problem) {
  int64_t fitting = (kSharedBytes - kReserved - stagedBytes(tile, problem)) / stageBytes(tile, problem);
  tile.stages = std::min(fitting, kMostStages);
  tile.groupRows = int64_t(llvm::bit_floor(uint64_t(std::sqrt(kMultiprocessors * double(tile.n) / double(tile.m)))));
  return tile;
}

} // namespace

double modelledClocks(const Description &description, const PersistentTile &tile) {
  Problem problem = problemOf(description);
  return std::max(tileClocks(tile, problem), memoryClocks(problem));
}

PersistentTile choosePersistentTile(const Description &description) {
  Problem problem = problemOf(description);
  PersistentTile best;
  // From few rows to many: of equals the first stays.
  std::pair<double, double> least = {HUGE_VAL, HUGE_VAL};
  for (int64_t m : {64, 128}) {
    for (int64_t n : {256, 128, 64, 32}) {
      PersistentTile tile = complete({.m = m, .n = n}, problem);
      double own = tileClocks(tile, problem);
      std::pair<double, double> cost = {std::max(own, memoryClocks(problem)), own};
      if (tile.stages >= kFewestStages && cost < least) {
        best = tile;
        least = cost;
      }
    }
  }
  return best;
}

} // namespace jitk::kernels
