#include "src/reference/Numeric.h"
#include "src/reference/Parallel.h"
#include "src/reference/References.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace jitk::reference {

/// Largest RMS of the errors over RMS of the values in mode chunk, where products have operands of the inputs' dtype
/// throughout: a bound of the field, which each kernel of the kind is held to.
static constexpr double kChunkedRmsRatio = 0.01;
/// The same in fp32, with some bits to spare for a chunk's sums.
static constexpr double kWideChunkedRmsRatio = 1e-5;
/// Where keys have one channel and are all parallel, the roundings of a chunk's updates add up.
static constexpr double kParallelKeysFactor = 2;
/// Fewer elements are no sample: the RMS of a few is small where they happen to cancel, and says nothing of the errors.
static constexpr int64_t kLeastSample = 64;

namespace {

/// The problem's sizes and operands.
struct DeltaRule {
  int64_t batch, tokens, keyHeads, valueHeads, keyDim, valueDim, slots;
  bool varlen, normalizes, isChunked, isValueMajor, isWide;
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
  int64_t allTokens() const { return (varlen ? 1 : batch) * tokens; }
  int64_t stateElements() const { return keyDim * valueDim; }
  int64_t numStates() const { return slotOf.empty() ? batch : slots; }
  int64_t rowsOfState() const { return isValueMajor ? valueDim : keyDim; }
  /// Whether a head of the sequence has too few elements for their RMS to be a measure.
  bool isSmall(int64_t sequence) const {
    int64_t outputs = (end(sequence) - begin(sequence)) * valueDim;
    return isChunked && outputs > 0 && std::min(outputs, stateElements()) < kLeastSample;
  }
  /// The largest RMS of errors over RMS of values, of a tensor of so many elements; 0 = anything.
  double rmsRatio(int64_t elements = kLeastSample) const {
    double ratio = isWide ? kWideChunkedRmsRatio : kChunkedRmsRatio;
    return isChunked && elements >= kLeastSample ? ratio * (keyDim == 1 ? kParallelKeysFactor : 1) : 0;
  }
  /// Where a sequence's states lie among the states that are read and written; -1 = nowhere.
  int64_t stateOf(int64_t sequence) const {
    if (slotOf.empty()) {
      return sequence;
    }
    int64_t slot = slotOf[size_t(sequence)];
    return slot >= 0 && slot < slots ? slot : -1;
  }
  /// An element of a state, in the tensor of all states.
  size_t stateAt(int64_t state, int64_t head, int64_t key, int64_t value) const {
    int64_t inState = isValueMajor ? value * keyDim + key : key * valueDim + value;
    return size_t((state * valueHeads + head) * stateElements() + inState);
  }
};

/// The expectation of a tensor whose rows are filled in any order: first all rows are announced, then filled.
class RowTable {
public:
  RowTable(std::string tensor, int64_t numRows, int64_t rowSize) : places_(size_t(numRows), kNotExpected) {
    expected_.tensor = std::move(tensor);
    expected_.numRows = numRows;
    expected_.rowSize = rowSize;
    expected_.restIsFinite = true;
  }

  void announce(int64_t row) { places_[size_t(row)] = 0; }
  /// After the last announcement. Until it is filled, a row says that it must keep its bytes.
  void allocate() {
    for (size_t row = 0; row < places_.size(); ++row) {
      if (places_[row] != kNotExpected) {
        places_[row] = int64_t(expected_.rows.size()) * expected_.rowSize;
        expected_.rows.push_back(int64_t(row));
      }
    }
    expected_.values.assign(expected_.rows.size() * size_t(expected_.rowSize), 0);
    expected_.bounds.assign(expected_.values.size(), -1);
  }
  double &value(int64_t row, int64_t column) { return expected_.values[at(row, column)]; }
  double &bound(int64_t row, int64_t column) { return expected_.bounds[at(row, column)]; }
  /// An element of the tensor, whose rows lie one after another.
  double &value(size_t element) {
    return value(int64_t(element) / expected_.rowSize, int64_t(element) % expected_.rowSize);
  }
  double &bound(size_t element) {
    return bound(int64_t(element) / expected_.rowSize, int64_t(element) % expected_.rowSize);
  }

  Expected take(double largestRmsRatio) {
    expected_.largestRmsRatio = largestRmsRatio;
    return std::move(expected_);
  }

private:
  static constexpr int64_t kNotExpected = -1;
  size_t at(int64_t row, int64_t column) const { return size_t(places_[size_t(row)] + column); }

  std::vector<int64_t> places_; ///< of each row's first element among the expected ones
  Expected expected_;
};

} // namespace

/// No single error is larger than so many standard deviations.
static constexpr double kDeviations = 8;
/// What heads are computed for at most, in updates of one element of a state: some 30 seconds of one core. A head is
/// computed whole or not at all, for a token depends on all before it; of larger problems some heads are drawn.
static constexpr int64_t kBudget = int64_t(1) << 36;

/// Factors of the queries or keys: 1, or 1 over their norms.
static std::vector<double> normFactors(const DeltaRule &p, const std::vector<float> &rows) {
  std::vector<double> factors(size_t(p.allTokens() * p.keyHeads), 1);
  if (!p.normalizes) {
    return factors;
  }
  forEachBlock(factors.size(), [&](size_t, size_t first, size_t end) {
    for (size_t row = first; row < end; ++row) {
      double squares = 1e-6;
      for (size_t i = row * size_t(p.keyDim); i < (row + 1) * size_t(p.keyDim); ++i) {
        squares += double(rows[i]) * rows[i];
      }
      factors[row] = 1 / std::sqrt(squares);
    }
  });
  return factors;
}

namespace {

/// Sums over the tokens of a head: of the squares of its state, and of the mean squares of outputs that are as large as
/// the state and the query have them, without cancellation.
struct Squares {
  double ofState = 0, ofOutputs = 0;
};

/// Computes some columns of the states of one head of one sequence, token by token. Columns do not depend on each
/// other; those of one object stay in the cache of a core.
class StateColumns {
public:
  static constexpr int64_t kColumns = 8;
  using Columns = std::array<double, kColumns>;

  StateColumns(const DeltaRule &p, int64_t sequence, int64_t head, int64_t firstColumn)
      : p_(p), sequence_(sequence), head_(head), firstColumn_(firstColumn),
        numColumns_(std::min(kColumns, p.valueDim - firstColumn)), state_(size_t(p.keyDim)) {
    int64_t state = p.stateOf(sequence);
    for (int64_t i = 0; i < p.keyDim && !p.initialStates.empty(); ++i) {
      for (int64_t j = 0; j < numColumns_; ++j) {
        state_[size_t(i)][size_t(j)] = p.initialStates[p.stateAt(state, head, i, firstColumn + j)];
      }
    }
  }

  void run(const std::vector<double> &queryFactors, const std::vector<double> &keyFactors, RowTable &outputs) {
    double scale = 1 / std::sqrt(double(p_.keyDim));
    for (int64_t token = p_.begin(sequence_); token < p_.end(sequence_); ++token) {
      auto row = size_t(token * p_.keyHeads + head_ / (p_.valueHeads / p_.keyHeads));
      Columns output = step(token, row, keyFactors[row]);
      for (int64_t j = 0; j < numColumns_; ++j) {
        outputs.value(token * p_.valueHeads + head_, firstColumn_ + j) = output[size_t(j)] * queryFactors[row] * scale;
      }
      if (p_.isSmall(sequence_)) {
        measure(row, queryFactors[row] * scale);
      }
    }
  }
  const Squares &squares() const { return squares_; }

  void storeState(RowTable &states) const {
    for (int64_t i = 0; i < p_.keyDim; ++i) {
      for (int64_t j = 0; j < numColumns_; ++j) {
        states.value(p_.stateAt(p_.stateOf(sequence_), head_, i, firstColumn_ + j)) = state_[size_t(i)][size_t(j)];
      }
    }
  }

private:
  void measure(size_t row, double queryFactor) {
    double state = 0, query = 0;
    for (int64_t i = 0; i < p_.keyDim; ++i) {
      for (int64_t j = 0; j < numColumns_; ++j) {
        state += state_[size_t(i)][size_t(j)] * state_[size_t(i)][size_t(j)];
      }
      double q = p_.q[row * size_t(p_.keyDim) + size_t(i)] * queryFactor;
      query += q * q;
    }
    squares_.ofState += state;
    squares_.ofOutputs += query * state / double(p_.keyDim);
  }

  /// S = exp(g) S; u = beta (v - S^T k); S += k u^T; gives S^T q, with q as it lies in memory.
  Columns step(int64_t token, size_t row, double keyFactor) {
    const float *key = &p_.k[row * size_t(p_.keyDim)], *query = &p_.q[row * size_t(p_.keyDim)];
    auto valueRow = size_t(token * p_.valueHeads + head_);
    const float *value = &p_.v[valueRow * size_t(p_.valueDim) + size_t(firstColumn_)];
    double decay = std::exp(double(p_.g[valueRow])), beta = p_.beta[valueRow];
    // S is decayed where it is updated: S^T k of the decayed S is exp(g) S^T k.
    Columns found = {}, update = {}, output = {};
    for (size_t i = 0; i < state_.size(); ++i) {
      for (size_t j = 0; j < kColumns; ++j) {
        found[j] += state_[i][j] * key[i];
      }
    }
    for (size_t j = 0; j < size_t(numColumns_); ++j) {
      update[j] = keyFactor * beta * (value[j] - keyFactor * decay * found[j]);
    }
    for (size_t i = 0; i < state_.size(); ++i) {
      for (size_t j = 0; j < kColumns; ++j) {
        state_[i][j] = decay * state_[i][j] + key[i] * update[j];
        output[j] += state_[i][j] * query[i];
      }
    }
    return output;
  }

  const DeltaRule &p_;
  int64_t sequence_, head_, firstColumn_, numColumns_;
  std::vector<Columns> state_; ///< one a key channel
  Squares squares_;
};

/// A value head of a sequence.
struct Head {
  int64_t sequence, head;
  Squares squares; ///< of a small one
};

/// Computes the expectations of both outputs.
class DeltaRuleExpectation {
public:
  DeltaRuleExpectation(const DeltaRule &p, uint64_t seed)
      : p_(p), outputs_("o", p.allTokens() * p.valueHeads, p.valueDim),
        states_(p.slotOf.empty() ? "final_state" : "states", p.numStates() * p.valueHeads * p.rowsOfState(),
                p.stateElements() / p.rowsOfState()) {
    int64_t cost = (p.allTokens() / std::max<int64_t>(1, p.batch) + 1) * p.stateElements();
    for (int64_t index : chooseRows(p.batch * p.valueHeads, cost, seed, kBudget)) {
      heads_.push_back({index / p.valueHeads, index % p.valueHeads, {}});
    }
  }

  std::vector<Expected> compute() {
    announceRows();
    std::vector<double> queryFactors = normFactors(p_, p_.q), keyFactors = normFactors(p_, p_.k);
    auto parts = size_t((p_.valueDim + StateColumns::kColumns - 1) / StateColumns::kColumns);
    std::vector<Squares> squares(heads_.size() * parts);
    onAllCores(squares.size(), [&](size_t index) {
      const Head &head = heads_[index / parts];
      if (p_.stateOf(head.sequence) >= 0) { // else the outputs are zeros, which they are in the beginning
        StateColumns columns(p_, head.sequence, head.head, int64_t(index % parts) * StateColumns::kColumns);
        columns.run(queryFactors, keyFactors, outputs_);
        columns.storeState(states_);
        squares[index] = columns.squares();
      }
    });
    for (size_t index = 0; index < squares.size(); ++index) {
      heads_[index / parts].squares.ofState += squares[index].ofState;
      heads_[index / parts].squares.ofOutputs += squares[index].ofOutputs;
    }
    onAllCores(heads_.size(), [&](size_t index) { bound(heads_[index]); });
    std::vector<Expected> expected;
    expected.push_back(outputs_.take(p_.rmsRatio(p_.allTokens() * p_.valueHeads * p_.valueDim)));
    expected.push_back(states_.take(p_.rmsRatio(p_.numStates() * p_.valueHeads * p_.stateElements())));
    return expected;
  }

private:
  void announceRows();
  void bound(const Head &head);

  const DeltaRule &p_;
  std::vector<Head> heads_;
  RowTable outputs_, states_;
};

} // namespace

void DeltaRuleExpectation::announceRows() {
  for (const Head &head : heads_) {
    for (int64_t token = p_.begin(head.sequence); token < p_.end(head.sequence); ++token) {
      outputs_.announce(token * p_.valueHeads + head.head);
    }
    int64_t state = p_.stateOf(head.sequence);
    for (int64_t row = 0; row < p_.rowsOfState() && state >= 0; ++row) {
      states_.announce((state * p_.valueHeads + head.head) * p_.rowsOfState() + row);
    }
  }
  // Tokens of no sequence and slots that no sequence names keep their bytes.
  std::vector<bool> hasSequence(size_t(p_.allTokens())), isNamed(size_t(p_.slots));
  for (int64_t sequence = 0; sequence < p_.batch; ++sequence) {
    for (int64_t token = p_.begin(sequence); token < p_.end(sequence); ++token) {
      hasSequence[size_t(token)] = true;
    }
    if (int64_t state = p_.stateOf(sequence); !p_.slotOf.empty() && state >= 0) {
      isNamed[size_t(state)] = true;
    }
  }
  auto announceUntouched = [](const std::vector<bool> &isTouched, int64_t rows, RowTable &table) {
    for (size_t i = 0; i < isTouched.size(); ++i) {
      for (int64_t row = 0; row < rows && !isTouched[i]; ++row) {
        table.announce(int64_t(i) * rows + row);
      }
    }
  };
  announceUntouched(hasSequence, p_.valueHeads, outputs_);
  if (!p_.slotOf.empty()) {
    announceUntouched(isNamed, p_.valueHeads * p_.rowsOfState(), states_);
  }
  outputs_.allocate();
  states_.allocate();
}

/// The root of a sum of squares over a count.
static double rootMean(double squares, int64_t count) { return count == 0 ? 0 : std::sqrt(squares / double(count)); }

void DeltaRuleExpectation::bound(const Head &head) {
  // Token by token everything is fp32. A step multiplies the state by a matrix of norm at most 1 and adds to it, so
  // that errors add up: each of the sums over key_dim, the exponential and the update give a few roundings of the
  // state's size. In chunks the errors are those of rounded operands, a random walk, held to the ratio.
  int64_t begin = p_.begin(head.sequence), end = p_.end(head.sequence), state = p_.stateOf(head.sequence);
  double perStep = (double(p_.keyDim) + 16) * 0x1p-24;
  double relative = p_.isChunked ? kDeviations * p_.rmsRatio() : double(end - begin) * perStep;
  bool isSmall = p_.isSmall(head.sequence);

  auto forOutputs = [&](const auto &body) {
    for (int64_t token = begin; token < end; ++token) {
      for (int64_t column = 0; column < p_.valueDim; ++column) {
        body(token * p_.valueHeads + head.head, column);
      }
    }
  };
  double squares = 0;
  forOutputs(
      [&](int64_t row, int64_t column) { squares += outputs_.value(row, column) * outputs_.value(row, column); });
  squares = isSmall ? std::max(squares, head.squares.ofOutputs * double(p_.valueDim)) : squares;
  double error = relative * rootMean(squares, (end - begin) * p_.valueDim) + 1e-6;
  forOutputs([&](int64_t row, int64_t column) {
    // A sequence without a slot gives zeros.
    outputs_.bound(row, column) = state < 0 ? 0 : p_.roundoff * std::fabs(outputs_.value(row, column)) + error;
  });

  if (state < 0) {
    return;
  }
  size_t first = p_.stateAt(state, head.head, 0, 0), last = first + size_t(p_.stateElements());
  squares = 0;
  for (size_t i = first; i < last; ++i) {
    squares += states_.value(i) * states_.value(i);
  }
  squares = isSmall ? std::max(squares, head.squares.ofState / double(end - begin)) : squares;
  error = relative * rootMean(squares, p_.stateElements()) + 1e-6;
  for (size_t i = first; i < last; ++i) {
    // A sequence without tokens has its initial state, bit for bit.
    states_.bound(i) = begin == end ? 0 : error + 0x1p-24 * std::fabs(states_.value(i));
  }
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
              .isWide = description.word("dtype") == "fp32",
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

/// The op says nothing of sequences after an offset that is below the one before it.
static Status checkOffsets(const DeltaRule &p) {
  for (int64_t sequence = 1; sequence < p.batch; ++sequence) {
    if (p.begin(sequence) < p.begin(sequence - 1)) {
      return invalidArgument("a check needs sequences that are specified: cu_seqlens descends to " +
                             std::to_string(p.offsets[size_t(sequence)]) + ", where sequence " +
                             std::to_string(sequence) + " begins, after " +
                             std::to_string(p.offsets[size_t(sequence) - 1]));
    }
  }
  return okStatus();
}

/// Nor of a slot that two sequences have.
static Status checkSlots(const DeltaRule &p) {
  std::map<int64_t, int64_t> sequenceOf;
  for (int64_t sequence = 0; sequence < int64_t(p.slotOf.size()); ++sequence) {
    auto [other, isFirst] = sequenceOf.try_emplace(p.stateOf(sequence), sequence);
    if (!isFirst && other->first >= 0) {
      return invalidArgument("a check needs sequences that are specified: state_indices gives slot " +
                             std::to_string(other->first) + " to sequences " + std::to_string(other->second) + " and " +
                             std::to_string(sequence));
    }
  }
  return okStatus();
}

Result<std::vector<Expected>> expectGatedDeltaRule(const Description &description, const Sizes &sizes,
                                                   const Operands &operands, uint64_t seed) {
  DeltaRule p = gather(description, sizes, operands);
  JITK_TRY(p.varlen ? checkOffsets(p) : okStatus());
  JITK_TRY(checkSlots(p));
  return DeltaRuleExpectation(p, seed).compute();
}

} // namespace jitk::reference
