// S = exp(g) S; u = beta (v - S^T k); S += k u^T; o = S^T q / sqrt(key_dim), for each token, sequence and value head.

#pragma once

#include "src/kernels/Kernel.h"

namespace jitk::kernels {

/// Mode recurrent: one kernel that goes token by token. Mode chunk: one that prepares all chunks of tokens at once, and
/// one that carries the states from chunk to chunk.
Result<BuiltKernel> buildGatedDeltaRule(const Description &description, const Target &target,
                                        mlir::MLIRContext &context);

} // namespace jitk::kernels
