// Rows of softmax attention in float64, with the errors that a correct implementation may have.

#pragma once

#include "src/reference/Expected.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace jitk::reference {

struct AttentionRules {
  int64_t headDim, valueDim;
  double scale;
  double roundoff;     ///< of the weights, which are rounded to the inputs' dtype
  double outRoundoff;  ///< of the output
  double lseOfNothing; ///< where no key is attended to
  double softcap = 0;  ///< scores become softcap tanh(score / softcap); 0: none
};

/// A row of the output and its log-sum-exp, with their error bounds.
struct AttentionRow {
  std::vector<double> values, bounds;
  double lse = 0, lseBound = 0;
};

/// softmax(scale q k^T) v over the given keys, each with its value.
AttentionRow attendRow(const AttentionRules &rules, const float *query, std::span<const float *const> keys,
                       std::span<const float *const> values);

/// A row that must keep its bytes.
AttentionRow untouchedRow(int64_t valueDim);

/// The outputs of attention: o [batch, queries, heads, valueDim] and lse [batch, heads, queries].
struct AttentionOutputs {
  int64_t batch, queries, heads, valueDim;
  int64_t costOfRow; ///< multiplications, at most
};

/// The expectations of both, for rows chosen with `seed`; `rowOf` gives one by sequence, query and head, on any thread.
std::vector<Expected> expectAttention(const AttentionOutputs &outputs, uint64_t seed,
                                      const std::function<AttentionRow(int64_t, int64_t, int64_t)> &rowOf);

} // namespace jitk::reference
