// The configuration of the persistent matmul, by a model of what its tiles cost.
//
// One CTA stays on each multiprocessor and takes every so many tiles. In clocks:
//
//   block = max(tensor, l2, latency / stages)      64 of K of one tile
//     tensor    wgmma at its rate, or at that of its reads of shared memory where n is small
//     l2        bytes of the operands that lie inside of the matrices, at what one multiprocessor gets from L2
//     latency   of memory: so many stages are in flight
//   total = max(waves * (blocks * block + epilogue) + fill, bytes / memory bandwidth)
//
// The candidate with the least total wins; of equals the one that leaves the multiprocessors more idle.

#pragma once

#include "src/kernels/vocabulary/SharedTile.h"
#include "src/ops/Description.h"

namespace jitk::kernels {

/// The tile of C that a CTA computes at a time, and the ring that feeds it.
struct PersistentTile {
  int64_t m = 0, n = 0; ///< m is 64 for each consumer
  int64_t k = 64;       ///< one swizzled row of 128 bytes
  int64_t stages = 0;
  int64_t groupRows = 1; ///< of tiles that a wave goes down before it goes right

  int64_t numConsumers() const { return m / 64; }
  bool operator==(const PersistentTile &) const = default;
};

/// The cheapest tile for a matmul. A dynamic dimension counts as its bound, or as large. A function of the description
/// alone.
PersistentTile choosePersistentTile(const Description &description);

/// What the model says that a tile costs, in clocks of an H100 or H200 SXM.
double modelledClocks(const Description &description, const PersistentTile &tile);

} // namespace jitk::kernels
