#include "src/kernels/matmul/PersistentTile.h"

#include "src/kernels/Configuration.h"
#include "src/kernels/MachineModel.h"
#include "src/kernels/matmul/EpilogueFeed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace jitk::kernels {

namespace {

constexpr double kChipL2BytesPerClock = 6150;         ///< of all of them together: 11 TB/s
constexpr double kStreamedBytes = 120e6;              ///< operands that L2 keeps no good part of
constexpr double kKeptBytes = 50e6;                   ///< of B that L2 does keep, so that each round of rows finds them
constexpr double kStreamedL2BytesPerClock = 5300;     ///< measured where they are
constexpr double kStreamedMemoryBytesPerClock = 2050; ///< the same of memory
constexpr double kSecondReading = 1.06;     ///< of columns that tiles one below the other read: so much longer
constexpr double kCoolL2BytesPerClock = 66; ///< of one, where the card is not at the limit of its power
// The same of 16 bits, as fitted to the times of some 600 tiles of 110 problems: perf/results/rows-h200-2026-11-30.md.
constexpr double kChipL2BytesOf16Bits = 8000, kCoolL2BytesOf16Bits = 83;
constexpr double kShareThatDrawsAll = 0.6;    ///< of multiprocessors: fewer do not draw all that memory gives
constexpr double kIdleMultiprocessors = 1.14; ///< measured in fp8: so much longer
constexpr double kStoredBytesPerClock = 32;   ///< of results, by one, where all store at a time
constexpr double kMemoryOf16Bits = 2700;      ///< fitted: bytes a clock, some of which L2 has
constexpr double kMemoryOfPair = 1.04;        ///< fitted in 16 bits: so much longer where two consumers wait for it
constexpr double kUnhidden = 0.18;            ///< fitted in 16 bits: of what takes less time than what is the limit
constexpr double kLatency = 1000;             ///< of a load from memory under load
constexpr double kLatencyOf16Bits = 2150;     ///< fitted: until a slot that was given back is full again
constexpr double kClocksOfZeroRow = 3;        ///< measured in fp8: 1.8 ns for a row of 128 bytes past the matrix
constexpr double kZeroRowOf16Bits = 1.8;      ///< fitted
constexpr double kBlockOverhead = 64;         ///< measured in fp8: what keeps wgmma waiting between blocks
constexpr double kOverheadOfOne = 116, kOverheadOfPair = 100; ///< fitted in 16 bits: the same of one and two consumers
constexpr double kPromotionLatency = 100;  ///< from a part's last product to the first use of its sums
constexpr double kClocksOfColumnScale = 3; ///< measured: a row of scales, which every thread loads its columns' part of
constexpr double kEpilogue = 900, kFill = 1500;
constexpr double kEpilogueOfColumns = 1500; ///< measured of one consumer whose columns are rows of A
constexpr double kShareOfFirstTile = 0.15;  ///< of its time, in which nothing else is on its way yet
constexpr double kSecondStep = 2300;        ///< from the end of one kernel to the start of the next
/// Measured of 16 bits and tiles of 64 x 64: the second step begins so much later where the first one leaves its CTAs
/// hardly a multiprocessor; of more results it takes so long that it does not count.
constexpr double kLateSecondStep = 1400;
constexpr int64_t kFewResults = 1 << 17;
constexpr double kClocksOfPart = 14.2;    ///< measured in fp8: of each CTA, where parts of K are short
constexpr int64_t kFewestSplitBlocks = 4; ///< of K, in a part
constexpr int64_t kMostSplits = 16;
constexpr double kClusterMeetings = 400; ///< measured: of the CTAs of a cluster, at their start and end
constexpr double kClusterMeetingsOfFp8 = 460;
constexpr double kRemoteBytesPerClock = 32; ///< that a multiprocessor stores into the memory of others, in pairs
constexpr double kRemoteBytesOf16Bits = 23;
constexpr double kSplitMargin = 1.1;       ///< a second kernel and a workspace must gain more than the model errs
constexpr double kSharedColumns = 0.98;    ///< measured of 192 columns: 0.967 where a multiprocessor has three tiles
constexpr double kFewestSharedBlocks = 32; ///< of K: fewer were not measured
/// Multiprocessors that clusters of more than two CTAs cannot take: an H200 runs 30 clusters of 4 at a time, 15 of 8,
/// as the driver says. One more would come when all others are done.
constexpr double kLeftOfClusters = 12;
constexpr int64_t kSumBytes = 4; ///< of a partial sum
/// Measured of 16 bits: written by all CTAs at the same time, and read by a second kernel that has just begun.
constexpr double kSumBytesPerClock = 1200;
constexpr int64_t kSplitColumns = 64;      ///< the most of a tile whose K is split
constexpr int64_t kColumnsOfClusters = 96; ///< the same over a cluster, of rows of A: 128 take a third longer
/// Of tiles whose columns are chosen for the problem: of more rounds the last one weighs little.
constexpr int64_t kMostEvenRounds = 5;
constexpr int64_t kSwizzledBytes = 128; ///< of a row of a tile: what is loaded of K at a time
constexpr int64_t kCaptures = 448;      ///< and alignment, where little is left: beside slots that have scales
constexpr int64_t kBarriersOfSlot = 16;
constexpr int64_t kReservedBesideBias = 1024; ///< whose slots would take a stage's room else
constexpr int64_t kBlockOfScales = 128;       ///< of K
constexpr int64_t kBlocksAtOnce = 4, kScaleBytes = 4;
constexpr int64_t kMostStages = 16, kFewestStages = 3;

/// The product as the tile sees it: `rows x columns` results.
struct Problem {
  int64_t rows, columns, k;
  bool isStatic; ///< rows and columns are known
  int64_t elementBytes, outputBytes;
  bool isKContiguous;      ///< in the columns' operand
  bool promotes;           ///< each block's sum is added to another one, outside of the tensor cores
  bool hasBias, hasAddend; ///< what the epilogue reads, in slots like those that stage results
  bool updatesOutput;      ///< it is read by memory alone
  double groups;           ///< of rows, each of which has columns of its own; 0 = there is one problem
};

/// How many groups of rows there are, as far as it is known; 0 where there is one problem.
double groupsOf(const Description &description) {
  if (description.op() != "grouped_fp8_block_matmul") {
    return 0;
  }
  const Dimension &groups = description.dimension("groups");
  return double(groups.isStatic() ? std::max<int64_t>(1, groups.value) : 1);
}

Problem problemOf(const Description &description, bool transposed) {
  int64_t m = assumedSize(description.dimension("m")), n = assumedSize(description.dimension("n"));
  bool isFp8 = llvm::StringRef(description.op()).ends_with("fp8_block_matmul");
  Epilogue epilogue = isFp8 ? Epilogue() : Epilogue(description);
  return {transposed ? n : m,
          transposed ? m : n,
          assumedSize(description.dimension("k")),
          description.dimension("m").isStatic() && description.dimension("n").isStatic(),
          isFp8 ? 1 : 2,
          description.word("out_dtype") == "fp32" ? 4 : 2,
          isFp8 || transposed || description.word("b_layout") == "col",
          isFp8,
          epilogue.hasBias(),
          epilogue.addend() && !epilogue.canAddInMemory(),
          epilogue.canAddInMemory(),
          groupsOf(description)};
}

/// Bytes that all consumers stage results in, and what is added to them: two slices of 128 bytes a row at most; of
/// results for each size of parts, or for each part where they are stored at once; of addends for each part, which have
/// slots in common where stores wait.
int64_t stagedBytes(const PersistentTile &tile, Problem problem) {
  if (tile.clustered) {
    // Slots for what the CTAs of the cluster hand over.
    int64_t slots = 0;
    for (int64_t part : tile.parts()) {
      slots += tile.splits * tile.rows * (part / tile.slicesOf(part)) * kSumBytes;
    }
    return slots;
  }
  if (tile.splits > 1) {
    problem.outputBytes = kSumBytes;
    problem.hasBias = problem.hasAddend = false;
  }
  int64_t bytes = 0, last = 0;
  for (int64_t part : tile.parts()) {
    int64_t row = part * problem.outputBytes;
    int64_t slots = tile.rows * (tile.transposed ? row : std::min<int64_t>(2 * 128, row));
    bytes += (part != last || tile.storesAtOnce ? slots : 0) +
             (problem.hasAddend && !(tile.defersStores && problem.outputBytes == 2) ? slots : 0);
    int64_t feeds =
        problem.hasAddend ? kFedSlices : std::clamp<int64_t>(part * problem.outputBytes / 128, 1, kFedBiases);
    bytes += problem.hasBias ? tile.numConsumers() * feeds * 128 : 0;
    last = part;
  }
  return bytes;
}

/// Where sums are promoted, with the scales of a block: of each consumer's rows, or a part's columns, for each part.
int64_t stageBytes(const PersistentTile &tile, const Problem &problem) {
  int64_t operands = (tile.rows + tile.columns) * tile.k * problem.elementBytes;
  int64_t scales = tile.transposed ? tile.columns + tile.numConsumers() : tile.rows + int64_t(tile.parts().size());
  return operands + (problem.promotes ? scales * kScaleBytes : 0);
}

/// Whether one load brings the scales of four blocks of K.
bool hasWholeScales(const Problem &problem) {
  return problem.promotes && llvm::divideCeil(problem.k, kBlockOfScales) % kBlocksAtOnce == 0;
}

int64_t numTiles(const PersistentTile &tile, const Problem &problem) {
  return llvm::divideCeil(problem.rows, tile.rows) * llvm::divideCeil(problem.columns, tile.columns);
}

double wavesOf(const PersistentTile &tile, const Problem &problem) {
  return std::ceil(double(numTiles(tile, problem) * tile.splits) / kMultiprocessors);
}

/// Whether all parts of a tile's columns have one layout, which has rows of 128 bytes; promoted sums go part by part.
bool canJoinParts(const PersistentTile &tile, const Problem &problem) {
  llvm::SmallVector<int64_t> parts = tile.parts();
  bool hasWholeRows = problem.isKContiguous || parts.back() % (kSwizzledBytes / problem.elementBytes) == 0;
  return parts.size() > 1 && hasWholeRows && !problem.promotes;
}

double l2Clocks(const PersistentTile &tile, const Problem &problem) {
  double inside = double(std::min(tile.rows, problem.rows) + std::min(tile.columns, problem.columns));
  double bytes = inside * double(tile.k * problem.elementBytes);
  double together = std::min(kMultiprocessors, double(numTiles(tile, problem) * tile.splits));
  if ((problem.groups > 0 || !problem.promotes) && tile.numConsumers() == 1) {
    // Measured of groups and of 16 bits: what one consumer draws leaves the clocks where they are, and L2 has more to
    // give.
    return kBlockOverhead + bytes / (problem.promotes ? kCoolL2BytesPerClock : kCoolL2BytesOf16Bits);
  }
  auto rowBytes = double(problem.k * problem.elementBytes);
  double operands = rowBytes * double(problem.rows + problem.columns);
  double ofB = rowBytes * double(tile.transposed ? problem.rows : problem.columns);
  bool isStreamed = operands > kStreamedBytes && ofB > kKeptBytes;
  double ofChip = !problem.promotes ? kChipL2BytesOf16Bits
                  : isStreamed      ? kStreamedL2BytesPerClock
                                    : kChipL2BytesPerClock;
  return bytes * std::max(1 / kL2BytesPerClock, together / ofChip);
}

/// Of a consumer that starts nothing before it has promoted all: more than 128 columns go block by block; of 256 a
/// part, in whose registers the next one's sums come. Of two consumers of few columns, which drain at the same time.
/// Measured; of large groups beside narrower tiles.
double drainClocks(const PersistentTile &tile, const Problem &problem) {
  constexpr double kOne = 160, kTwo = 195, kOneOfGroups = 287, kTwoOfGroups = 255, kNarrowPair = 200;
  if (!problem.promotes || tile.columns <= 128) {
    bool isNarrowPair = tile.numConsumers() == 2 && tile.columns < 128 && !tile.transposed;
    return problem.promotes && isNarrowPair ? kNarrowPair : 0;
  }
  bool isWide = tile.columns > 192;
  return problem.groups > 0 ? (isWide ? kTwoOfGroups : kOneOfGroups) : (isWide ? kTwo : kOne);
}

double blockClocks(const PersistentTile &tile, const Problem &problem) {
  // An instruction takes 64 rows and 32 bytes of K: of 16 bits, 64 x n x 16 products at 2048 a clock, or its operands
  // at 128 bytes a clock; of 8 bits, twice as many at twice the rate.
  constexpr double kInstructionBytes = 32;
  double instructions = 0, promotions = 0;
  for (int64_t columns : tile.joinsParts ? llvm::SmallVector<int64_t>{tile.columns} : tile.parts()) {
    instructions += std::max(double(columns) / 2, 16 + double(columns) / 4);
  }
  for (int64_t part : tile.parts()) {
    // 64 x n values, 128 at a clock.
    promotions += problem.promotes ? double(part) / 2 + kPromotionLatency / double(tile.unrolled) : 0;
  }
  if (problem.promotes && tile.transposed) {
    promotions += kClocksOfColumnScale * double(tile.columns);
  }
  double overhead = problem.promotes ? kBlockOverhead : tile.numConsumers() == 1 ? kOverheadOfOne : kOverheadOfPair;
  double waits = overhead + drainClocks(tile, problem);
  double consumer = double(tile.k * problem.elementBytes) / kInstructionBytes * instructions;
  double tensor = std::max(double(tile.numConsumers()) * consumer, consumer + promotions) + waits;
  // Of 16 bits the slot that is multiplied is no load on its way.
  double latency = problem.promotes ? kLatency / double(tile.stages) : kLatencyOf16Bits / double(tile.stages - 1);
  return std::max({tensor, l2Clocks(tile, problem), latency});
}

/// Of one part of K.
double blocksOf(const PersistentTile &tile, const Problem &problem) {
  return double(llvm::divideCeil(llvm::divideCeil(problem.k, tile.k), tile.splits));
}

/// Of the second step, where K is split: partial sums are written, and read by all multiprocessors. Or of a cluster's
/// CTAs, which hand over all that they have.
double sumClocks(const PersistentTile &tile, const Problem &problem) {
  if (tile.splits == 1) {
    return 0;
  }
  if (tile.clustered) {
    double rate = problem.promotes ? kRemoteBytesPerClock : kRemoteBytesOf16Bits;
    return (problem.promotes ? kClusterMeetingsOfFp8 : kClusterMeetings) +
           double(tile.rows * tile.columns * kSumBytes) / (tile.transposed ? rate / 2 : rate);
  }
  double bytes = 2.0 * double(tile.splits * problem.rows * problem.columns * kSumBytes);
  bool isCrowded = double(numTiles(tile, problem) * tile.splits) > kMultiprocessors - kLeftOfClusters;
  bool waits = !problem.promotes && !tile.transposed && isCrowded && problem.rows * problem.columns <= kFewResults;
  // All loads of a short part are on their way at once.
  bool isShort = problem.promotes && blocksOf(tile, problem) <= double(tile.stages);
  double parts = isShort ? kClocksOfPart * double(numTiles(tile, problem) * tile.splits) : 0;
  return kSecondStep + (waits ? kLateSecondStep : 0) + parts +
         bytes / (problem.promotes ? kMultiprocessors * kL2BytesPerClock : kSumBytesPerClock);
}

/// Of the rows of zeros in tiles that reach past the problem: in all of them where it is smaller than a tile, else in
/// the last ones, which a CTA has one of at most, so that more rounds hide more of it. Of the latter measured in 16
/// bits.
double zeroClocks(const PersistentTile &tile, const Problem &problem) {
  double waves = wavesOf(tile, problem);
  auto along = [&](int64_t size, int64_t ofTile) {
    auto past = double(llvm::alignTo(size, ofTile) - size);
    return size < ofTile ? waves * past : problem.promotes ? 0 : past / waves;
  };
  double rows = along(problem.rows, tile.rows) + along(problem.columns, tile.columns);
  return blocksOf(tile, problem) * rows * (problem.promotes ? kClocksOfZeroRow : kZeroRowOf16Bits);
}

double epilogueClocks(const PersistentTile &tile, const Problem &problem) {
  // Measured of fp8: 128 columns, and each 64 more.
  const double atOnce = problem.groups > 0 ? 990 : 550, next = problem.groups > 0 ? 400 : 800;
  if (problem.promotes && tile.transposed && tile.numConsumers() == 1 && tile.splits == 1) {
    return kEpilogueOfColumns;
  }
  bool isMeasured = problem.promotes && tile.numConsumers() == 2 && tile.columns >= 128;
  return isMeasured ? atOnce + next * (double(tile.columns) / 64 - 2) : kEpilogue;
}

double tileClocks(const PersistentTile &tile, const Problem &problem) {
  auto ofTile = [&](const PersistentTile &one) {
    // Where L2 is the limit the next tile's blocks come beside the epilogue of one consumer; measured of groups.
    double block = blockClocks(one, problem);
    bool isHidden =
        problem.groups > 0 && one.numConsumers() == 1 && one.columns >= 128 && block <= l2Clocks(one, problem);
    return blocksOf(one, problem) * block + (isHidden ? 0 : epilogueClocks(one, problem));
  };
  double wide = ofTile(tile);
  if (tile.mix.rows > 0) {
    PersistentTile narrow = tile;
    narrow.columns = tile.parts().front();
    return (wavesOf(tile, problem) - 1) * wide + ofTile(narrow) + kFill;
  }
  return wavesOf(tile, problem) * wide + kFill;
}

/// How much longer memory takes than if all multiprocessors drew from it all the time, each byte once.
double memoryShare(const PersistentTile &tile, const Problem &problem) {
  double rounds = double(numTiles(tile, problem)) / kMultiprocessors;
  if (problem.groups > 0) {
    // Measured: multiprocessors that wait for the last round's tiles of others load nothing.
    return (std::ceil(rounds) + kShareOfFirstTile) / rounds;
  }
  if (!problem.promotes) {
    return tile.numConsumers() == 2 ? kMemoryOfPair : 1;
  }
  if (rounds < kShareThatDrawsAll) {
    return tile.splits == 1 ? kIdleMultiprocessors : 1;
  }
  if (tile.numConsumers() == 2) {
    // Measured: two consumers are no faster in a last round that has memory to itself; one is.
    return std::ceil(rounds) / rounds;
  }
  return !tile.transposed && problem.rows > tile.rows ? kSecondReading : 1;
}

double memoryClocks(const PersistentTile &tile, const Problem &problem) {
  double columns = std::max(1.0, problem.groups) * double(problem.columns);
  double operands = (double(problem.rows) + columns) * double(problem.k * problem.elementBytes);
  double results = double(problem.rows * problem.columns * problem.outputBytes) *
                   (problem.hasAddend || problem.updatesOutput ? 2 : 1);
  bool isStreamed = problem.promotes && problem.groups == 0 && operands > kStreamedBytes;
  double rate = isStreamed ? kStreamedMemoryBytesPerClock : problem.promotes ? kMemoryBytesPerClock : kMemoryOf16Bits;
  double exposed =
      problem.promotes ? kEpilogue : double(tile.rows * tile.columns * problem.outputBytes) / kStoredBytesPerClock;
  return memoryShare(tile, problem) * (operands + results) / rate + exposed + kFill;
}

/// What does not hide behind the limit: in 16 bits a share of the other one; of groups a share of memory's, measured.
double unhiddenClocks(const PersistentTile &tile, const Problem &problem, double ofTiles, double ofMemory) {
  constexpr double kBehindPairs = 0.3, kBehindOne = 0.25;
  if (!problem.promotes) {
    return kUnhidden * std::min(ofTiles, ofMemory);
  }
  bool isBehind = problem.groups > 0 && ofMemory < ofTiles;
  return isBehind ? (tile.numConsumers() == 2 ? kBehindPairs : kBehindOne) * ofMemory : 0;
}

/// The mix of a tile of two parts: whole rounds of wide tiles, and what is left in one round of narrow ones. None where
/// that does not work out, or the parts are not to be told apart: promoted ones change places, and addends have slots.
PersistentTile::Mix mixOf(const PersistentTile &tile, const Problem &problem) {
  constexpr auto kCtas = int64_t(kMultiprocessors);
  int64_t rows = llvm::divideCeil(problem.rows, tile.rows), numWide = numTiles(tile, problem) / kCtas * kCtas;
  int64_t columns = tile.parts().front();
  if (columns == tile.columns || tile.numConsumers() == 1 || tile.transposed || tile.splits > 1 || problem.promotes ||
      problem.hasAddend || !problem.isStatic) {
    return {};
  }
  auto narrowBeside = [&](int64_t wide) {
    return int64_t(llvm::divideCeil(std::max<int64_t>(0, problem.columns - wide * tile.columns), columns));
  };
  // As alike as can be: rows of tiles that have `most` wide ones, and some that have `least`.
  for (int64_t most = llvm::divideCeil(numWide, rows); most <= problem.columns / tile.columns; ++most) {
    for (int64_t least = numWide / rows; least >= 0; --least) {
      int64_t excess = numWide - least * rows;
      if (most == least || excess % (most - least) != 0) {
        continue;
      }
      int64_t first = excess / (most - least);
      int64_t numNarrow = first * narrowBeside(most) + (rows - first) * narrowBeside(least);
      if (first > 0 && first <= rows && numNarrow <= kCtas) {
        return {first, {most, least}, {narrowBeside(most), narrowBeside(least)}};
      }
    }
  }
  return {};
}

/// As many stages as fit; as many rows of tiles to a group as make a wave's rectangle square.
PersistentTile complete(PersistentTile tile, const Problem &problem) {
  // Beside the accumulators of the next tile; worth it where there is a next tile.
  tile.defersStores = tile.numConsumers() == 2 && !tile.transposed && !problem.promotes && tile.splits == 1 &&
                      wavesOf(tile, problem) > 1;
  tile.storesAtOnce = tile.numConsumers() == 2 && !tile.transposed && problem.promotes && problem.outputBytes == 2;
  // Scales that do not come four at a time change threads on their way, through shared memory.
  int64_t reserved = hasWholeScales(problem) ? kCaptures : problem.hasBias ? kReservedBesideBias : kReserved;
  int64_t fitting =
      (kSharedBytes - reserved - stagedBytes(tile, problem)) / (stageBytes(tile, problem) + kBarriersOfSlot);
  tile.stages = std::min(fitting, kMostStages);
  if (problem.promotes) {
    // What lies between the start of a product and the use of its sums takes longer than a product of few columns. The
    // slots of all that are started are held, so that one must be left to load into.
    constexpr int64_t kColumnsInFlight = 256, kMostInFlight = 4;
    tile.unrolled = std::clamp<int64_t>(std::min(kColumnsInFlight / tile.columns, tile.stages - 1), 1, kMostInFlight);
  }
  tile.joinsParts = canJoinParts(tile, problem);
  tile.mix = mixOf(tile, problem);
  double side = std::sqrt(kMultiprocessors * double(tile.columns) / double(tile.rows));
  tile.groupRows = int64_t(llvm::bit_floor(std::max<uint64_t>(1, uint64_t(side))));
  if (!problem.promotes && wavesOf(tile, problem) == 1) {
    // All tiles run at a time anyway: CTAs whose numbers are neighbours share more, measured.
    tile.groupRows = std::min<int64_t>(tile.groupRows, 4);
  }
  return tile;
}

} // namespace

llvm::SmallVector<int64_t> PersistentTile::parts() const {
  llvm::SmallVector<int64_t> parts;
  for (int64_t rest = columns; rest > 0; rest -= parts.back()) {
    parts.push_back(std::min(largestPart, int64_t(llvm::bit_floor(uint64_t(rest)))));
  }
  return parts;
}

std::string PersistentTile::name() const {
  return std::to_string(rows) + "x" + std::to_string(columns) + (transposed ? ".t" : "") +
         (splits > 1 ? (clustered ? ".c" : ".k") + std::to_string(splits) : "") +
         (sharers > 1 ? ".s" + std::to_string(sharers) : "");
}

int64_t PersistentTile::slicesOf(int64_t part) const {
  // 32 bytes of a row; rows are 64 long where the tile is transposed.
  int64_t fewestColumns = transposed ? 8 : 16;
  return int64_t(llvm::bit_floor(uint64_t(std::clamp<int64_t>(part / fewestColumns, 1, splits))));
}

double modelledClocks(const Description &description, const PersistentTile &tile) {
  Problem problem = problemOf(description, tile.transposed);
  double ofTiles = tileClocks(tile, problem), ofMemory = memoryClocks(tile, problem);
  double unhidden = unhiddenClocks(tile, problem, ofTiles, ofMemory);
  double clocks = std::max(ofTiles, ofMemory) + unhidden + zeroClocks(tile, problem) + sumClocks(tile, problem);
  if (tile.sharers > 1) {
    bool gains = blocksOf(tile, problem) >= kFewestSharedBlocks;
    return clocks * (gains ? kSharedColumns : 1 / kSharedColumns);
  }
  return tile.splits > 1 && !tile.clustered ? clocks * kSplitMargin : clocks;
}

/// The least number of columns that covers `size` in at most two parts: measured, three take twice their time.
static int64_t coveringColumns(int64_t size) {
  PersistentTile tile = {.columns = int64_t(llvm::alignTo(size, 8))};
  while (tile.parts().size() > 2) {
    tile.columns += 8;
  }
  return tile.columns;
}

/// Columns that cut a matrix of known sizes into even tiles of so many rows, where so many rounds take them all and the
/// usual columns would leave multiprocessors idle; 0 where there are none. In 16 bits: a part of 16 columns has
/// no scale. At most three parts, each of which is loaded and stored by itself; two, of the larger tiles, where each
/// has a product of its own.
static int64_t evenColumns(const Problem &problem, int64_t rows, int64_t rounds) {
  constexpr int64_t kSmallestPart = 16, kFewest = 64, kMost = 256, kLeastInside = 4;
  constexpr size_t kMostParts = 3;
  int64_t atOnce = rounds * int64_t(kMultiprocessors) / int64_t(llvm::divideCeil(problem.rows, rows));
  if (problem.promotes || !problem.isStatic || atOnce == 0) {
    return 0;
  }
  PersistentTile tile = {.rows = rows,
                         .columns = int64_t(llvm::alignTo(llvm::divideCeil(problem.columns, atOnce), kSmallestPart))};
  size_t numParts = tile.parts().size();
  bool isServed = canJoinParts(tile, problem) ? numParts <= kMostParts : numParts == 2 && tile.numConsumers() == 2;
  bool isNew = tile.columns > kFewest && tile.columns < kMost && tile.columns != 192 && numParts > 1;
  // Measured: a tile that lies mostly outside takes half as long again.
  int64_t ofLast = problem.columns % tile.columns;
  isServed = isServed && (ofLast == 0 || kLeastInside * ofLast >= tile.columns);
  return isNew && isServed ? tile.columns : 0;
}

/// Whether K can be cut into so many parts of whole blocks, none of them empty or too short to pay. Of fp8 each has as
/// many, in whole slots of scales: what lies behind the last scale of a row is another row's, or nobody's.
static bool canCut(const PersistentTile &tile, const Problem &problem, int64_t parts) {
  auto blocks = int64_t(llvm::divideCeil(problem.k, tile.k)), depth = int64_t(llvm::divideCeil(blocks, parts));
  bool isFull = int64_t(llvm::divideCeil(blocks, depth)) == parts;
  bool hasScales =
      !problem.promotes || (hasWholeScales(problem) && depth * parts == blocks && depth % kBlocksAtOnce == 0);
  return tile.numConsumers() == 1 && isFull && depth >= kFewestSplitBlocks && hasScales;
}

/// The ways to split K: not at all, and into parts where one wave takes them all.
static llvm::SmallVector<int64_t> splitsOf(const PersistentTile &tile, const Problem &problem) {
  llvm::SmallVector<int64_t> ways = {1};
  // Measured: partial sums of two consumers, or in 16 bits of more columns, where they are not all that there are, take
  // longer than they spare. Fewer columns load too much for each product.
  bool hasColumns = tile.transposed || tile.columns == kSplitColumns;
  for (int64_t splits = 2; splits <= kMostSplits && (problem.promotes || hasColumns); ++splits) {
    if (canCut(tile, problem, splits) && double(numTiles(tile, problem) * splits) <= kMultiprocessors) {
      ways.push_back(splits);
    }
  }
  return ways;
}

/// The same for parts whose CTAs are a cluster. Where tiles share columns of B, CTAs side by side have them from L2 at
/// once, but not the CTAs of clusters: measured, those take 1.1 to 1.5 times as long then. So do tiles of more columns.
/// In 16 bits two parts load too little at a time.
static llvm::SmallVector<int64_t> clusterSplitsOf(const PersistentTile &tile, const Problem &problem) {
  llvm::SmallVector<int64_t> ways;
  bool sharesNothing = tile.transposed || problem.rows <= tile.rows;
  int64_t mostColumns = tile.transposed ? kColumnsOfClusters : kSplitColumns;
  for (int64_t splits = problem.promotes ? 2 : 4; splits <= 8; splits *= 2) {
    if (tile.columns <= mostColumns && sharesNothing && canCut(tile, problem, splits) &&
        double(numTiles(tile, problem) * splits) <= kMultiprocessors - (splits > 2 ? kLeftOfClusters : 0)) {
      ways.push_back(splits);
    }
  }
  return ways;
}

/// Whether tiles of fp8 lie in pairs, one below the other, whose CTAs have B's columns loaded once.
static bool canShareColumns(const Problem &problem) {
  constexpr int64_t kRows = 128;
  return problem.promotes && problem.groups == 0 && problem.isStatic && llvm::divideCeil(problem.rows, kRows) % 2 == 0;
}

llvm::SmallVector<PersistentTile> persistentTiles(const Description &description) {
  llvm::SmallVector<PersistentTile> tiles;
  auto add = [&](PersistentTile tile) {
    Problem problem = problemOf(description, tile.transposed);
    tile.k = kSwizzledBytes / problem.elementBytes;
    // What is promoted has a second set of accumulators, and one scale of B a part.
    tile.largestPart = problem.promotes ? 128 : 256;
    auto addComplete = [&] {
      PersistentTile whole = complete(tile, problem);
      if (whole.stages >= kFewestStages) {
        tiles.push_back(whole);
      }
    };
    for (int64_t splits : splitsOf(tile, problem)) {
      tile.splits = splits;
      tile.clustered = false;
      addComplete();
    }
    tile.clustered = true;
    for (int64_t splits : clusterSplitsOf(tile, problem)) {
      tile.splits = splits;
      addComplete();
    }
  };
  // Few rows of A: all of them are the columns of a tile. Of a column-major A they are not: few of those lie side by
  // side.
  const int64_t fewRows = problemOf(description, /*transposed=*/true).promotes ? 64 : 192;
  int64_t m = assumedSize(description.dimension("m"));
  bool isColumnMajorA = description.op() == "matmul" && description.word("a_layout") == "col";
  for (int64_t rows : {64, 128}) {
    if (m <= fewRows && !isColumnMajorA) {
      add({.rows = rows, .columns = coveringColumns(m), .transposed = true});
    }
  }
  for (int64_t rows : {64, 128}) {
    for (int64_t columns : {256, 192, 128, 64, 32}) {
      add({.rows = rows, .columns = columns});
    }
  }
  if (canShareColumns(problemOf(description, /*transposed=*/false))) {
    add({.rows = 128, .columns = 192, .sharers = 2});
  }
  for (int64_t rows : {64, 128}) {
    llvm::SmallSet<int64_t, 8> known;
    for (int64_t rounds = 1; rounds <= kMostEvenRounds; ++rounds) {
      int64_t columns = evenColumns(problemOf(description, /*transposed=*/false), rows, rounds);
      if (columns != 0 && known.insert(columns).second) {
        add({.rows = rows, .columns = columns});
      }
    }
  }
  // From few rows to many: of equals the first stays first.
  llvm::SmallVector<std::tuple<double, double, size_t>> order;
  for (auto [index, tile] : llvm::enumerate(tiles)) {
    order.emplace_back(modelledClocks(description, tile), tileClocks(tile, problemOf(description, tile.transposed)),
                       index);
  }
  llvm::sort(order);
  return llvm::map_to_vector(order, [&](const auto &entry) { return tiles[std::get<size_t>(entry)]; });
}

PersistentTile choosePersistentTile(const Description &description) { return persistentTiles(description).front(); }

/// The description with at most `rows` rows of A.
static Description withRows(const Description &description, int64_t rows) {
  auto attributes = description.attributes();
  std::get<Dimension>(attributes.find("m")->second).bound = rows;
  return {description.op(), std::move(attributes)};
}

llvm::SmallVector<PersistentVariant> choosePersistentVariants(const Description &description) {
  if (auto named = namedTile<PersistentTile>(description, persistentTiles(description))) {
    return {PersistentVariant{*named}};
  }
  const Dimension &m = description.dimension("m");
  llvm::SmallVector<PersistentVariant> variants;
  for (int64_t rows : {8, 16, 32, 64}) {
    if (!m.isStatic() && (m.bound == 0 || rows < m.bound)) {
      variants.push_back({choosePersistentTile(withRows(description, rows)), rows});
    }
  }
  variants.push_back({choosePersistentTile(description)});
  return variants;
}

} // namespace jitk::kernels
