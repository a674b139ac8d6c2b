// The configuration of the persistent attention kernel, by a model of what its tiles cost.
//
//   rows     64 queries for each of one to three consumers
//   keys     128 or 64 of a block
//   stages   two blocks of keys and two of values; two slices of results and two tiles of queries, or one
//
// A thread holds the outputs, scores and weights of half a row: value_dim / 2 + keys / 2 + keys / 4 of 240 registers,
// or of 160 of three consumers.
//
// One CTA stays on each multiprocessor and takes tiles of queries, each with the blocks of keys that it sees. In
// clocks:
//
//   block = max(tensor, units, l2) + exposed
//     tensor    products of scores and outputs of all consumers, as of a matmul: scores are read from shared memory, on
//               both sides, outputs on one
//     units     the exponentials of all consumers, 16 at a clock, and what else is done with each score
//     l2        keys and values, at what one multiprocessor gets from L2
//     exposed   a consumer waits for its scores before it has anything else to do: the more there are, the less of that
//               nobody uses
//   item  = blocks * block + results, at memory's bandwidth + what no second tile of queries or slice hides
//   total = max(items, bytes / memory bandwidth) + fill
//     items     where all are equally long, the rounds of items times an item; else their sum over the multiprocessors,
//               and half of the shortest one, which comes last
//
// The candidate with the least total wins; of equals the one with more in shared memory.

#pragma once

#include "src/ops/Description.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace jitk::kernels {

/// What a CTA works on at a time, and what feeds it.
struct AttentionTile {
  int64_t rows = 128;      ///< queries: 64 for each consumer
  int64_t keys = 128;      ///< of a block: a multiple of 16
  int64_t stages = 2;      ///< blocks of keys, and of values, in shared memory
  int64_t queryStages = 1; ///< tiles of queries there
  int64_t storeSlots = 2;  ///< slices of results that a consumer stages
  int64_t groupHeads = 1;  ///< query heads whose tiles are worked on at the same time, so that they share L2
  bool isQueued = false;   ///< CTAs take their items from a counter, see ItemQueue

  int64_t numConsumers() const { return rows / 64; }
  /// The keys of a block in powers of two, large ones first: each is a product of its own.
  llvm::SmallVector<int64_t> keyParts() const;
  /// "128x128.q2.s1": rows and keys, tiles of queries and slices of results in shared memory; all that candidates of a
  /// problem differ in.
  std::string name() const;
  bool operator==(const AttentionTile &) const = default;
};

/// What the model says that a tile costs, in clocks of an H100 or H200 SXM.
double modelledClocks(const Description &description, const AttentionTile &tile);

/// The tiles that fit, the cheapest first.
llvm::SmallVector<AttentionTile> attentionTiles(const Description &description);

/// The tile for a problem of flash_attention: the one that it names, or the cheapest. A dynamic dimension counts
/// as its bound, or as large. A function of the description alone.
AttentionTile chooseAttentionTile(const Description &description);

} // namespace jitk::kernels
