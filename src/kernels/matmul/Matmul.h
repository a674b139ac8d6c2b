// C[M,N] = A[M,K] op(B): fp16 or bf16 in, fp32 accumulation, one rounding at the end.

#pragma once

#include "src/kernels/Kernel.h"

namespace jitk::kernels {

/// The part of C that one CTA computes at a time, and how much of K it takes at a time.
struct MatmulTile {
  int64_t m, n, k;
  unsigned numWarps;
  int64_t groupRows = 8;  ///< of tiles that CTAs that run together go down before they go right
  bool masksRows = false; ///< those past the end of an operand are zeros, not the last row: TMA copies so
  bool stays = false;     ///< a CTA takes one tile after the other
};

/// Tile for the problem: as large as feeds the tensor cores, no larger than the problem. A function of the description
/// and the target alone.
MatmulTile chooseMatmulTile(const Description &description, const Target &target);

/// Of the kernel of sm_90a; none of the others, whose tile follows from the problem.
std::vector<Configuration> matmulConfigurations(const Description &description, const Target &target);

Result<BuiltKernel> buildMatmul(const Description &description, const Target &target, mlir::MLIRContext &context);

} // namespace jitk::kernels
