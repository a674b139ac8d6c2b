#include "src/kernels/vocabulary/Gates.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;

namespace jitk::kernels {

static constexpr double kLeastExponent = -128;

static int64_t sizeOf(Value vector) { return cast<RankedTensorType>(vector.getType()).getShape().front(); }

CumulatedGates cumulateGates(KernelBuilder &b, Value logGates, GatePrecision precision) {
  int64_t size = sizeOf(logGates);
  Value exponents = b.mulf(logGates, b.full(std::numbers::log2e, {size}, b.getF32Type()));
  exponents = b.maxf(exponents, b.full(kLeastExponent, {size}, b.getF32Type()));
  if (precision == GatePrecision::Half) {
    return {b.cumulativeSum(exponents), {}};
  }
  Value wholes = math::RoundEvenOp::create(b, exponents);
  return {b.cumulativeSum(b.subf(exponents, wholes)), b.cumulativeSum(wholes)};
}

/// 2 to the power of what `of` makes of both sums.
static Value power(KernelBuilder &b, const CumulatedGates &gates, llvm::function_ref<Value(Value sums)> of) {
  Value exponents = of(gates.sums);
  return b.exp2(gates.wholes ? b.addf(of(gates.wholes), exponents) : exponents);
}

static Value lastOf(KernelBuilder &b, Value sums) {
  int64_t size = sizeOf(sums);
  Value isLast = b.equal(b.range(size), b.splat(b.i32(size - 1), {size}));
  return b.reduceSum(b.select(isLast, sums, b.full(0, {size}, b.getF32Type())), 0);
}

Value decayFromStart(KernelBuilder &b, const CumulatedGates &gates) {
  return power(b, gates, [](Value sums) { return sums; });
}

Value decayOfAll(KernelBuilder &b, const CumulatedGates &gates) {
  return power(b, gates, [&](Value sums) { return lastOf(b, sums); });
}

Value decayToLast(KernelBuilder &b, const CumulatedGates &gates) {
  return power(b, gates, [&](Value sums) { return b.subf(b.splat(lastOf(b, sums), {sizeOf(sums)}), sums); });
}

Value decayMatrix(KernelBuilder &b, const CumulatedGates &gates, bool strict) {
  int64_t size = sizeOf(gates.sums);
  Value row = b.asColumn(b.range(size), size), column = b.asRow(b.range(size), size);
  Value isPast = strict ? b.lessThan(column, row) : b.lessEqual(column, row);
  Value decay = power(b, gates, [&](Value sums) { return b.subf(b.asColumn(sums, size), b.asRow(sums, size)); });
  // Chosen, not multiplied: above the diagonal the power may be infinite.
  return b.select(isPast, decay, b.full(0, {size, size}, b.getF32Type()));
}

} // namespace jitk::kernels
