// One CTA carries `tile` value columns of one state through the chunks of its sequence.
//
// Everything is held transposed, values by keys or by tokens, so that the state, an accumulator of tensor cores, is the
// left operand of the next product without leaving the registers of its warp; 16 values are a warp's:
//
//                   key_dim                      tokens
//             +-----------------+          +---------------+
//     values  |       S^T       |          |  X^T U^T O^T  |      X^T = V^T - (S^T K^T) diag(key factor)
//     (tile)  |                 |          |               |      U^T = X^T A^T
//             +-----------------+          +---------------+      O^T = (S^T Q^T) diag(query factor) + U^T P^T
//                                                                 S^T = exp(G_last) S^T + U^T diag(update factor) K

#include "src/kernels/MachineModel.h"
#include "src/kernels/linear_attention/ChunkSteps.h"
#include "src/kernels/vocabulary/Raster.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <tuple>
#include <utility>

using namespace mlir;

namespace jitk::kernels {
namespace {

/// Rows of S^T of a warpgroup, and of a single warp.
constexpr int64_t kWarpgroupValues = 64, kLeastValues = 16;

/// The parts of the state's keys. In fp32 an operand is two numbers: while keys and queries read a part in turn, the
/// second ones of its own elements alone take registers.
SmallVector<DimensionPart> statePartsOf(const DeltaRuleProblem &problem) {
  constexpr int64_t kMostKeysOfPart = 64;
  return splitDimension(problem.keyDim, kLeastPart, problem.type.isF32() ? kMostKeysOfPart : INT64_MAX);
}

class CarryWriter {
public:
  CarryWriter(KernelBuilder &b, const ChunkPlan &plan)
      : b_(b), plan_(plan), problem_(plan.problem), tile_(valueTileOf(plan)), keyParts_(statePartsOf(problem_)) {}

  void write();

private:
  void locate();
  void allocate();
  void fill(Value chunk, const ChunkRows &rows);
  /// One chunk: the next state, after the chunk's outputs are stored.
  SmallVector<Value> advance(Value chunk, Value firstToken, Value decay, ValueRange state);
  /// The state, rounded, as left operands: registers, or buffers where it is large.
  SmallVector<Value> stateOperands(ValueRange state);
  /// S^T K^T or S^T Q^T: what the state holds under each key or query of the chunk.
  Value readState(ArrayRef<Value> operands, ArrayRef<Value> buffers);
  /// Both, part by part in turn.
  std::pair<Value, Value> readStateInTurn(ArrayRef<Value> operands);
  void storeOutputs(Value outputs, const ChunkRows &rows);
  SmallVector<Value> loadState();
  void storeState(ValueRange state);

  /// Pointers and mask of the state's part, and whether those are [keys, values].
  Value statePointers(const StateView &state, const DimensionPart &part);
  Value stateMask(const StateView &state, const DimensionPart &part);
  Value loadDecay(Value chunk);

  /// A factor of each token, which are columns here.
  Value scaleTokens(Value matrix, Value factors) { return b_.mulf(matrix, b_.asRow(factors, tile_)); }
  Value zeros(int64_t columns) { return b_.full(0, {tile_, columns}, b_.getF32Type()); }
  Value rounded(Value matrix) { return b_.convert(matrix, problem_.type); }

  KernelBuilder &b_;
  const ChunkPlan &plan_;
  const DeltaRuleProblem &problem_;
  int64_t tile_;
  SmallVector<DimensionPart> keyParts_;
  HeadOfSequence head_;
  Value firstChunk_, numChunks_;
  Value values_, areValid_; ///< i32 and i1 [tile]
  MatrixView queries_, keys_, valueRows_, outputs_;
  SmallVector<Value> queryBuffers_, keyBuffers_;
  SmallVector<Value> stateBuffers_; ///< empty where operands stay in registers
  Value valueBuffer_, inverseBuffer_, scoreBuffer_;
  Value factorBuffers_[kNumFactors];
};

} // namespace

/// A dimension's size, or what is known of it at least.
static int64_t leastOf(const Dimension &dimension) { return dimension.isStatic() ? dimension.value : 1; }

int64_t valueTileOf(const ChunkPlan &plan) {
  const DeltaRuleProblem &problem = plan.problem;
  int64_t covering = std::max<int64_t>(llvm::PowerOf2Ceil(problem.valueDim), kLeastValues);
  if (covering <= kWarpgroupValues) {
    return covering;
  }
  // Where warpgroups would wait for a multiprocessor, two of them in a CTA share its copies of Q, K, A and P.
  int64_t warpgroups = leastOf(problem.description.dimension("batch")) *
                       leastOf(problem.description.dimension("v_heads")) *
                       llvm::divideCeil(problem.valueDim, kWarpgroupValues);
  bool pairs = warpgroups > kMultiprocessors && problem.keyDim <= kMostKeysInRegisters;
  return pairs ? 2 * kWarpgroupValues : kWarpgroupValues;
}

void CarryWriter::locate() {
  KernelBuilder &b = b_;
  Value tiles = b.i32(llvm::divideCeil(problem_.valueDim, tile_));
  SmallVector<Value> place = placeInFoldedGrid(b, {tiles, b.size("v_heads")});
  head_ = problem_.head(b, place[2], place[1]);
  firstChunk_ = plan_.chunks(b).first(b, head_.sequence, head_.tokens);
  numChunks_ = b.ceilDiv(b.sub(head_.tokens.end, head_.tokens.begin), plan_.size);
  values_ = b.add(b.splat(b.mul(place[0], b.i32(tile_)), {tile_}), b.range(tile_));
  areValid_ = b.lessThan(values_, b.splat(b.i32(problem_.valueDim), {tile_}));
  queries_ = problem_.tokensOf(b, "q", "qk_heads", head_.keyHead, problem_.keyDim);
  keys_ = problem_.tokensOf(b, "k", "qk_heads", head_.keyHead, problem_.keyDim);
  valueRows_ = problem_.tokensOf(b, "v", "v_heads", head_.valueHead, problem_.valueDim);
  outputs_ = problem_.tokensOf(b, "o", "v_heads", head_.valueHead, problem_.valueDim);
}

void CarryWriter::allocate() {
  KernelBuilder &b = b_;
  for (const DimensionPart &part : keyParts_) {
    queryBuffers_.push_back(b.buffer({plan_.size, part.size}, problem_.type));
    keyBuffers_.push_back(b.buffer({plan_.size, part.size}, problem_.type));
  }
  // A state that is not rounded has no copy.
  if (problem_.keyDim > kMostKeysInRegisters && !problem_.type.isF32()) {
    for (const DimensionPart &part : keyParts_) {
      stateBuffers_.push_back(b.buffer({tile_, part.size}, problem_.type));
    }
  }
  valueBuffer_ = b.buffer({plan_.size, tile_}, problem_.type);
  inverseBuffer_ = b.buffer({plan_.size, plan_.size}, problem_.type);
  scoreBuffer_ = b.buffer({plan_.size, plan_.size}, problem_.type);
  for (Value &buffer : factorBuffers_) {
    buffer = b.buffer({plan_.size}, b.getF32Type());
  }
}

void CarryWriter::fill(Value chunk, const ChunkRows &rows) {
  KernelBuilder &b = b_;
  MatrixView keys = plan_.scalesKeys() ? plan_.scaledKeys(b, chunk, head_.keyHead) : rows.of(b, keys_);
  for (auto [part, query, key] : llvm::zip_equal(keyParts_, queryBuffers_, keyBuffers_)) {
    plan_.fillRows(b, query, rows.of(b, queries_), rows.isValid, part);
    plan_.fillRows(b, key, keys, rows.isValid, part);
  }
  b.fill(valueBuffer_, b.pointers(rows.of(b, valueRows_), b.range(plan_.size), values_),
         b.both(b.asColumn(rows.isValid, tile_), b.asRow(areValid_, plan_.size)));
  Value index = b.range(plan_.size);
  auto matrix = [&](StringRef region) {
    Value base = plan_.region(b, region, chunk, head_.valueHead, plan_.size * plan_.size);
    return b.pointers({base, b.i64(plan_.size)}, index, index);
  };
  b.copyIn(matrix(chunk_region::kInverses), inverseBuffer_);
  b.copyIn(matrix(chunk_region::kScores), scoreBuffer_);
  Value factors = plan_.region(b, chunk_region::kFactors, chunk, head_.valueHead, kNumFactors * plan_.size);
  for (int64_t factor = 0; factor < kNumFactors; ++factor) {
    b.copyIn(b.pointers(b.advance(factors, b.i32(factor * plan_.size)), index), factorBuffers_[factor]);
  }
}

Value CarryWriter::loadDecay(Value chunk) {
  // Numbers past the sequence's last chunk would be another's: its last decay stands in, and is not used.
  Value last = b_.maximum(b_.sub(numChunks_, b_.i32(1)), b_.i32(0));
  Value number = b_.add(firstChunk_, b_.minimum(chunk, last));
  return b_.load(plan_.region(b_, chunk_region::kDecays, number, head_.valueHead, 1),
                 b_.lessThan(b_.i32(0), numChunks_));
}

SmallVector<Value> CarryWriter::stateOperands(ValueRange state) {
  SmallVector<Value> operands;
  for (auto [index, part] : llvm::enumerate(state)) {
    Value operand = rounded(part);
    if (!stateBuffers_.empty()) {
      b_.write(operand, stateBuffers_[index]);
      operand = b_.read(stateBuffers_[index]);
    }
    operands.push_back(operand);
  }
  return operands;
}

Value CarryWriter::readState(ArrayRef<Value> operands, ArrayRef<Value> buffers) {
  Value product = zeros(plan_.size);
  for (auto [operand, buffer] : llvm::zip_equal(operands, buffers)) {
    product = b_.dot(operand, b_.transpose(b_.read(buffer)), product);
  }
  return product;
}

std::pair<Value, Value> CarryWriter::readStateInTurn(ArrayRef<Value> operands) {
  Value known = zeros(plan_.size), asked = zeros(plan_.size);
  for (auto [operand, key, query] : llvm::zip_equal(operands, keyBuffers_, queryBuffers_)) {
    known = b_.dot(operand, b_.transpose(b_.read(key)), known);
    asked = b_.dot(operand, b_.transpose(b_.read(query)), asked);
  }
  return {known, asked};
}

SmallVector<Value> CarryWriter::advance(Value chunk, Value firstToken, Value decay, ValueRange state) {
  KernelBuilder &b = b_;
  ChunkRows rows(b, plan_.size, firstToken, head_.tokens.end);
  fill(chunk, rows);

  SmallVector<Value> operands = stateOperands(state);
  Value known, asked;
  if (problem_.type.isF32()) {
    std::tie(known, asked) = readStateInTurn(operands);
  } else {
    known = readState(operands, keyBuffers_);
  }
  Value values = b.convert(b.transpose(b.read(valueBuffer_)), b.getF32Type());
  Value missing = rounded(b.subf(values, scaleTokens(known, b.read(factorBuffers_[kKeyFactor]))));
  Value updates = b.dot(missing, b.transpose(b.read(inverseBuffer_)), zeros(plan_.size));

  // Last: what waits for the updates comes first.
  asked = asked ? asked : readState(operands, queryBuffers_);
  Value outputs = scaleTokens(asked, b.read(factorBuffers_[kQueryFactor]));
  outputs = b.dot(rounded(updates), b.transpose(b.read(scoreBuffer_)), outputs);
  storeOutputs(outputs, rows);

  Value faded = rounded(scaleTokens(updates, b.read(factorBuffers_[kUpdateFactor])));
  SmallVector<Value> next;
  for (auto [shape, part, key] : llvm::zip_equal(keyParts_, state, keyBuffers_)) {
    Value decayed = b.mulf(part, b.splat(decay, {tile_, shape.size}));
    next.push_back(b.dot(faded, b.read(key), decayed));
  }
  return next;
}

void CarryWriter::storeOutputs(Value outputs, const ChunkRows &rows) {
  KernelBuilder &b = b_;
  Value result = b.convert(b.transpose(outputs), problem_.type);
  if (StateView last = problem_.finalState(b, head_); last.exists) {
    result = b.select(b.splat(last.exists, {plan_.size, tile_}), result, b.full(0, {plan_.size, tile_}, problem_.type));
  }
  b.store(b.pointers(rows.of(b, outputs_), b.range(plan_.size), values_), result,
          b.both(b.asColumn(rows.isValid, tile_), b.asRow(areValid_, plan_.size)));
}

Value CarryWriter::statePointers(const StateView &state, const DimensionPart &part) {
  KernelBuilder &b = b_;
  Value keys = b.add(b.range(part.size), b.splat(b.i32(part.offset), {part.size}));
  return problem_.isValueMajor ? b.pointers({state.base, b.i64(problem_.keyDim)}, values_, keys)
                               : b.pointers({state.base, b.i64(problem_.valueDim)}, keys, values_);
}

Value CarryWriter::stateMask(const StateView &state, const DimensionPart &part) {
  KernelBuilder &b = b_;
  Value mask = problem_.isValueMajor ? b.asColumn(areValid_, part.size) : b.asRow(areValid_, part.size);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(mask.getType()).getShape();
  if (part.valid < part.size) {
    Value keys = b.lessThan(b.range(part.size), b.splat(b.i32(part.valid), {part.size}));
    mask = b.both(mask, problem_.isValueMajor ? b.asRow(keys, tile_) : b.asColumn(keys, tile_));
  }
  return state.exists ? b.both(mask, b.splat(state.exists, shape)) : mask;
}

SmallVector<Value> CarryWriter::loadState() {
  KernelBuilder &b = b_;
  StateView initial = problem_.initialState(b, head_);
  SmallVector<Value> parts;
  for (const DimensionPart &part : keyParts_) {
    if (!initial.base) {
      parts.push_back(zeros(part.size));
      continue;
    }
    Value values = b.load(statePointers(initial, part), stateMask(initial, part));
    parts.push_back(problem_.isValueMajor ? values : b.transpose(values));
  }
  return parts;
}

void CarryWriter::storeState(ValueRange state) {
  KernelBuilder &b = b_;
  StateView last = problem_.finalState(b, head_);
  for (auto [part, values] : llvm::zip_equal(keyParts_, state)) {
    b.store(statePointers(last, part), problem_.isValueMajor ? values : b.transpose(values), stateMask(last, part));
  }
}

void CarryWriter::write() {
  KernelBuilder &b = b_;
  locate();
  allocate();
  // The decay of a chunk is loaded while the chunk before it is computed: nothing hides its latency otherwise.
  SmallVector<Value> carried = {loadDecay(b.i32(0))};
  llvm::append_range(carried, loadState());
  carried = b.loop(b.i32(0), numChunks_, 1, carried, [&](Value chunk, ValueRange values) {
    SmallVector<Value> next = {loadDecay(b.add(chunk, b.i32(1)))};
    Value firstToken = b.add(head_.tokens.begin, b.mul(chunk, b.i32(plan_.size)));
    llvm::append_range(next, advance(b.add(firstChunk_, chunk), firstToken, values.front(), values.drop_front()));
    return next;
  });
  storeState(ArrayRef(carried).drop_front());
}

void writeCarryStates(KernelBuilder &b, const ChunkPlan &plan) { CarryWriter(b, plan).write(); }

} // namespace jitk::kernels
