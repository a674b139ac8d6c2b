// The gated delta rule token by token: one pass over the states, bound by their bytes.

#pragma once

#include "src/kernels/Kernel.h"

namespace jitk::kernels {

Result<BuiltKernel> buildRecurrentDeltaRule(const Description &description, const Target &target,
                                            mlir::MLIRContext &context);

} // namespace jitk::kernels
