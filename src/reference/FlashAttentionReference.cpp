#include "src/reference/Numeric.h"
#include "src/reference/References.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jitk::reference {
namespace {

/// The problem's sizes and operands.
struct Attention {
  int64_t batch, heads, keyHeads, queries, keys, headDim, valueDim;
  bool causal;
  double roundoff;    ///< of the weights, which are rounded to the inputs' dtype
  double outRoundoff; ///< of the output
  std::vector<float> q, k, v;
  std::vector<int32_t> numQueries, numKeys; ///< of each sequence
};

/// One row of the output and of the log-sum-exp, with their error bounds.
struct Row {
  std::vector<double> values, bounds;
  double lse = -std::numeric_limits<double>::infinity();
  double lseBound = 0;
};

} // namespace

static double score(const Attention &p, int64_t sequence, int64_t head, int64_t query, int64_t key, double &magnitude) {
  const float *left = &p.q[size_t(((sequence * p.queries + query) * p.heads + head) * p.headDim)];
  int64_t keyHead = head / (p.heads / p.keyHeads);
  const float *right = &p.k[size_t(((sequence * p.keys + key) * p.keyHeads + keyHead) * p.headDim)];
  double sum = 0;
  magnitude = 0;
  for (int64_t i = 0; i < p.headDim; ++i) {
    sum += double(left[i]) * right[i];
    magnitude += std::fabs(double(left[i]) * right[i]);
  }
  double scale = 1 / std::sqrt(double(p.headDim));
  magnitude *= scale;
  return sum * scale;
}

static Row attend(const Attention &p, int64_t sequence, int64_t head, int64_t query) {
  int64_t seen = p.numKeys[size_t(sequence)];
  if (p.causal) {
    seen = std::min(seen, query + p.numKeys[size_t(sequence)] - p.numQueries[size_t(sequence)] + 1);
  }
  Row row{std::vector<double>(size_t(p.valueDim)), std::vector<double>(size_t(p.valueDim)), {}, {}};
  row.lse = -std::numeric_limits<double>::infinity();
  if (seen <= 0) {
    return row;
  }
  std::vector<double> scores(static_cast<size_t>(seen));
  double maximum = -std::numeric_limits<double>::infinity(), magnitude = 0;
  for (int64_t key = 0; key < seen; ++key) {
    double ofKey = 0;
    scores[size_t(key)] = score(p, sequence, head, query, key, ofKey);
    maximum = std::max(maximum, scores[size_t(key)]);
    magnitude = std::max(magnitude, ofKey);
  }
  double sum = 0;
  for (double &weight : scores) {
    weight = std::exp(weight - maximum);
    sum += weight;
  }
  int64_t keyHead = head / (p.heads / p.keyHeads);
  std::vector<double> absolute(static_cast<size_t>(p.valueDim));
  for (int64_t key = 0; key < seen; ++key) {
    const float *value = &p.v[size_t(((sequence * p.keys + key) * p.keyHeads + keyHead) * p.valueDim)];
    for (int64_t i = 0; i < p.valueDim; ++i) {
      row.values[size_t(i)] += scores[size_t(key)] / sum * value[i];
      absolute[size_t(i)] += scores[size_t(key)] / sum * std::fabs(double(value[i]));
    }
  }
  // A score in fp32 is off by headDim additions (2^-23 each) of its magnitude, and by the roundings of scaling it and
  // of subtracting the maximum; that and the approximate exponential (2^-22) are the relative error of a weight and of
  // the sum. Weights are then rounded to the inputs' dtype; weighted values are added in fp32; the result is rounded
  // once.
  double scoreError = (double(p.headDim) * 0x1p-23 + 4 * 0x1p-24) * magnitude + 0x1p-21;
  double relative = p.roundoff + 2 * scoreError + 2 * double(seen) * 0x1p-23;
  for (int64_t i = 0; i < p.valueDim; ++i) {
    row.bounds[size_t(i)] = relative * absolute[size_t(i)] + p.outRoundoff * std::fabs(row.values[size_t(i)]) + 0x1p-24;
  }
  row.lse = maximum + std::log(sum);
  row.lseBound = 2 * scoreError + double(seen) * 0x1p-23 + 4 * 0x1p-24 * std::fabs(row.lse);
  return row;
}

static Attention gather(const Description &description, const Sizes &sizes, const Operands &operands) {
  Attention p{sizes["batch"],
              sizes["heads"],
              sizes["kv_heads"],
              sizes["seq_q"],
              sizes["seq_k"],
              sizes["head_dim"],
              sizes["value_dim"],
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
  return p;
}

std::vector<Expected> expectFlashAttention(const Description &description, const Sizes &sizes, const Operands &operands,
                                           uint64_t seed) {
  Attention p = gather(description, sizes, operands);
  int64_t numRows = p.batch * p.queries * p.heads;
  // Rows of o are [batch, query, head]; lse is [batch, head, query]: one element a row of o, taken as rows of one.
  Expected output{"o", numRows, p.valueDim, chooseRows(numRows, p.keys * (p.headDim + p.valueDim), seed), {}, {}};
  Expected lse{"lse", numRows, 1, {}, {}, {}};
  std::vector<std::pair<int64_t, Row>> lseRows;
  for (int64_t index : output.rows) {
    int64_t head = index % p.heads, query = index / p.heads % p.queries, sequence = index / p.heads / p.queries;
    int64_t lseIndex = (sequence * p.heads + head) * p.queries + query;
    Row row{std::vector<double>(size_t(p.valueDim)), std::vector<double>(size_t(p.valueDim), -1), 0, -1};
    if (query < p.numQueries[size_t(sequence)]) {
      row = attend(p, sequence, head, query);
    }
    output.values.insert(output.values.end(), row.values.begin(), row.values.end());
    output.bounds.insert(output.bounds.end(), row.bounds.begin(), row.bounds.end());
    lseRows.emplace_back(lseIndex, std::move(row));
  }
  std::ranges::sort(lseRows, {}, &std::pair<int64_t, Row>::first);
  for (const auto &[index, row] : lseRows) {
    lse.rows.push_back(index);
    lse.values.push_back(row.lse);
    lse.bounds.push_back(row.lseBound);
  }
  return {std::move(output), std::move(lse)};
}

} // namespace jitk::reference
