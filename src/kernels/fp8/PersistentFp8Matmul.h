// The block-scaled fp8 matmul of sm_90a, of one B or of one for each group of rows: CTAs that stay, TMA, warpgroup
// products that are promoted each 128 of K.

#pragma once

#include "src/kernels/Kernel.h"
#include "src/kernels/matmul/PersistentTile.h"

namespace jitk::kernels {

/// Whether the target has what the kernel needs and TMA can move the operands: rows of whole 16 bytes, K known and not
/// zero; no tile across two groups.
bool servesFp8Persistently(const Description &description, const Target &target);

/// Builds a step for each of `variants`, which are in the order of their rows; a launch runs the one that M falls to.
Result<BuiltKernel> buildPersistentFp8Matmul(const Description &description, llvm::ArrayRef<PersistentVariant> variants,
                                             const Target &target, mlir::MLIRContext &context);

/// What the tiles of a description are chosen from, the cheapest first.
std::vector<Configuration> persistentFp8Configurations(const Description &description);

/// The tiles for a description: those of the model, or, of groups, the cheapest one for them; or the one that it names.
llvm::SmallVector<PersistentVariant> chooseFp8Variants(const Description &description);

} // namespace jitk::kernels
