#include "src/ops/ScalarDefault.h"
#include "src/reference/AttentionRow.h"
#include "src/reference/Numeric.h"
#include "src/reference/References.h"
#include "src/reference/TokenSpans.h"

#include <algorithm>
#include <limits>

namespace jitk::reference {
namespace {

/// The problem's sizes and operands.
struct Attention {
  int64_t heads, keyHeads, headDim, valueDim;
  double scale, softcap; ///< of the scores
  int64_t left, right;   ///< keys that a query sees before and after its diagonal
  double roundoff;       ///< of the weights, which are rounded to the inputs' dtype
  double outRoundoff;    ///< of the output
  std::vector<float> q, k, v;
  std::vector<TokenSpan> queries, keys; ///< of each sequence
};

} // namespace

/// `query` counts from the first of its sequence.
static AttentionRow attend(const Attention &p, size_t sequence, int64_t head, int64_t query) {
  auto [firstKey, numKeys] = p.keys[sequence];
  int64_t diagonal = query + numKeys - p.queries[sequence].count;
  int64_t begin = std::max<int64_t>(0, diagonal - p.left), end = std::min(numKeys, diagonal + p.right + 1);
  int64_t keyHead = head / (p.heads / p.keyHeads);
  std::vector<const float *> keys, values;
  for (int64_t key = begin; key < end; ++key) {
    int64_t row = (firstKey + key) * p.keyHeads + keyHead;
    keys.push_back(p.k.data() + row * p.headDim);
    values.push_back(p.v.data() + row * p.valueDim);
  }
  AttentionRules rules{.headDim = p.headDim,
                       .valueDim = p.valueDim,
                       .scale = p.scale,
                       .roundoff = p.roundoff,
                       .outRoundoff = p.outRoundoff,
                       .lseOfNothing = -std::numeric_limits<double>::infinity(),
                       .softcap = p.softcap};
  int64_t row = (p.queries[sequence].begin + query) * p.heads + head;
  return attendRow(rules, p.q.data() + row * p.headDim, keys, values);
}

/// -1 is as far as there are keys.
static int64_t reachOf(int64_t window) { return window < 0 ? int64_t(1) << 40 : window; }

static Attention gather(const Description &description, const Sizes &sizes, const Operands &operands) {
  return {.heads = sizes["heads"],
          .keyHeads = sizes["kv_heads"],
          .headDim = sizes["head_dim"],
          .valueDim = sizes["value_dim"],
          .scale = numberOf("scale", description),
          .softcap = numberOf("softcap", description),
          .left = reachOf(description.integer("window_left")),
          .right = description.flag("causal") ? 0 : reachOf(description.integer("window_right")),
          .roundoff = unitRoundoff(description.word("dtype")),
          .outRoundoff = unitRoundoff(description.word("out_dtype")),
          .q = operands.decoded("q"),
          .k = operands.decoded("k"),
          .v = operands.decoded("v"),
          .queries = querySpans(description, sizes, operands),
          .keys = keySpans(description, sizes, operands)};
}

/// The op says nothing of queries that are of two sequences.
static Status checkQueries(const std::vector<TokenSpan> &queries) {
  for (size_t sequence = 1; sequence < queries.size(); ++sequence) {
    if (queries[sequence].begin < queries[sequence - 1].begin) {
      return invalidArgument("a check needs sequences that are specified: cu_seqlens_q descends to " +
                             std::to_string(queries[sequence].begin) + ", where sequence " + std::to_string(sequence) +
                             " begins, after " + std::to_string(queries[sequence - 1].begin));
    }
  }
  return okStatus();
}

Result<std::vector<Expected>> expectFlashAttention(const Description &description, const Sizes &sizes,
                                                   const Operands &operands, uint64_t seed) {
  Attention p = gather(description, sizes, operands);
  JITK_TRY(checkQueries(p.queries));
  // Packed ones are as those of one sequence.
  bool isPacked = description.flag("packed");
  int64_t places = isPacked ? 1 : sizes["batch"], queries = sizes[isPacked ? "total_q" : "seq_q"];
  constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> sequenceOf(size_t(places * queries), kNone);
  for (size_t sequence = 0; sequence < p.queries.size(); ++sequence) {
    std::fill_n(sequenceOf.begin() + p.queries[sequence].begin, p.queries[sequence].count, sequence);
  }
  AttentionOutputs outputs{places, queries, p.heads, p.valueDim, sizes["seq_k"] * (p.headDim + p.valueDim)};
  std::vector<Expected> expected = expectAttention(outputs, seed, [&](int64_t place, int64_t query, int64_t head) {
    int64_t token = place * queries + query;
    size_t sequence = sequenceOf[size_t(token)];
    return sequence == kNone ? untouchedRow(p.valueDim) : attend(p, sequence, head, token - p.queries[sequence].begin);
  });
  // Else there are rows that keep their bytes.
  expected.front().restIsFinite = !isPacked && !description.flag("varlen");
  return expected;
}

} // namespace jitk::reference
