// Norms of rows.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// 1 / sqrt(sum of squares + 1e-6) over an axis, in fp32: a scalar for a vector, a vector for a matrix. Elements may be
/// of any floating type.
mlir::Value inverseNorm(KernelBuilder &builder, mlir::Value tensor, unsigned axis);

} // namespace jitk::kernels
