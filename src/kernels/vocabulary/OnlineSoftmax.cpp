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
  int64_t columns = cast<RankedTensorType>(scores.getType()).getShape()[1];
  Value maximum = b.maxf(state.maximum, b.reduceRowsMax(scores));
  Value reference = finiteMaximum(b, maximum);
  Value weights = b.exp2(b.subf(scores, b.asColumn(reference, columns)));
  Value rescale = b.exp2(b.subf(state.maximum, reference));
  Value sum = b.addf(b.mulf(state.sum, rescale), b.reduceRowsSum(weights));
  return {{maximum, sum}, weights, rescale};
}

/// Columns of the sum's parts: each thread of the tensor cores' layout has two in a row.
static constexpr int64_t kSumParts = 8;

SoftmaxState initialLazySoftmax(KernelBuilder &b, int64_t rows) {
  return {b.full(kMinusInfinity, {rows}, b.getF32Type()), b.full(0, {rows, kSumParts}, b.getF32Type())};
}

SoftmaxState totalled(KernelBuilder &b, const SoftmaxState &state) {
  return {state.maximum, b.reduceRowsSum(state.sum)};
}

/// The maximum of each row over all tensors.
static Value largestOf(KernelBuilder &b, ValueRange scores) {
  Value largest;
  for (Value part : scores) {
    Value ofPart = b.reduceRowsMax(part);
    largest = largest ? b.maxf(largest, ofPart) : ofPart;
  }
  return largest;
}

/// The sum of tensors of one shape, by halves.
static Value sumOf(KernelBuilder &b, llvm::SmallVector<Value> parts) {
  while (parts.size() > 1) {
    llvm::SmallVector<Value> sums;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      sums.push_back(b.addf(parts[i], parts[i + 1]));
    }
    if (parts.size() % 2) {
      sums.push_back(parts.back());
    }
    parts = std::move(sums);
  }
  return parts.front();
}

SoftmaxParts accumulateLazily(KernelBuilder &b, const SoftmaxState &state, ValueRange scores, double scale) {
  constexpr double kMostGrowth = 8;
  int64_t rows = rowsOf(state.maximum);
  auto full = [&](double value) { return b.full(value, {rows}, b.getF32Type()); };
  SoftmaxParts result;
  Value largest = b.mulf(largestOf(b, scores), full(scale));
  result.isRescaled = b.lessThanf(b.addf(state.maximum, full(kMostGrowth)), largest);
  Value maximum = b.select(result.isRescaled, largest, state.maximum);
  Value reference = finiteMaximum(b, maximum);
  Value negated = b.subf(full(0), reference);
  result.rescale = b.exp2(b.subf(state.maximum, reference));
  llvm::SmallVector<Value> sums = {b.mulf(state.sum, b.asColumn(result.rescale, kSumParts))};
  for (Value part : scores) {
    int64_t columns = cast<RankedTensorType>(part.getType()).getShape()[1];
    Value factor = b.full(scale, {rows, columns}, b.getF32Type());
    result.weights.push_back(b.exp2(b.fma(part, factor, b.asColumn(negated, columns))));
    sums.push_back(sumOf(b, b.splitColumns(result.weights.back(), kSumParts)));
  }
  result.state = {maximum, sumOf(b, sums)};
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
