#include "src/kernels/vocabulary/Gates.h"

#include <numbers>

using namespace mlir;

namespace jitk::kernels {

static constexpr double kLeastExponent = -128;

static int64_t sizeOf(Value vector) { return cast<RankedTensorType>(vector.getType()).getShape().front(); }

Value cumulateGates(KernelBuilder &b, Value logGates) {
  int64_t size = sizeOf(logGates);
  Value exponents = b.mulf(logGates, b.full(std::numbers::log2e, {size}, b.getF32Type()));
  return b.cumulativeSum(b.maxf(exponents, b.full(kLeastExponent, {size}, b.getF32Type())));
}

Value lastOf(KernelBuilder &b, Value cumulated) {
  int64_t size = sizeOf(cumulated);
  Value isLast = b.equal(b.range(size), b.splat(b.i32(size - 1), {size}));
  return b.reduceSum(b.select(isLast, cumulated, b.full(0, {size}, b.getF32Type())), 0);
}

Value decayMatrix(KernelBuilder &b, Value cumulated, bool strict) {
  int64_t size = sizeOf(cumulated);
  Value row = b.asColumn(b.range(size), size), column = b.asRow(b.range(size), size);
  Value isPast = strict ? b.lessThan(column, row) : b.lessEqual(column, row);
  Value decay = b.exp2(b.subf(b.asColumn(cumulated, size), b.asRow(cumulated, size)));
  // Chosen, not multiplied: above the diagonal the power may be infinite.
  return b.select(isPast, decay, b.full(0, {size, size}, b.getF32Type()));
}

} // namespace jitk::kernels
