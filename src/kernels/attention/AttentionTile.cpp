#include "src/kernels/attention/AttentionTile.h"

#include "src/kernels/Configuration.h"
#include "src/kernels/MachineModel.h"
#include "src/kernels/attention/AttentionSequences.h"
#include "src/kernels/attention/AttentionWindow.h"
#include "src/kernels/vocabulary/DimensionParts.h"
#include "src/ops/ScalarDefault.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <cmath>
#include <limits>

namespace jitk::kernels {

namespace {

/// Of a thread of a consumer: of two, and of three.
constexpr int64_t kRegisters = 240, kOtherRegisters = 40;
constexpr int64_t kRegistersOfThree = 160, kOtherRegistersOfThree = 32;
constexpr int64_t kRowsOfConsumer = 64, kRowsOfThree = 192;
constexpr int64_t kElementBytes = 2;
/// Of the 50 MB of L2: keys and values of the heads that are worked on share it with queries and results.
constexpr int64_t kL2Bytes = 32 << 20;
/// Or so few key heads that many CTAs read the same keys at about the same time.
constexpr int64_t kStreamedHeads = 8;

/// Of the scores of 64 queries and a key: four of exponentials, and measured the rest.
constexpr double kClocksOfKey = 6.7;
constexpr double kClocksOfCap = 4.5;  ///< more with a cap: four of its tanh, and a multiplication
constexpr double kScoreLatency = 430; ///< from the end of a product to the first exponential, and what starts the next
/// Measured: how much of the time until its scores are there a consumer leaves unused; of one, of two, of three.
constexpr double kExposed[] = {0.88, 0.6, 0.2};
constexpr double kItemOverhead = 200;
constexpr double kQueryLatency = 1000; ///< of an item whose queries come when those before are done with
constexpr double kSliceLatency = 300;  ///< of an item whose results wait for each other
constexpr double kFill = 1500;
constexpr int64_t kMostSamples = 64; ///< tiles of a head that are looked at

/// As a factor of a count of items.
double mostOf(const Dimension &dimension) {
  int64_t most = dimension.isStatic() ? dimension.value : dimension.bound;
  return dimension.isStatic() || most > 0 ? double(most) : std::numeric_limits<double>::infinity();
}

/// The sizes of a problem that matter here.
struct Problem {
  explicit Problem(const Description &description)
      : headDim(description.integer("head_dim")), valueDim(description.integer("value_dim")),
        outputBytes(description.word("out_dtype") == "fp32" ? 4 : 2),
        queries(assumedSize(description.dimension("seq_q"))), keys(assumedSize(description.dimension("seq_k"), 8192)),
        window(description), clocksOfKey(kClocksOfKey + (numberOf("softcap", description) > 0 ? kClocksOfCap : 0)),
        isVarlen(AttentionSequences(description).differ()),
        mostHeads(mostOf(description.dimension("batch")) * mostOf(description.dimension("heads"))),
        mostQueries(mostOf(description.dimension("seq_q"))),
        heads(assumedSize(description.dimension("batch"), 64) * assumedSize(description.dimension("heads"), 32)),
        keyHeads(assumedSize(description.dimension("batch"), 64) * assumedSize(description.dimension("kv_heads"), 1)),
        sharing(std::max<int64_t>(1, assumedSize(description.dimension("heads"), 1) /
                                         assumedSize(description.dimension("kv_heads"), 1))) {}

  int64_t headDim, valueDim, outputBytes;
  int64_t queries, keys;
  AttentionWindow window;
  double clocksOfKey; ///< of the units beside the tensor cores, for 64 queries
  bool isVarlen;
  double mostHeads; ///< of all sequences
  double mostQueries;
  int64_t heads;    ///< of all sequences, as far as it is known
  int64_t keyHeads; ///< of all sequences
  int64_t sharing;  ///< query heads to a key head
};

/// The size of parts of `count` that are no larger than `most`, as equal as can be.
int64_t evenPart(int64_t count, int64_t most) { return llvm::divideCeil(count, llvm::divideCeil(count, most)); }

bool fits(const AttentionTile &tile, const Problem &problem) {
  // Slices of 128 bytes are staged of each row; parts of V have slots of their own.
  int64_t staged = 0;
  for (const DimensionPart &part : splitDimension(problem.valueDim, kLeastPart)) {
    staged += tile.rows * std::min<int64_t>(tile.storeSlots * 128, part.size * problem.outputBytes);
  }
  int64_t queries = tile.queryStages * tile.rows * problem.headDim;
  int64_t blocks = tile.stages * tile.keys * (problem.headDim + problem.valueDim);
  bool fitsShared = (queries + blocks) * kElementBytes + staged <= kSharedBytes - kReserved;
  // Outputs and scores in fp32, weights in 16 bits, of half a row.
  int64_t registers = problem.valueDim / 2 + tile.keys * 3 / 4;
  // Of three consumers those of a window with a left end touch local memory in their loop.
  bool fitsRegisters = tile.rows == kRowsOfThree
                           ? registers + kOtherRegistersOfThree <= kRegistersOfThree && !problem.window.left
                           : registers + kOtherRegisters <= kRegisters;
  return fitsShared && fitsRegisters;
}

/// Of wgmma: 64 x n x 16 products at 2048 a clock.
double productClocks(int64_t n) { return double(n) / 2; }
/// The same where both operands are read from shared memory, at 128 bytes a clock.
double sharedProductClocks(int64_t n) { return std::max(productClocks(n), 16 + double(n) / 4); }

/// The products of scores of one consumer and a block.
double scoreClocks(const AttentionTile &tile, const Problem &problem) {
  double clocks = 0;
  for (int64_t keys : tile.keyParts()) {
    clocks += double(problem.headDim) / 16 * sharedProductClocks(keys);
  }
  return clocks;
}

double blockClocks(const AttentionTile &tile, const Problem &problem) {
  auto consumers = double(tile.numConsumers());
  double scores = scoreClocks(tile, problem);
  double outputs = double(tile.keys) / 16 * productClocks(problem.valueDim);
  double units = problem.clocksOfKey * double(tile.keys);
  double l2 = double(tile.keys * (problem.headDim + problem.valueDim) * kElementBytes) / kL2BytesPerClock;
  double exposed = kExposed[tile.numConsumers() - 1] * (scores + kScoreLatency);
  return std::max({consumers * (scores + outputs), consumers * units, l2}) + exposed;
}

/// What an item costs beside its blocks.
double itemClocks(const AttentionTile &tile, const Problem &problem) {
  double results = double(tile.rows * problem.valueDim * problem.outputBytes) * kMultiprocessors / kMemoryBytesPerClock;
  return results + kItemOverhead + (tile.queryStages == 1 ? kQueryLatency : 0) +
         (tile.storeSlots == 1 ? kSliceLatency : 0);
}

/// Blocks that the tile's item number `index` of a head sees.
double blocksOf(const AttentionTile &tile, const Problem &problem, int64_t index) {
  int64_t begin = 0, end = problem.keys, diagonal = index * tile.rows + problem.keys - problem.queries;
  if (problem.window.right) {
    end = std::clamp<int64_t>(diagonal + tile.rows + *problem.window.right, 1, problem.keys);
  }
  if (problem.window.left) {
    begin = std::clamp<int64_t>(diagonal - *problem.window.left, 0, end - 1);
  }
  return double(int64_t(llvm::divideCeil(end, tile.keys)) - begin / tile.keys);
}

/// The mean over all items of a head, and the least.
std::pair<double, double> blocksOfItems(const AttentionTile &tile, const Problem &problem) {
  auto tiles = int64_t(llvm::divideCeil(problem.queries, tile.rows)), samples = std::min(tiles, kMostSamples);
  double sum = 0;
  for (int64_t sample = 0; sample < samples; ++sample) {
    sum += blocksOf(tile, problem, (2 * sample + 1) * tiles / (2 * samples));
  }
  return {sum / double(samples), blocksOf(tile, problem, 0)};
}

double tileClocks(const AttentionTile &tile, const Problem &problem) {
  auto items = double(problem.heads * int64_t(llvm::divideCeil(problem.queries, tile.rows)));
  auto [mean, least] = blocksOfItems(tile, problem);
  double block = blockClocks(tile, problem), item = itemClocks(tile, problem);
  if (items <= kMultiprocessors) {
    return blocksOf(tile, problem, int64_t(llvm::divideCeil(problem.queries, tile.rows)) - 1) * block + item;
  }
  if (!tile.isQueued) {
    return std::ceil(items / kMultiprocessors) * (mean * block + item);
  }
  return items / kMultiprocessors * (mean * block + item) + (least * block + item) / 2;
}

/// Everything once.
double memoryClocks(const Problem &problem) {
  double queries = double(problem.heads * problem.queries) *
                   double(problem.headDim * kElementBytes + problem.valueDim * problem.outputBytes);
  double keys = double(problem.keyHeads * problem.keys) * double((problem.headDim + problem.valueDim) * kElementBytes);
  return (queries + keys) / kMemoryBytesPerClock;
}

} // namespace

llvm::SmallVector<int64_t> AttentionTile::keyParts() const {
  return llvm::map_to_vector(splitDimension(keys, 1), [](const DimensionPart &part) { return part.size; });
}

std::string AttentionTile::name() const {
  return std::to_string(rows) + "x" + std::to_string(keys) + ".q" + std::to_string(queryStages) + ".s" +
         std::to_string(storeSlots);
}

double modelledClocks(const Description &description, const AttentionTile &tile) {
  Problem problem(description);
  return std::max(tileClocks(tile, problem), memoryClocks(problem)) + kFill;
}

llvm::SmallVector<AttentionTile> attentionTiles(const Description &description) {
  Problem problem(description);
  AttentionTile tile;
  // Without a mask all tiles are equally long: heads come one after the other. Else long tiles are to come first.
  int64_t headBytes = problem.keys * (problem.headDim + problem.valueDim) * kElementBytes;
  int64_t keyHeads = problem.window.right ? std::max(kL2Bytes / headBytes, kStreamedHeads) : 1;
  tile.groupHeads = evenPart(problem.keyHeads, keyHeads) * problem.sharing;
  llvm::SmallVector<AttentionTile> tiles;
  llvm::SmallVector<std::pair<double, size_t>> order; // of equals the first stays first
  for (int64_t rows : {2 * kRowsOfConsumer, kRowsOfConsumer, kRowsOfThree}) {
    if (rows - kRowsOfConsumer >= problem.queries) {
      continue; // a consumer would never have a query
    }
    tile.rows = rows;
    // Where a CTA has one item at most there is nothing to share.
    double items = problem.mostHeads * std::ceil(problem.mostQueries / double(rows));
    tile.isQueued = (problem.window.right || problem.isVarlen) && items > kMultiprocessors;
    for (int64_t keys : {128, 64}) {
      tile.keys = keys;
      for (auto [queryStages, storeSlots] : {std::pair(2, 2), std::pair(1, 2), std::pair(1, 1)}) {
        tile.queryStages = queryStages;
        tile.storeSlots = storeSlots;
        // Three consumers are for the units beside the tensor cores, which small blocks keep waiting.
        if (fits(tile, problem) && (rows != kRowsOfThree || keys == 128)) {
          order.emplace_back(modelledClocks(description, tile), tiles.size());
          tiles.push_back(tile);
        }
      }
    }
  }
  llvm::sort(order);
  return llvm::map_to_vector(order, [&](const auto &entry) { return tiles[entry.second]; });
}

AttentionTile chooseAttentionTile(const Description &description) {
  llvm::SmallVector<AttentionTile> tiles = attentionTiles(description);
  return namedTile<AttentionTile>(description, tiles).value_or(tiles.front());
}

} // namespace jitk::kernels
