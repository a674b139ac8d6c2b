// The configuration of the persistent matmul, in 16 bits or in fp8 with scales of blocks, by a model of what its tiles
// cost.
//
// One CTA stays on each multiprocessor and takes every so many tiles. In clocks:
//
//   block = max(tensor, l2, latency / stages)      128 bytes of K of one tile
//     tensor    wgmma at its rate, or at that of its reads of shared memory where it has few columns; or what one
//               consumer takes for its products and for adding them to its sums where fp8 is promoted, which another
//               one's products hide; what lies between blocks
//     l2        bytes of the operands that lie inside of the matrices, at what one multiprocessor gets from L2, or all
//               that have tiles together; of one consumer, which leaves the clocks where they are, at what one gets
//     latency   of memory: so many stages are in flight, one less in 16 bits
//   tiles  = waves * (blocks * block + epilogue) + fill; the last wave may be one of narrower tiles
//   memory = bytes / memory bandwidth + stores + fill; longer where multiprocessors draw nothing in the last round
//     stores    the results of a tile, which all multiprocessors store at the end, and nothing hides
//   total = max(tiles, memory) + share * min(tiles, memory) + blocks * zeros + sums
//     share     what is not the limit does not hide behind it whole, in 16 bits; of groups what memory takes
//     zeros     rows of tiles past the matrix: TMA takes longer to make them than to copy, whatever else it waits for
//     sums      where K is split over CTAs, so that few tiles fill the multiprocessors: a second kernel, and partial
//               sums written to and read from L2; or meetings of a cluster's CTAs and partial sums between them
//
// Groups of rows have a B each, and constants of their own, as measured. So have 16 bits and fp8 where they differ:
// those of 16 bits are fitted to the times of some 600 tiles (perf/results/rows-h200-2026-11-30.md).
//
// Only tiles of one consumer and few columns, or all rows of A, have K split: what the sums of larger ones take at
// once, at the end, is more than they spare of the operands. The candidate with the least total wins; of equals the one
// that leaves the multiprocessors more idle.

#pragma once

#include "src/ops/Description.h"

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <string>

namespace jitk::kernels {

/// The tile that a CTA computes at a time, and the ring that feeds it.
struct PersistentTile {
  int64_t rows = 0;        ///< 64 for each consumer
  int64_t columns = 0;     ///< a multiple of 8, at most 256
  bool transposed = false; ///< rows run along n and columns along m: few rows of A become few columns
  /// Whether results wait in registers until the next tile's first products run, which hide their way to memory: all of
  /// 16 bits, two to a register, or half of those of fp32.
  bool defersStores = false;
  /// Whether all slices of a tile's results have a slot of their own: then none waits for another one of the same tile,
  /// which TMA takes up behind the loads of the next.
  bool storesAtOnce = false;
  int64_t k = 64; ///< one swizzled row of 128 bytes
  int64_t largestPart = 256;
  /// Whether the parts of columns lie one behind the other in a slot, so that one product takes all of them; else each
  /// part has its own.
  bool joinsParts = false;
  int64_t stages = 0;
  int64_t unrolled = 1;  ///< blocks of K that a consumer of fp8 starts before it promotes the first; below `stages`
  int64_t groupRows = 1; ///< of tiles that a wave goes down before it goes right
  int64_t splits = 1;    ///< parts of K that are summed apart, each of whole blocks and none empty
  /// Whether the CTAs of a tile's parts of K are a cluster, and add up what they have in their shared memory; else a
  /// second step adds up what they leave in the workspace.
  bool clustered = false;

  /// Tiles of two widths, where the last round of wide ones would be short: whole rounds of those, and one of tiles
  /// that have the columns of the first part alone. In each of the first `rows` rows of tiles lie `wide[0]` wide ones,
  /// then `narrow[0]` narrow ones, in each of the others `wide[1]` and `narrow[1]`. All are alike where `rows` is 0.
  struct Mix {
    int64_t rows = 0;
    std::array<int64_t, 2> wide = {}, narrow = {};
    bool operator==(const Mix &) const = default;
  };
  Mix mix = {};

  int64_t sharers = 1; ///< CTAs of a cluster: their tiles lie one below the other, and columns are loaded once for all

  int64_t numConsumers() const { return rows / 64; }
  /// Rows of C that it covers.
  int64_t rowsOfC() const { return transposed ? columns : rows; }
  /// The columns in powers of two up to `largestPart`, large ones first: each is a product of its own.
  llvm::SmallVector<int64_t> parts() const;
  /// Into how many slices of columns a part of the tile goes, each of which a CTA of the cluster adds up: as many as
  /// there are CTAs, where a slice then has columns enough for whole sectors of C.
  int64_t slicesOf(int64_t part) const;
  /// "128x256", "64x8.t" if transposed, "128x128.k4" if K is split, "128x128.c4" over a cluster, "128x192.s2" if
  /// CTAs share columns: all that candidates of
  /// a problem differ in.
  std::string name() const;
  bool operator==(const PersistentTile &) const = default;
};

/// The cheapest tile for a matmul. A dynamic dimension counts as its bound, or as large. A function of the description
/// alone.
PersistentTile choosePersistentTile(const Description &description);

/// A tile, and the most rows of A that a launch gives it.
struct PersistentVariant {
  PersistentTile tile;
  int64_t mostRows = INT64_MAX;
};

/// The tile of each number of rows of A: one where M is static, or the description names a configuration; else, where
/// it is known at launch, one for up to 8, 16, 32 and 64 rows, and one for more, as far as M's bound goes. In the order
/// of their rows.
llvm::SmallVector<PersistentVariant> choosePersistentVariants(const Description &description);

/// The tiles that the choice is made from, complete, the cheapest first.
llvm::SmallVector<PersistentTile> persistentTiles(const Description &description);

/// What the model says that a tile costs, in clocks of an H100 or H200 SXM.
double modelledClocks(const Description &description, const PersistentTile &tile);

} // namespace jitk::kernels
