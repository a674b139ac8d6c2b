// Where the tokens of a sequence lie.
//
//   padded:   | sequence 0        | sequence 1        | ...     `tokens` each
//   packed:   | sequence 0  | 1 | | 3        | (none) |         [cu_seqlens[i], cu_seqlens[i + 1])

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// Rows [begin, end) of a tensor whose rows are tokens; i32, begin <= end.
struct TokenRange {
  mlir::Value begin, end;
};

/// The sequence of that number, of `tokens` tokens as all are.
TokenRange paddedSequence(KernelBuilder &builder, mlir::Value sequence, mlir::Value tokens);

/// The sequence between two offsets of `cuSeqlens`, a pointer to int32. Offsets are taken as the nearest in
/// [0, tokens], an end before its beginning as the beginning, so that no content of the array leads out of the tensors.
TokenRange packedSequence(KernelBuilder &builder, mlir::Value sequence, mlir::Value cuSeqlens, mlir::Value tokens);

} // namespace jitk::kernels
