#include "src/kernels/vocabulary/AttentionStep.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <limits>

using namespace mlir;

namespace jitk::kernels {

static ir::tile::BufType bufferType(Value buffer) { return cast<ir::tile::BufType>(buffer.getType()); }

AttentionState initialAttention(KernelBuilder &b, int64_t rows, ArrayRef<DimensionPart> valueParts) {
  AttentionState state = {initialSoftmax(b, rows), {}};
  for (const DimensionPart &part : valueParts) {
    state.outputs.push_back(b.full(0, {rows, part.size}, b.getF32Type()));
  }
  return state;
}

SmallVector<Value> packAttention(const AttentionState &state) {
  SmallVector<Value> values = {state.softmax.maximum, state.softmax.sum};
  llvm::append_range(values, state.outputs);
  return values;
}

AttentionState unpackAttention(ValueRange values) {
  return {{values[0], values[1]}, llvm::to_vector(values.drop_front(2))};
}

Value queriesTimesKeys(KernelBuilder &b, ValueRange queries, ValueRange keys) {
  auto rowsOf = [](Value buffer) { return bufferType(buffer).getShape().front(); };
  Value product = b.full(0, {rowsOf(queries.front()), rowsOf(keys.front())}, b.getF32Type());
  for (auto [query, key] : llvm::zip_equal(queries, keys)) {
    product = b.dot(b.read(query), b.transpose(b.read(key)), product);
  }
  return product;
}

Value maskedScores(KernelBuilder &b, Value isSeen, Value scores) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  auto type = cast<RankedTensorType>(scores.getType());
  return b.select(isSeen, scores, b.full(kNone, type.getShape(), type.getElementType()));
}

AttentionState attendBlock(KernelBuilder &b, const AttentionState &state, Value scores, ValueRange values,
                           Value weightBuffer) {
  SoftmaxStep step = accumulateSoftmax(b, state.softmax, scores);
  Value weights = b.convert(step.weights, bufferType(values.front()).getElementType());
  if (weightBuffer) {
    b.write(weights, weightBuffer);
  }
  AttentionState next = {step.state, {}};
  for (auto [value, output] : llvm::zip_equal(values, state.outputs)) {
    Value rescaled = scaledRows(b, output, step.rescale);
    next.outputs.push_back(b.dot(weightBuffer ? b.read(weightBuffer) : weights, b.read(value), rescaled));
  }
  return next;
}

Value scaledRows(KernelBuilder &b, Value tensor, Value factors) {
  return b.mulf(tensor, b.asColumn(factors, cast<RankedTensorType>(tensor.getType()).getShape()[1]));
}

SmallVector<Value> scaledRows(KernelBuilder &b, ValueRange tensors, Value factors) {
  return llvm::map_to_vector(tensors, [&](Value tensor) { return scaledRows(b, tensor, factors); });
}

} // namespace jitk::kernels
