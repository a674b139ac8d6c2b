#include "src/kernels/vocabulary/OverlappedAttention.h"

#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace jitk::kernels {

using State = OverlappedAttention::State;

SmallVector<Value> OverlappedAttention::pack(const State &state) const {
  SmallVector<Value> values = {state.softmax.maximum, state.softmax.sum};
  llvm::append_range(values, state.weights);
  llvm::append_range(values, state.outputs);
  values.append({state.keys.slot, state.keys.phase, state.values.slot, state.values.phase});
  return values;
}

State OverlappedAttention::unpack(ValueRange values) const {
  ValueRange tensors = values.drop_front(2).drop_back(4), positions = values.take_back(4);
  State state;
  state.softmax = {values[0], values[1]};
  state.weights = llvm::to_vector(tensors.take_front(shape_.keyParts.size()));
  state.outputs = llvm::to_vector(tensors.drop_front(shape_.keyParts.size()));
  state.keys = {positions[0], positions[1]};
  state.values = {positions[2], positions[3]};
  return state;
}

State OverlappedAttention::start(const RingPosition &keys, const RingPosition &values) const {
  State state;
  state.softmax = initialLazySoftmax(b, kRows);
  for (int64_t part : shape_.keyParts) {
    state.weights.push_back(b.full(0, {kRows, part}, shape_.type));
  }
  for (const DimensionPart &part : shape_.valueParts) {
    state.outputs.push_back(b.full(0, {kRows, part.size}, b.getF32Type()));
  }
  state.keys = keys;
  state.values = values;
  return state;
}

void OverlappedAttention::releaseKeys(State &state) const {
  keys_.release(state.keys.slot);
  state.keys = keys_.next(state.keys);
}

void OverlappedAttention::releaseValues(State &state) const {
  values_.release(state.values.slot);
  state.values = values_.next(state.values);
}

State OverlappedAttention::skip(Value count, State state) const {
  auto skipBlock = [&](Value, ValueRange now) -> SmallVector<Value> {
    RingPosition keys = {now[0], now[1]}, values = {now[2], now[3]};
    keys_.await(keys);
    keys_.release(keys.slot);
    values_.await(values);
    values_.release(values.slot);
    keys = keys_.next(keys);
    values = values_.next(values);
    return {keys.slot, keys.phase, values.slot, values.phase};
  };
  SmallVector<Value> now =
      b.loop(b.i32(0), count, 1, {state.keys.slot, state.keys.phase, state.values.slot, state.values.phase}, skipBlock);
  state.keys = {now[0], now[1]};
  state.values = {now[2], now[3]};
  return state;
}

SmallVector<Value> OverlappedAttention::startScores(const RingPosition &keys, Query query) const {
  SmallVector<Value> products;
  unsigned tile = 0;
  for (int64_t part : shape_.keyParts) {
    Value sum = b.full(0, {kRows, part}, b.getF32Type());
    for (unsigned headPart = 0; headPart < shape_.numHeadParts; ++headPart) {
      Value queries = query(headPart);
      sum = b.startProduct(queries, b.transposeBuffer(keys_.tile(keys, tile++)), sum, /*accumulates=*/headPart > 0);
    }
    products.push_back(sum);
  }
  return products;
}

SmallVector<Value> OverlappedAttention::startOutputs(const State &state) const {
  SmallVector<Value> sums = state.outputs;
  unsigned tile = 0;
  for (Value part : state.weights) {
    for (Value &sum : sums) {
      sum = b.startProduct(part, values_.tile(state.values, tile++), sum);
    }
  }
  return sums;
}

SmallVector<Value> OverlappedAttention::rounded(ValueRange weights) const {
  return llvm::map_to_vector(weights, [&](Value part) { return b.convert(part, shape_.type); });
}

State OverlappedAttention::firstBlock(State state, Query query, Scores scores) const {
  keys_.await(state.keys);
  SmallVector<Value> products = b.awaitProducts(startScores(state.keys, query), 0);
  releaseKeys(state);
  SoftmaxParts parts = accumulateLazily(b, state.softmax, scores(products), shape_.scale);
  state.softmax = parts.state;
  state.weights = rounded(parts.weights);
  return state;
}

Value OverlappedAttention::voteOf(const SoftmaxParts &parts) const {
  Value isRescaled = b.warpAny(parts.isRescaled);
  if (!shape_.votesOnSums) {
    return isRescaled;
  }
  // Sums are needed late, and would be made behind the products that run. A vote cannot be: no sum is below 0.
  Value sum = parts.state.sum;
  Value zero = b.full(0, cast<RankedTensorType>(sum.getType()).getShape(), b.getF32Type());
  return b.select(isRescaled, b.boolean(true), b.warpAny(b.lessThanf(sum, zero)));
}

State OverlappedAttention::nextBlock(State state, Query query, Scores scores) const {
  keys_.await(state.keys);
  SmallVector<Value> products = startScores(state.keys, query);
  values_.await(state.values);
  SmallVector<Value> sums = startOutputs(state);
  products = b.awaitProducts(products, unsigned(state.weights.size() * sums.size()));
  releaseKeys(state);
  SoftmaxParts parts = accumulateLazily(b, state.softmax, scores(products), shape_.scale);
  Value isRescaled = voteOf(parts);
  // The assembler moves arithmetic behind a wait for products, but not behind a loop: this one ends at once, and keeps
  // the softmax where the products run. The weights are handed through the wait for the products of those before them,
  // whose registers are free then.
  values_.await(state.values);
  SmallVector<Value> inFlight = sums;
  llvm::append_range(inFlight, parts.weights);
  SmallVector<Value> done = b.awaitProducts(inFlight, 0);
  state.weights = rounded(ValueRange(done).drop_front(sums.size()));
  releaseValues(state);
  done.truncate(sums.size());
  state.outputs = b.ifThen(isRescaled, [&] { return scaledRows(b, done, parts.rescale); }, done);
  state.softmax = parts.state;
  return state;
}

State OverlappedAttention::forEachBlock(Value begin, Value end, const State &state,
                                        llvm::function_ref<State(Value block, const State &now)> body) const {
  return unpack(
      b.loop(begin, end, 1, pack(state), [&](Value block, ValueRange now) { return pack(body(block, unpack(now))); }));
}

State OverlappedAttention::lastProduct(State state) const {
  values_.await(state.values);
  state.outputs = b.awaitProducts(startOutputs(state), 0);
  releaseValues(state);
  return state;
}

} // namespace jitk::kernels
