#include "src/reference/Numeric.h"
#include "src/reference/References.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jitk::reference {
namespace {

/// The problem's sizes and operands.
struct DeltaRule {
  int64_t batch, tokens, keyHeads, valueHeads, keyDim, valueDim, slots;
  bool varlen, normalizes, isChunked, isValueMajor;
  double roundoff; ///< of the output
  std::vector<float> q, k, v, g, beta;
  std::vector<float> initialStates;     ///< of the sequences or, with a pool, of the slots; empty = zero
  std::vector<int32_t> offsets, slotOf; ///< of the sequences, empty without

  int64_t begin(int64_t sequence) const {
    return varlen ? std::clamp<int64_t>(offsets[size_t(sequence)], 0, tokens) : sequence * tokens;
  }
  int64_t end(int64_t sequence) const {
    return varlen ? std::clamp<int64_t>(offsets[size_t(sequence) + 1], begin(sequence), tokens)
                  : (sequence + 1) * tokens;
  }
  int64_t stateElements() const { return keyDim * valueDim; }
  /// Where a sequence's states lie among the states that are read and written; -1 = nowhere.
  int64_t stateOf(int64_t sequence) const {
    if (slotOf.empty()) {
      return sequence;
    }
    int64_t slot = slotOf[size_t(sequence)];
    return slot >= 0 && slot < slots ? slot : -1;
  }
};

/// Everything that one value head gives for one sequence.
struct HeadResult {
  std::vector<double> outputs; ///< [length, valueDim]
  std::vector<double> state;   ///< [keyDim, valueDim]
  double outputError, stateError;
};

} // namespace

/// Largest RMS of the errors over RMS of the values in mode chunk, where products have operands of the inputs' dtype
/// throughout: a bound of the field, which each kernel of the kind is held to.
static constexpr double kChunkedRmsRatio = 0.01;
/// No single error is larger than so many standard deviations.
static constexpr double kDeviations = 8;

static double rootMeanSquare(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values) {
    sum += value * value;
  }
  return values.empty() ? 0 : std::sqrt(sum / double(values.size()));
}

/// A query or key, normalized if the problem says so.
static std::vector<double> vectorAt(const DeltaRule &p, const std::vector<float> &source, int64_t row) {
  const float *begin = &source[size_t(row * p.keyDim)];
  std::vector<double> values(begin, begin + p.keyDim);
  if (p.normalizes) {
    double squares = 1e-6;
    for (double value : values) {
      squares += value * value;
    }
    for (double &value : values) {
      value /= std::sqrt(squares);
    }
  }
  return values;
}

/// S = exp(g) S; u = beta (v - S^T k); S += k u^T; gives S^T q.
static void step(const DeltaRule &p, std::vector<double> &state, const std::vector<double> &key,
                 const std::vector<double> &query, int64_t row, double *output) {
  size_t values = size_t(p.valueDim);
  double decay = std::exp(double(p.g[size_t(row)])), beta = p.beta[size_t(row)];
  std::vector<double> update(values);
  for (size_t i = 0; i < key.size(); ++i) {
    double *line = &state[i * values];
    for (size_t j = 0; j < values; ++j) {
      line[j] *= decay;
      update[j] += line[j] * key[i];
    }
  }
  for (size_t j = 0; j < values; ++j) {
    update[j] = beta * (double(p.v[size_t(row) * values + j]) - update[j]);
  }
  double scale = 1 / std::sqrt(double(p.keyDim));
  for (size_t i = 0; i < key.size(); ++i) {
    double *line = &state[i * values];
    for (size_t j = 0; j < values; ++j) {
      line[j] += key[i] * update[j];
      output[j] += line[j] * query[i] * scale;
    }
  }
}

static HeadResult runHead(const DeltaRule &p, int64_t sequence, int64_t head) {
  HeadResult result;
  result.state.assign(size_t(p.stateElements()), 0);
  if (int64_t at = p.stateOf(sequence); !p.initialStates.empty() && at >= 0) {
    const float *initial = &p.initialStates[size_t((at * p.valueHeads + head) * p.stateElements())];
    for (int64_t i = 0; i < p.keyDim; ++i) {
      for (int64_t j = 0; j < p.valueDim; ++j) {
        result.state[size_t(i * p.valueDim + j)] = initial[p.isValueMajor ? j * p.keyDim + i : i * p.valueDim + j];
      }
    }
  }
  int64_t begin = p.begin(sequence), length = p.end(sequence) - begin;
  result.outputs.assign(size_t(length * p.valueDim), 0);
  int64_t keyHead = head / (p.valueHeads / p.keyHeads);
  for (int64_t t = 0; t < length; ++t) {
    int64_t keyRow = (begin + t) * p.keyHeads + keyHead;
    step(p, result.state, vectorAt(p, p.k, keyRow), vectorAt(p, p.q, keyRow), (begin + t) * p.valueHeads + head,
         &result.outputs[size_t(t * p.valueDim)]);
  }
  // Token by token everything is fp32. A step multiplies the state by a matrix of norm at most 1 and adds to it, so
  // that errors add up: each of the sums over key_dim, the exponential and the update give a few roundings of the
  // state's size. In chunks the errors are those of rounded operands, a random walk, held to the ratio.
  double perStep = (double(p.keyDim) + 16) * 0x1p-24;
  double relative = p.isChunked ? kDeviations * kChunkedRmsRatio : double(length) * perStep;
  result.outputError = length == 0 ? 0 : relative * rootMeanSquare(result.outputs) + 1e-6;
  result.stateError = length == 0 ? 0 : relative * rootMeanSquare(result.state) + 1e-6;
  return result;
}

static DeltaRule gather(const Description &description, const Sizes &sizes, const Operands &operands) {
  DeltaRule p{.batch = sizes["batch"],
              .tokens = sizes["tokens"],
              .keyHeads = sizes["qk_heads"],
              .valueHeads = sizes["v_heads"],
              .keyDim = sizes["key_dim"],
              .valueDim = sizes["value_dim"],
              .slots = sizes["slots"],
              .varlen = description.flag("varlen"),
              .normalizes = description.flag("qk_l2norm"),
              .isChunked = description.word("mode") == "chunk",
              .isValueMajor = description.word("state_layout") == "value-major",
              .roundoff = unitRoundoff(description.word("dtype")),
              .q = operands.decoded("q"),
              .k = operands.decoded("k"),
              .v = operands.decoded("v"),
              .g = operands.decoded("g"),
              .beta = operands.decoded("beta"),
              .initialStates = {},
              .offsets = {},
              .slotOf = {}};
  if (p.varlen) {
    p.offsets = operands.integers("cu_seqlens");
  }
  if (description.flag("state_pool")) {
    p.slotOf = operands.integers("state_indices");
    p.initialStates = operands.decoded("states");
  } else if (description.flag("initial_state")) {
    p.initialStates = operands.decoded("initial_state");
  }
  return p;
}

namespace {

/// Collects the rows of an output in any order; rows that nothing is said of must keep their bytes.
class RowCollector {
public:
  RowCollector(std::string tensor, int64_t numRows, int64_t rowSize) {
    expected_.tensor = std::move(tensor);
    expected_.numRows = numRows;
    expected_.rowSize = rowSize;
  }

  void add(int64_t row, std::vector<double> values, std::vector<double> bounds) {
    rows_.push_back({row, std::move(values), std::move(bounds)});
  }
  void addUntouched(int64_t row) {
    add(row, std::vector<double>(size_t(expected_.rowSize)), std::vector<double>(size_t(expected_.rowSize), -1));
  }

  Expected take(double largestRmsRatio) {
    std::ranges::sort(rows_, {}, &Row::number);
    for (const Row &row : rows_) {
      expected_.rows.push_back(row.number);
      expected_.values.insert(expected_.values.end(), row.values.begin(), row.values.end());
      expected_.bounds.insert(expected_.bounds.end(), row.bounds.begin(), row.bounds.end());
    }
    expected_.largestRmsRatio = largestRmsRatio;
    return std::move(expected_);
  }

private:
  struct Row {
    int64_t number;
    std::vector<double> values, bounds;
  };
  Expected expected_;
  std::vector<Row> rows_;
};

} // namespace

static void collectOutputs(const DeltaRule &p, int64_t sequence, int64_t head, const HeadResult &result,
                           RowCollector &outputs) {
  for (int64_t t = 0; t < int64_t(result.outputs.size()) / p.valueDim; ++t) {
    auto first = result.outputs.begin() + t * p.valueDim;
    std::vector<double> values(first, first + p.valueDim), bounds;
    for (double &value : values) {
      value = p.stateOf(sequence) < 0 ? 0 : value; // a sequence without a slot gives zeros
      bounds.push_back(p.stateOf(sequence) < 0 ? 0 : p.roundoff * std::fabs(value) + result.outputError);
    }
    outputs.add((p.begin(sequence) + t) * p.valueHeads + head, std::move(values), std::move(bounds));
  }
}

static void collectState(const DeltaRule &p, int64_t state, int64_t head, const HeadResult &result,
                         RowCollector &states) {
  int64_t rows = p.isValueMajor ? p.valueDim : p.keyDim, columns = p.stateElements() / rows;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<double> values, bounds;
    for (int64_t column = 0; column < columns; ++column) {
      double value = result.state[size_t(p.isValueMajor ? column * p.valueDim + row : row * p.valueDim + column)];
      values.push_back(value);
      bounds.push_back(result.stateError + 0x1p-24 * std::fabs(value) * (result.stateError > 0));
    }
    states.add((state * p.valueHeads + head) * rows + row, std::move(values), std::move(bounds));
  }
}

/// Slots that no sequence names keep their bytes.
static void collectUnnamedSlots(const DeltaRule &p, int64_t rowsOfState, RowCollector &states) {
  for (int64_t slot = 0; slot < p.slots; ++slot) {
    if (std::ranges::find(p.slotOf, slot) == p.slotOf.end()) {
      for (int64_t row = 0; row < p.valueHeads * rowsOfState; ++row) {
        states.addUntouched(slot * p.valueHeads * rowsOfState + row);
      }
    }
  }
}

std::vector<Expected> expectGatedDeltaRule(const Description &description, const Sizes &sizes, const Operands &operands,
                                           uint64_t seed) {
  DeltaRule p = gather(description, sizes, operands);
  int64_t rowsOfState = p.isValueMajor ? p.valueDim : p.keyDim;
  bool hasPool = !p.slotOf.empty();
  int64_t numTokens = (p.varlen ? 1 : p.batch) * p.tokens;
  RowCollector outputs("o", numTokens * p.valueHeads, p.valueDim);
  RowCollector states(hasPool ? "states" : "final_state", (hasPool ? p.slots : p.batch) * p.valueHeads * rowsOfState,
                      p.stateElements() / rowsOfState);

  // A token depends on all before it, but not on other heads: large problems are sampled by heads.
  int64_t cost = 4 * (numTokens / std::max<int64_t>(1, p.batch) + 1) * p.stateElements();
  for (int64_t index : chooseRows(p.batch * p.valueHeads, cost, seed)) {
    int64_t sequence = index / p.valueHeads, head = index % p.valueHeads;
    HeadResult result = runHead(p, sequence, head);
    collectOutputs(p, sequence, head, result, outputs);
    if (p.stateOf(sequence) >= 0) {
      collectState(p, p.stateOf(sequence), head, result, states);
    }
  }
  if (hasPool) {
    collectUnnamedSlots(p, rowsOfState, states);
  }
  for (int64_t row = p.varlen && p.batch > 0 ? p.end(p.batch - 1) : numTokens; row < numTokens; ++row) {
    for (int64_t head = 0; head < p.valueHeads; ++head) {
      outputs.addUntouched(row * p.valueHeads + head);
    }
  }
  double ratio = p.isChunked ? kChunkedRmsRatio : 0;
  std::vector<Expected> expected;
  expected.push_back(outputs.take(ratio));
  expected.push_back(states.take(ratio));
  return expected;
}

} // namespace jitk::reference
