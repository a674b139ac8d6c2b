// O = softmax(scale Q K^T) V by blocks of keys, with the running maximum and sum of each row kept in registers.

#pragma once

#include "src/kernels/Kernel.h"

namespace jitk::kernels {

Result<BuiltKernel> buildFlashAttention(const Description &description, const Target &target,
                                        mlir::MLIRContext &context);

/// Of the kernel of sm_90a; none of the others, whose tile follows from the problem.
std::vector<Configuration> attentionConfigurations(const Description &description, const Target &target);

} // namespace jitk::kernels
