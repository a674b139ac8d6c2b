// The configuration of the persistent attention kernel.
//
//   rows     128 queries, 64 for each of two consumers; 64 where there are no more; 192 where three consumers have
//            registers enough and there are many queries
//   keys     128 where shared memory and the registers of a thread have room for them, else 64
//   stages   two blocks of keys and two of values; a second slice of results and a second tile of queries if there is
//            room
//
// A thread holds the outputs, scores and weights of half a row: value_dim / 2 + keys / 2 + keys / 4 of 240 registers,
// or of 160 of three consumers.

#pragma once

#include "src/ops/Description.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace jitk::kernels {

/// Heads are dealt with in parts of powers of two, of at least so many elements.
inline constexpr int64_t kLeastPart = 16;

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

/// The tiles that fit, the one that is taken first.
llvm::SmallVector<AttentionTile> attentionTiles(const Description &description);

/// The tile for a problem of flash_attention: the one that it names, or the first that fits. A dynamic dimension counts
/// as its bound, or as large. A function of the description alone.
AttentionTile chooseAttentionTile(const Description &description);

} // namespace jitk::kernels
