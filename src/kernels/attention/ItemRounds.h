// How evenly the CTAs that stay share the items of attention: a model of `forEachInRounds`, on 132 multiprocessors.
//
// Without a mask all items are as long. With one they get shorter from round to round; where the tiles of one length
// are nearly as many as the CTAs, rounds that only change direction leave some CTAs with an item of each length, and
// others without: 3 % of the time at 2048 queries of 128 heads.

#pragma once

#include "src/kernels/attention/AttentionTile.h"

namespace jitk::kernels {

/// The work of an even share over that of the CTA that has most: 1 is even. 1 where sizes are known at launch only, or
/// no causal mask makes items unequal.
double balanceOf(const Description &description, const AttentionTile &tile);

/// The `turn` of `forEachInRounds` that shares the items of a tile of that shape most evenly, the least of them; 0
/// where items are unknown, or equal.
int64_t chooseTurn(const Description &description, const AttentionTile &tile);

} // namespace jitk::kernels
