// What edge cases make of their tensors before a launch (`checked::Problem::edit`): data that random problems do not
// have.

#pragma once

#include "src/reference/Instance.h"

#include <vector>

namespace jitk::conformance {

/// Four sequences whose offsets begin before the tokens and end after them, and whose slots are all but one no slot.
void leaveRange(std::vector<reference::HostTensor> &tensors);

/// Entries of a table, before the ends of their sequences, that name no page. Whichever page is read instead holds
/// numbers.
void breakTable(std::vector<reference::HostTensor> &tensors);

/// Lengths of sequences whose cache has no page.
void takeCacheAway(std::vector<reference::HostTensor> &tensors);

/// One key for all tokens, gates of 1 and beta of 1: each token overwrites what the last one wrote, and the matrix that
/// is inverted is full of ones.
void repeatKeys(std::vector<reference::HostTensor> &tensors);

/// Queries and keys whose squares sum up to about the 1e-6 that a norm adds to them; the first of either are zero.
void shrinkQueriesAndKeys(std::vector<reference::HostTensor> &tensors);

/// Values of about 100, and some keys that are zero, whose inverse norm is the largest there is: 1000.
void zeroKeysUnderLargeValues(std::vector<reference::HostTensor> &tensors);

/// Keys and queries of a norm of a few thousand beside values of a few thousandths.
void lengthenKeysOfSmallValues(std::vector<reference::HostTensor> &tensors);

/// Keys whose norms go from 2^-12 of what they were to 2^12 of it from one token to the next, and small values.
void mixNorms(std::vector<reference::HostTensor> &tensors);

/// Queries 16 times as long: the maximum of a row grows by far more than 2^8 from block to block, and by less.
void sharpenScores(std::vector<reference::HostTensor> &tensors);

} // namespace jitk::conformance
