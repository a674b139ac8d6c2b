// How many parts decoding over a paged cache cuts its work into, where the description does not say.
//
// A CTA takes a part of the keys for up to 64 rows of a key head, and a multiprocessor one CTA at a time: there are
// parts x tiles of them, where tiles = key heads x ceil(rows of a key head / 64).
//
//   rounds of CTAs   the fewest that keep 90 % of the multiprocessors busy, else those that keep most of them busy; as
//                    many parts as they take
//   idle parts       of few sequences that are cut, not every part gets work: so many more are made that as many
//                    have it as the rounds take, if all sequences are as long as they may be
//
// A dynamic dimension counts as its bound; without one, heads count as one, and sequences and keys as many.

#pragma once

#include "src/ops/Description.h"

namespace jitk {

/// The schedule deals keys in blocks. A sequence costs as many as it has and the overhead; a part's share is an even
/// part of what all cost, and the overhead of one sequence.
inline constexpr int64_t kScheduleBlock = 64, kScheduleOverhead = 5;

/// For a description of an op with `splits` whose other attributes are complete. A function of them alone: the
/// multiprocessors are those of AssumedSizes.h.
int64_t chooseDecodeParts(const Description &description);

} // namespace jitk
