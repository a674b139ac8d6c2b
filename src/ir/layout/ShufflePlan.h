// How a tensor changes its layout within each warp, by renaming registers, selects and shuffles.
//
// Each target register of each lane finds its element in some source register of some lane of the same warp; both are
// linear in the bits of (target register, lane, warp). A plan carries that out in three steps, all lanes alike:
//
//   before   exchange registers under a condition on the lane, so that what a lane sends is in one register for all
//   rounds   each sends one register and receives one; where the lane of origin is the lane itself, it is a move
//   after    exchange registers under a condition on the lane, so that what was received comes to its place

#pragma once

#include "src/ir/layout/LinearLayout.h"

namespace jitk::ir {

/// Lanes and warps of which an odd number of the bits in the masks are set take register `r ^ registerXor` for register
/// r, the others leave all as it is.
struct RegisterExchange {
  uint32_t registerXor, laneMask, warpMask;
};

struct ShuffleRound {
  unsigned source;                        ///< the register that each lane sends, after the `before` steps
  uint32_t laneXor;                       ///< see ShufflePlan::laneOfOrigin
  llvm::SmallVector<unsigned, 1> targets; ///< where the element goes, before the `after` steps
};

struct ShufflePlan {
  llvm::SmallVector<RegisterExchange, 2> before;
  llvm::SmallVector<ShuffleRound, 0>
      rounds; ///< those of one laneXor follow each other: they may be packed into one word
  llvm::SmallVector<RegisterExchange, 2> after;
  /// The part of the lane of origin that the receiver's lane and warp add.
  llvm::SmallVector<uint32_t> laneBases, warpBases;

  /// The lane that a lane receives from: laneXor and the bases that the bits of lane and warp select, added.
  uint32_t laneOfOrigin(const ShuffleRound &round, uint32_t lane, uint32_t warp) const;

  /// Each lane receives from lane ^ laneXor: a butterfly.
  bool isButterfly() const;
  /// The round stays in its lane.
  bool isMove(const ShuffleRound &round) const { return round.laneXor == 0 && isButterfly(); }
  /// Nothing but renaming: target register t is source register `rounds[i].source` where t is in `rounds[i].targets`.
  bool isRenaming() const;
  /// Rounds that are not moves.
  unsigned numShuffles() const;
};

/// From each place (register, lane, warp, block) of the target to the place of the source that holds its element. Where
/// several do, the one in the same lane, warp and block if there is one.
LinearLayout placesInSource(const LinearLayout &source, const LinearLayout &target);

/// The plan for `places`, as placesInSource gives it; none if an element leaves its warp, or if a lane would have to
/// send more than it has rounds for.
std::optional<ShufflePlan> planShuffles(const LinearLayout &places);

} // namespace jitk::ir
