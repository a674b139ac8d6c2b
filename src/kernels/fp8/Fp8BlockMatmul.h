// C[m,n] = sum over kb of As[m,kb] * Bs[n/128,kb] * (sum over k in block kb of A[m,k] B[n,k]): e4m3 operands, fp32
// scales per 1x128 of A and 128x128 of B, fp32 sums promoted once a block, fp16 or bf16 out.

#pragma once

#include "src/kernels/Kernel.h"

namespace jitk::kernels {

/// Scales are given per so many of K, and of N; one block of K is one promotion.
inline constexpr int64_t kScaleBlock = 128;

/// Of fp8_block_matmul and of grouped_fp8_block_matmul.
Result<BuiltKernel> buildFp8BlockMatmul(const Description &description, const Target &target,
                                        mlir::MLIRContext &context);

/// Of the kernel of sm_90a; none of the others, whose tile follows from the problem.
std::vector<Configuration> fp8Configurations(const Description &description, const Target &target);

} // namespace jitk::kernels
