#include "backends/nvidia/codegen/lowering/DoubleMath.h"

using namespace mlir;

namespace jitk::nvidia {

using Predicate = LLVM::FCmpPredicate;

constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453, kLog10E = 0.4342944819032518;
// ln(2) in two parts: multiples of the first by exponents are exact.
constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
constexpr int kMantissaBits = 52, kBias = 1023;
/// Beyond 2^1100 and below 2^-1100 all is infinite, or zero.
constexpr double kLargestExponent = 1100;

Value DoubleMath::fma(Value x, Value y, Value z) { return LLVM::FMAOp::create(b, b.loc(), x, y, z); }
Value DoubleMath::mul(Value x, Value y) { return LLVM::FMulOp::create(b, b.loc(), x, y); }
Value DoubleMath::compare(Predicate predicate, Value x, Value y) {
  return LLVM::FCmpOp::create(b, b.loc(), predicate, x, y);
}

Value DoubleMath::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(coefficients.front());
  for (double coefficient : coefficients.drop_front()) {
    sum = fma(sum, x, constant(coefficient));
  }
  return sum;
}

Value DoubleMath::clamp(Value x, double low, double high) {
  x = b.select(compare(Predicate::ogt, x, constant(low)), x, constant(low));
  return b.select(compare(Predicate::olt, x, constant(high)), x, constant(high));
}

Value DoubleMath::scale(Value x, Value n) {
  // In two steps, each of which is a normal number: results may be subnormal.
  Value whole = LLVM::FPToSIOp::create(b, b.loc(), b.getI64Type(), n);
  Value half = LLVM::AShrOp::create(b, b.loc(), whole, b.i64(1));
  auto power = [&](Value exponent) {
    return b.bitcast(b.shiftLeft(b.add(exponent, kBias), kMantissaBits), b.getF64Type());
  };
  return mul(mul(x, power(half)), power(b.sub(whole, half)));
}

Value DoubleMath::expNearZero(Value r) {
  // Taylor: the next term is below 2^-57.
  double factorial = 1;
  SmallVector<double> coefficients = {1};
  for (int k = 1; k <= 13; ++k) {
    factorial *= k;
    coefficients.insert(coefficients.begin(), 1 / factorial);
  }
  return polynomial(r, coefficients);
}

Value DoubleMath::exp(Value x) {
  Value within = clamp(x, -kLargestExponent * kLn2, kLargestExponent * kLn2);
  Value n = LLVM::RoundEvenOp::create(b, b.loc(), mul(within, constant(kLog2E)));
  Value r = fma(n, constant(-kLn2Low), fma(n, constant(-kLn2High), within));
  return b.select(compare(Predicate::uno, x, x), x, scale(expNearZero(r), n));
}

Value DoubleMath::exp2(Value x) {
  Value within = clamp(x, -kLargestExponent, kLargestExponent);
  Value n = LLVM::RoundEvenOp::create(b, b.loc(), within);
  Value r = mul(LLVM::FSubOp::create(b, b.loc(), within, n), constant(kLn2));
  return b.select(compare(Predicate::uno, x, x), x, scale(expNearZero(r), n));
}

Value DoubleMath::log(Value x) {
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)), then log m = 2 atanh(s), s = (m - 1) / (m + 1).
  constexpr double kSmallestNormal = 0x1p-1022, kScale = 0x1p54;
  Value isSmall = compare(Predicate::olt, x, constant(kSmallestNormal));
  Value normal = b.select(isSmall, mul(x, constant(kScale)), x);
  Value word = bits(normal);
  // Adding what is missing from sqrt(1/2) to 1 carries the upper half of mantissas into the exponent.
  constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd, kOne = 0x3ff0000000000000;
  Value moved = b.add(word, kOne - kRootHalf);
  Value e = b.sub(b.shiftRight(moved, kMantissaBits), b.i64(kBias));
  Value m = b.bitcast(b.add(b.bitAnd(moved, (int64_t(1) << kMantissaBits) - 1), kRootHalf), b.getF64Type());
  e = b.sub(e, b.select(isSmall, b.i64(54), b.i64(0)));
  Value exponent = LLVM::SIToFPOp::create(b, b.loc(), b.getF64Type(), e);

  Value numerator = LLVM::FSubOp::create(b, b.loc(), m, constant(1));
  Value s = LLVM::FDivOp::create(b, b.loc(), numerator, LLVM::FAddOp::create(b, b.loc(), m, constant(1)));
  Value square = mul(s, s);
  SmallVector<double> coefficients;
  for (int k = 11; k >= 1; --k) {
    coefficients.push_back(2.0 / (2 * k + 1));
  }
  // 2s + s^3 (2/3 + ...), and the first term is what has an error to keep: m - 1 is exact.
  Value tail = mul(mul(s, square), polynomial(square, coefficients));
  Value low = fma(exponent, constant(kLn2Low), tail);
  Value sum = fma(exponent, constant(kLn2High), fma(s, constant(2), low));

  Value infinity = constant(INFINITY);
  sum = b.select(compare(Predicate::oeq, x, infinity), x, sum);
  sum = b.select(compare(Predicate::oeq, x, constant(0)), constant(-INFINITY), sum);
  return b.select(compare(Predicate::ult, x, constant(0)), constant(NAN), sum);
}

Value DoubleMath::log2(Value x) { return mul(log(x), constant(kLog2E)); }
Value DoubleMath::log10(Value x) { return mul(log(x), constant(kLog10E)); }

Value DoubleMath::rsqrt(Value x) {
  return LLVM::FDivOp::create(b, b.loc(), constant(1), LLVM::SqrtOp::create(b, b.loc(), x));
}

} // namespace jitk::nvidia
