// Decoding over a paged cache of keys and values, whose heads are shared by groups of query heads.

#pragma once

#include "src/kernels/Kernel.h"

namespace jitk::kernels {

Result<BuiltKernel> buildPagedAttention(const Description &description, const Target &target,
                                        mlir::MLIRContext &context);

} // namespace jitk::kernels
