// The block-scaled fp8 matmul of sm_90a: CTAs that stay, TMA, warpgroup products that are promoted each 128 of K.

#pragma once

#include "src/kernels/Kernel.h"
#include "src/kernels/matmul/PersistentTile.h"

namespace jitk::kernels {

/// Whether the target has what the kernel needs and TMA can move the operands: rows of whole 16 bytes, K known and not
/// zero.
bool servesFp8Persistently(const Description &description, const Target &target);

/// Builds a step for each of `variants`, which are in the order of their rows; a launch runs the one that M falls to.
Result<BuiltKernel> buildPersistentFp8Matmul(const Description &description, llvm::ArrayRef<PersistentVariant> variants,
                                             const Target &target, mlir::MLIRContext &context);

} // namespace jitk::kernels
