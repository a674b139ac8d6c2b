// How many parts decoding over a paged cache cuts its work into, where the description does not say.
//
// A CTA takes a part of the keys for up to 64 rows of a key head, and a multiprocessor one CTA at a time: there are
// parts x tiles of them, where tiles = key heads x ceil(rows of a key head / 64).
//
//   rounds of CTAs   the fewest that keep 90 % of the multiprocessors busy, as many parts as they take; else those that
//                    keep most of them busy
//   keys             a part has kFewestBlocks blocks at least, of as many keys as the sequences may have
//
// A dynamic dimension counts as its bound; an unknown number of heads as 1, of keys as many.

#pragma once

#include "src/ops/Description.h"

namespace jitk {

/// Rows of a tile, and keys of a block that is dealt whole.
inline constexpr int64_t kDecodeRows = 64, kDecodeBlock = 64;

/// For a description of an op with `splits` whose other attributes are complete. A function of them alone: the models
/// of other ops have the same device in mind, one of 132 multiprocessors.
int64_t chooseDecodeParts(const Description &description);

} // namespace jitk
