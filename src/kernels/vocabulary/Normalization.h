// Norms of rows.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// The sums of squares over an axis, in fp32, of elements of any floating type: a scalar for a vector, a vector for a
/// matrix. Added to `sum` unless that is null.
mlir::Value addSquares(KernelBuilder &builder, mlir::Value sum, mlir::Value tensor, unsigned axis);

/// 1 / sqrt(squares + 1e-6).
mlir::Value inverseNorm(KernelBuilder &builder, mlir::Value squares);

} // namespace jitk::kernels
