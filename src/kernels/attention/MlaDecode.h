// Decoding in the latent space of multi-head latent attention: all query heads attend to one paged key head, whose
// first channels are the values too.

#pragma once

#include "src/kernels/Kernel.h"

namespace jitk::kernels {

Result<BuiltKernel> buildMlaDecode(const Description &description, const Target &target, mlir::MLIRContext &context);

} // namespace jitk::kernels
