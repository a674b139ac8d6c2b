#include "src/kernels/vocabulary/OnlineSoftmax.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace jitk::kernels {

static constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

static int64_t rowsOf(Value vector) { return cast<RankedTensorType>(vector.getType()).getShape().front(); }

/// Where a row has attended to nothing.
static Value isEmpty(KernelBuilder &b, const SoftmaxState &state) {
  return b.equalf(state.sum, b.full(0, {rowsOf(state.sum)}, b.getF32Type()));
}

/// The maximum, or 0 where it is -inf.
static Value finiteMaximum(KernelBuilder &b, Value maximum) {
  int64_t rows = rowsOf(maximum);
  Value none = b.equalf(maximum, b.full(kMinusInfinity, {rows}, b.getF32Type()));
  return b.select(none, b.full(0, {rows}, b.getF32Type()), maximum);
}

SoftmaxState initialSoftmax(KernelBuilder &b, int64_t rows) {
  return {b.full(kMinusInfinity, {rows}, b.getF32Type()), b.full(0, {rows}, b.getF32Type())};
}

SoftmaxStep accumulateSoftmax(KernelBuilder &b, const SoftmaxState &state, Value scores) {
  SoftmaxParts parts = accumulateSoftmax(b, state, scores, /*scale=*/1);
  return {parts.state, parts.weights.front(), parts.rescale};
}

SoftmaxParts accumulateSoftmax(KernelBuilder &b, const SoftmaxState &state, ValueRange scores, double scale) {
  int64_t rows = rowsOf(state.sum);
  Value largest;
  for (Value part : scores) {
    Value ofPart = b.reduceRowsMax(part);
    largest = largest ? b.maxf(largest, ofPart) : ofPart;
  }
  SoftmaxParts result;
  Value maximum = b.maxf(state.maximum, b.mulf(largest, b.full(scale, {rows}, b.getF32Type())));
  Value reference = finiteMaximum(b, maximum);
  Value negated = b.subf(b.full(0, {rows}, b.getF32Type()), reference);
  result.rescale = b.exp2(b.subf(state.maximum, reference));
  Value sum = b.mulf(state.sum, result.rescale);
  for (Value part : scores) {
    int64_t columns = cast<RankedTensorType>(part.getType()).getShape()[1];
    Value factor = b.full(scale, {rows, columns}, b.getF32Type());
    Value weights = b.exp2(b.fma(part, factor, b.asColumn(negated, columns)));
    sum = b.addf(sum, b.reduceRowsSum(weights));
    result.weights.push_back(weights);
  }
  result.state = {maximum, sum};
  return result;
}

Value softmaxNormalizer(KernelBuilder &b, const SoftmaxState &state) {
  int64_t rows = rowsOf(state.sum);
  Value one = b.full(1, {rows}, b.getF32Type());
  Value zero = b.full(0, {rows}, b.getF32Type());
  return b.select(isEmpty(b, state), zero, b.divf(one, state.sum));
}

Value log2Sum(KernelBuilder &b, const SoftmaxState &state) {
  Value none = b.full(kMinusInfinity, {rowsOf(state.sum)}, b.getF32Type());
  return b.select(isEmpty(b, state), none, b.addf(state.maximum, b.log2(state.sum)));
}

Value logSumExp(KernelBuilder &b, const SoftmaxState &state, double ofNothing) {
  int64_t rows = rowsOf(state.sum);
  Value ln2 = b.full(std::numbers::ln2, {rows}, b.getF32Type());
  Value value = b.mulf(b.addf(state.maximum, b.log2(state.sum)), ln2);
  return b.select(isEmpty(b, state), b.full(ofNothing, {rows}, b.getF32Type()), value);
}

} // namespace jitk::kernels
