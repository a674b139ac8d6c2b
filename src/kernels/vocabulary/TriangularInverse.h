// The inverse of a unit lower triangular matrix, of the size of a chunk of tokens.
//
//       +----+----+----+----+
//       | 16 |    |    |    |      16 x 16 blocks on the diagonal: forward substitution in fp32, all blocks at once
//       +----+----+    |    |
//       | a  | 16 |    |    |      a: inverse of 32 x 32 from two of 16 x 16
//       +----+----+----+----+
//       |    b    | 16 |    |      b: inverse of 64 x 64 from two of 32 x 32
//       |         +----+----+
//       |         | a  | 16 |      a and b are products on tensor cores: X - X L X, where X is the inverse of the
//       +---------+----+----+      diagonal blocks and L what stands beside them
//

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// (I + strictLower)^-1, f32 [size, size], for a strictly lower triangular `strictLower` of 16, 32 or 64 rows. The
/// products that merge blocks have operands of `operandType`. fp16 has more bits than bf16, and no entry of a chunk's
/// matrix leaves its range: entries of both matrices are at most 1 where keys have norm 1 and beta is at most 1.
mlir::Value invertUnitLower(KernelBuilder &builder, mlir::Value strictLower, mlir::Type operandType);

} // namespace jitk::kernels
