// The gated delta rule by chunks of tokens, on tensor cores.

#pragma once

#include "src/kernels/Kernel.h"

namespace jitk::kernels {

Result<BuiltKernel> buildChunkedDeltaRule(const Description &description, const Target &target,
                                          mlir::MLIRContext &context);

} // namespace jitk::kernels
