// Gates of linear attention, given as logarithms, cumulated over the tokens of a chunk.
//
// Everything is kept in base 2, and exponents are combined before any power is taken: the decay from token j to token i
// is 2^(G_i - G_j), never a quotient of powers, so that gates of 0 and of -1000 give neither 0 / 0 nor an overflow.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// G: inclusive sums of `logGates`, f32 [tokens], natural logarithms, in base 2. A single gate below 2^-128, which is
/// nothing in fp32, counts as 2^-128: larger sums would leave no bits for the gates beside it.
mlir::Value cumulateGates(KernelBuilder &builder, mlir::Value logGates);

/// G of the last token: a scalar.
mlir::Value lastOf(KernelBuilder &builder, mlir::Value cumulated);

/// 2^(G_i - G_j) where i >= j, or only where i > j if `strict`; 0 elsewhere. f32 [tokens, tokens].
mlir::Value decayMatrix(KernelBuilder &builder, mlir::Value cumulated, bool strict);

} // namespace jitk::kernels
