#include "src/ops/ScalarDefault.h"
#include "src/reference/AttentionRow.h"
#include "src/reference/Numeric.h"
#include "src/reference/References.h"

#include <algorithm>
#include <limits>

namespace jitk::reference {
namespace {

/// The problem's sizes and operands.
struct Attention {
  int64_t batch, heads, keyHeads, queries, keys, headDim, valueDim;
  double scale; ///< of the scores
  bool causal;
  double roundoff;    ///< of the weights, which are rounded to the inputs' dtype
  double outRoundoff; ///< of the output
  std::vector<float> q, k, v;
  std::vector<int32_t> numQueries, numKeys; ///< of each sequence
};

} // namespace

static AttentionRow attend(const Attention &p, int64_t sequence, int64_t head, int64_t query) {
  int64_t seen = p.numKeys[size_t(sequence)];
  if (p.causal) {
    seen = std::min(seen, query + p.numKeys[size_t(sequence)] - p.numQueries[size_t(sequence)] + 1);
  }
  int64_t keyHead = head / (p.heads / p.keyHeads);
  std::vector<const float *> keys, values;
  for (int64_t key = 0; key < seen; ++key) {
    int64_t row = (sequence * p.keys + key) * p.keyHeads + keyHead;
    keys.push_back(p.k.data() + row * p.headDim);
    values.push_back(p.v.data() + row * p.valueDim);
  }
  AttentionRules rules{.headDim = p.headDim,
                       .valueDim = p.valueDim,
                       .scale = p.scale,
                       .roundoff = p.roundoff,
                       .outRoundoff = p.outRoundoff,
                       .lseOfNothing = -std::numeric_limits<double>::infinity()};
  return attendRow(rules, p.q.data() + ((sequence * p.queries + query) * p.heads + head) * p.headDim, keys, values);
}

static Attention gather(const Description &description, const Sizes &sizes, const Operands &operands) {
  Attention p{sizes["batch"],
              sizes["heads"],
              sizes["kv_heads"],
              sizes["seq_q"],
              sizes["seq_k"],
              sizes["head_dim"],
              sizes["value_dim"],
              numberOf("scale", description),
              description.flag("causal"),
              unitRoundoff(description.word("dtype")),
              unitRoundoff(description.word("out_dtype")),
              operands.decoded("q"),
              operands.decoded("k"),
              operands.decoded("v"),
              {},
              {}};
  p.numQueries.assign(size_t(p.batch), int32_t(p.queries));
  p.numKeys.assign(size_t(p.batch), int32_t(p.keys));
  if (description.flag("varlen")) {
    p.numQueries = operands.integers("seq_lens_q");
    p.numKeys = operands.integers("seq_lens_k");
  }
  for (int64_t sequence = 0; sequence < p.batch; ++sequence) {
    int32_t &queries = p.numQueries[size_t(sequence)], &keys = p.numKeys[size_t(sequence)];
    queries = std::clamp<int32_t>(queries, 0, int32_t(p.queries));
    keys = std::clamp<int32_t>(keys, 0, int32_t(p.keys));
  }
  return p;
}

std::vector<Expected> expectFlashAttention(const Description &description, const Sizes &sizes, const Operands &operands,
                                           uint64_t seed) {
  Attention p = gather(description, sizes, operands);
  AttentionOutputs outputs{p.batch, p.queries, p.heads, p.valueDim, p.keys * (p.headDim + p.valueDim)};
  std::vector<Expected> expected = expectAttention(outputs, seed, [&](int64_t sequence, int64_t query, int64_t head) {
    bool exists = query < p.numQueries[size_t(sequence)];
    return exists ? attend(p, sequence, head, query) : untouchedRow(p.valueDim);
  });
  expected.front().restIsFinite = !description.flag("varlen"); // else there are rows that keep their bytes
  return expected;
}

} // namespace jitk::reference
