// The attention of sm_90a: CTAs that stay, TMA, warpgroup products that overlap with the softmax.

#pragma once

#include "src/kernels/Kernel.h"
#include "src/kernels/attention/AttentionTile.h"

namespace jitk::kernels {

/// Whether the target has what the kernel needs and it covers the problem: sequences of equal lengths, heads of at most
/// two parts, keys that may be there.
bool servesPersistentAttention(const Description &description, const Target &target);

Result<BuiltKernel> buildPersistentAttention(const Description &description, const AttentionTile &tile,
                                             const Target &target, mlir::MLIRContext &context);

} // namespace jitk::kernels
