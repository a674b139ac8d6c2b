#include "src/kernels/attention/AttentionTile.h"

#include "src/kernels/Configuration.h"
#include "src/kernels/attention/AttentionSequences.h"
#include "src/kernels/vocabulary/DimensionParts.h"
#include "src/runtime/SharedMemory.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <cmath>
#include <limits>

namespace jitk::kernels {

namespace {

constexpr int64_t kSharedBytes = sharedMemoryLimit(90);
constexpr int64_t kReserved = 2048; ///< barriers, captures, and what alignment loses
/// Of a thread of a consumer: of two, and of three.
constexpr int64_t kRegisters = 240, kOtherRegisters = 40;
constexpr int64_t kRegistersOfThree = 160, kOtherRegistersOfThree = 32;
constexpr int64_t kRowsOfThree = 192;
/// So many rows leave too little of a tile empty at the end, and too little work above the diagonal, to matter.
constexpr int64_t kQueriesForThree = 2048;
constexpr int64_t kElementBytes = 2;
/// Of the 50 MB of L2: keys and values of the heads that are worked on share it with queries and results.
constexpr int64_t kL2Bytes = 32 << 20;
/// Or so few key heads that many CTAs read the same keys at about the same time.
constexpr int64_t kStreamedHeads = 8;
constexpr double kMultiprocessors = 132;

int64_t sizeOf(const Dimension &dimension, int64_t unknown) {
  int64_t size = dimension.isStatic() ? dimension.value : dimension.bound ? dimension.bound : unknown;
  return std::max<int64_t>(1, size);
}

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
        queries(sizeOf(description.dimension("seq_q"), 4096)), keys(sizeOf(description.dimension("seq_k"), 8192)),
        isCausal(description.flag("causal")), isVarlen(AttentionSequences(description).differ()),
        mostHeads(mostOf(description.dimension("batch")) * mostOf(description.dimension("heads"))),
        mostQueries(mostOf(description.dimension("seq_q"))),
        keyHeads(sizeOf(description.dimension("batch"), 64) * sizeOf(description.dimension("kv_heads"), 1)),
        sharing(std::max<int64_t>(1, sizeOf(description.dimension("heads"), 1) /
                                         sizeOf(description.dimension("kv_heads"), 1))) {}

  int64_t headDim, valueDim, outputBytes;
  int64_t queries, keys;
  bool isCausal, isVarlen;
  double mostHeads; ///< of all sequences
  double mostQueries;
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
  bool fitsRegisters = tile.rows == kRowsOfThree ? registers + kOtherRegistersOfThree <= kRegistersOfThree
                                                 : registers + kOtherRegisters <= kRegisters;
  return fitsShared && fitsRegisters;
}

} // namespace

llvm::SmallVector<int64_t> AttentionTile::keyParts() const {
  return llvm::map_to_vector(splitDimension(keys, 1), [](const DimensionPart &part) { return part.size; });
}

std::string AttentionTile::name() const {
  return std::to_string(rows) + "x" + std::to_string(keys) + ".q" + std::to_string(queryStages) + ".s" +
         std::to_string(storeSlots);
}

llvm::SmallVector<AttentionTile> attentionTiles(const Description &description) {
  Problem problem(description);
  AttentionTile tile;
  // Without a mask all tiles are equally long: heads come one after the other. Else long tiles are to come first.
  int64_t headBytes = problem.keys * (problem.headDim + problem.valueDim) * kElementBytes;
  int64_t keyHeads = problem.isCausal ? std::max(kL2Bytes / headBytes, kStreamedHeads) : 1;
  tile.groupHeads = evenPart(problem.keyHeads, keyHeads) * problem.sharing;
  // Room for keys is worth more than for a second slice of results, and that more than for a second tile of queries.
  constexpr struct {
    int64_t keys, queryStages, storeSlots;
  } kCandidates[] = {{128, 2, 2}, {128, 1, 2}, {128, 1, 1}, {64, 2, 2}, {64, 1, 2}, {64, 1, 1}};
  llvm::SmallVector<int64_t> rows = {128, 64};
  if (problem.queries <= 64) {
    rows = {64, 128};
  } else if (problem.queries >= kQueriesForThree && !problem.isVarlen) {
    rows = {kRowsOfThree, 128, 64};
  }
  llvm::SmallVector<AttentionTile> tiles;
  for (int64_t ofTile : rows) {
    tile.rows = ofTile;
    // Where a CTA has one item at most there is nothing to share.
    double items = problem.mostHeads * std::ceil(problem.mostQueries / double(ofTile));
    tile.isQueued = (problem.isCausal || problem.isVarlen) && items > kMultiprocessors;
    for (auto [keys, queryStages, storeSlots] : kCandidates) {
      tile.keys = keys;
      tile.queryStages = queryStages;
      tile.storeSlots = storeSlots;
      // Three consumers are for the units beside the tensor cores, which small blocks keep waiting.
      if (fits(tile, problem) && (ofTile != kRowsOfThree || keys == 128)) {
        tiles.push_back(tile);
      }
    }
  }
  return tiles;
}

AttentionTile chooseAttentionTile(const Description &description) {
  llvm::SmallVector<AttentionTile> tiles = attentionTiles(description);
  return namedTile<AttentionTile>(description, tiles).value_or(tiles.front());
}

} // namespace jitk::kernels
