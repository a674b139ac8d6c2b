#include "src/reference/AttentionRow.h"

#include "src/reference/Parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jitk::reference {

static double score(const AttentionRules &rules, const float *query, const float *key, double &magnitude) {
  double sum = 0;
  magnitude = 0;
  for (int64_t i = 0; i < rules.headDim; ++i) {
    sum += double(query[i]) * key[i];
    magnitude += std::fabs(double(query[i]) * key[i]);
  }
  magnitude *= std::fabs(rules.scale);
  sum *= rules.scale;
  return rules.softcap > 0 ? rules.softcap * std::tanh(sum / rules.softcap) : sum;
}

AttentionRow attendRow(const AttentionRules &rules, const float *query, std::span<const float *const> keys,
                       std::span<const float *const> values) {
  auto valueDim = static_cast<size_t>(rules.valueDim);
  AttentionRow row{std::vector<double>(valueDim), std::vector<double>(valueDim), rules.lseOfNothing, 0};
  if (keys.empty()) {
    return row;
  }
  std::vector<double> weights(keys.size());
  double maximum = -std::numeric_limits<double>::infinity(), magnitude = 0, largest = 0;
  for (size_t key = 0; key < keys.size(); ++key) {
    double ofKey = 0;
    weights[key] = score(rules, query, keys[key], ofKey);
    maximum = std::max(maximum, weights[key]);
    magnitude = std::max(magnitude, ofKey);
    largest = std::max(largest, std::fabs(weights[key]));
  }
  double sum = 0;
  for (double &weight : weights) {
    weight = std::exp(weight - maximum);
    sum += weight;
  }
  std::vector<double> absolute(valueDim);
  for (size_t key = 0; key < keys.size(); ++key) {
    for (size_t i = 0; i < valueDim; ++i) {
      row.values[i] += weights[key] / sum * values[key][i];
      absolute[i] += weights[key] / sum * std::fabs(double(values[key][i]));
    }
  }
  // A score in fp32 is off by headDim additions (2^-23 each) of its magnitude, and by the roundings of scaling it and
  // of subtracting the maximum; that and the approximate exponential (2^-22) are the relative error of a weight and of
  // the sum. Weights are then rounded to the inputs' dtype; weighted values are added in fp32; the result is rounded
  // once. Parts of the keys that are combined add no more than as many additions as there are keys. A cap makes no
  // error of a score larger, but its approximate tanh is off by 2^-11 of the result.
  double seen = double(keys.size());
  double scoreError = (double(rules.headDim) * 0x1p-23 + 4 * 0x1p-24) * magnitude + 0x1p-21;
  scoreError += rules.softcap > 0 ? largest * 0x1p-11 : 0;
  double relative = rules.roundoff + 2 * scoreError + 2 * seen * 0x1p-23;
  for (size_t i = 0; i < valueDim; ++i) {
    row.bounds[i] = relative * absolute[i] + rules.outRoundoff * std::fabs(row.values[i]) + 0x1p-24;
  }
  row.lse = maximum + std::log(sum);
  row.lseBound = 2 * scoreError + seen * 0x1p-23 + 4 * 0x1p-24 * std::fabs(row.lse);
  return row;
}

AttentionRow untouchedRow(int64_t valueDim) {
  return {std::vector<double>(size_t(valueDim)), std::vector<double>(size_t(valueDim), -1), 0, -1};
}

std::vector<Expected> expectAttention(const AttentionOutputs &p, uint64_t seed,
                                      const std::function<AttentionRow(int64_t, int64_t, int64_t)> &rowOf) {
  int64_t numRows = p.batch * p.queries * p.heads;
  // Rows of o are [batch, query, head]; lse is [batch, head, query]: one element a row of o, taken as rows of one.
  Expected output{"o", numRows, p.valueDim, chooseRows(numRows, p.costOfRow, seed), {}, {}};
  Expected lse{"lse", numRows, 1, {}, {}, {}};
  std::vector<std::pair<int64_t, AttentionRow>> lseRows(output.rows.size());
  onAllCores(output.rows.size(), [&](size_t i) {
    int64_t index = output.rows[i];
    int64_t head = index % p.heads, query = index / p.heads % p.queries, sequence = index / p.heads / p.queries;
    lseRows[i] = {(sequence * p.heads + head) * p.queries + query, rowOf(sequence, query, head)};
  });
  for (const auto &[index, row] : lseRows) {
    output.values.insert(output.values.end(), row.values.begin(), row.values.end());
    output.bounds.insert(output.bounds.end(), row.bounds.begin(), row.bounds.end());
  }
  std::ranges::sort(lseRows, {}, &std::pair<int64_t, AttentionRow>::first);
  for (const auto &[index, row] : lseRows) {
    lse.rows.push_back(index);
    lse.values.push_back(row.lse);
    lse.bounds.push_back(row.lseBound);
  }
  return {std::move(output), std::move(lse)};
}

} // namespace jitk::reference
