// Functions of f64, which no instruction computes: to about one unit in the last place.

#pragma once

#include "backends/nvidia/codegen/lowering/LoweringBuilder.h"

namespace jitk::nvidia {

struct DoubleMath {
  LoweringBuilder &b;

  mlir::Value exp(mlir::Value x);
  mlir::Value exp2(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value log2(mlir::Value x);
  mlir::Value log10(mlir::Value x);
  mlir::Value rsqrt(mlir::Value x);

private:
  mlir::Value constant(double value) { return b.floating(b.getF64Type(), value); }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value compare(mlir::LLVM::FCmpPredicate predicate, mlir::Value x, mlir::Value y);
  mlir::Value bits(mlir::Value x) { return b.bitcast(x, b.getI64Type()); }
  /// The polynomial with the given coefficients, highest power first.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients);
  /// x within [low, high]; NaN becomes `low`.
  mlir::Value clamp(mlir::Value x, double low, double high);
  /// x 2^n, for an integral n within [-1100, 1100].
  mlir::Value scale(mlir::Value x, mlir::Value n);
  /// e^r for |r| <= ln(2) / 2.
  mlir::Value expNearZero(mlir::Value r);
};

} // namespace jitk::nvidia
