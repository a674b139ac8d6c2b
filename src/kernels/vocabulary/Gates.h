// Gates of linear attention, given as logarithms, cumulated over the tokens of a chunk.
//
// Everything is kept in base 2, and exponents are combined before any power is taken: the decay from token j to token i
// is 2^(G_i - G_j), never a quotient of powers, so that gates of 0 and of -1000 give neither 0 / 0 nor an overflow.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// G: inclusive sums of logarithms of gates in base 2, f32 [tokens].
struct CumulatedGates {
  mlir::Value sums;   ///< of all of each logarithm, or of what is left of it
  mlir::Value wholes; ///< of the nearest whole numbers, which are exact; null where they are part of `sums`
};

/// How much of the bits of small gates is left beside closed ones.
enum class GatePrecision {
  Half,   ///< 10 bits or more: the sums go down to thousands
  Single, ///< nearly all: whole numbers are summed apart
};

/// Cumulates `logGates`, f32 [tokens], natural logarithms. A single gate below 2^-128, which is nothing in fp32, counts
/// as 2^-128: larger sums would leave no bits for the gates beside it.
CumulatedGates cumulateGates(KernelBuilder &builder, mlir::Value logGates, GatePrecision precision);

/// 2^G: the decay of what was there before the first token; f32 [tokens].
mlir::Value decayFromStart(KernelBuilder &builder, const CumulatedGates &gates);
/// The same up to the last token; a scalar.
mlir::Value decayOfAll(KernelBuilder &builder, const CumulatedGates &gates);
/// 2^(G_last - G): from each token to the last; f32 [tokens].
mlir::Value decayToLast(KernelBuilder &builder, const CumulatedGates &gates);
/// 2^(G_i - G_j) where i >= j, or only where i > j if `strict`; 0 elsewhere. f32 [tokens, tokens].
mlir::Value decayMatrix(KernelBuilder &builder, const CumulatedGates &gates, bool strict);

} // namespace jitk::kernels
