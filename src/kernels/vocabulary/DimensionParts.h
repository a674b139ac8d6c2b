// A dimension that is no power of two, as tensors have it: a list of parts that are.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// What tensor cores contract at a time: no part of a dimension that they do is smaller.
inline constexpr int64_t kLeastPart = 16;

/// A power of two of elements. `valid` of them lie in the dimension: fewer than `size` only in the last part.
struct DimensionPart {
  int64_t offset, size, valid;
};

/// The least list of parts of `least` to `most` elements (powers of two) that covers `size`, the largest first:
/// 200 with 16 is 128, 64 and 16, of which 8 are valid.
llvm::SmallVector<DimensionPart> splitDimension(int64_t size, int64_t least, int64_t most = INT64_MAX);

/// Where columns of a [rows, part] tile lie in the dimension; null if all do.
mlir::Value validColumns(KernelBuilder &builder, const DimensionPart &part, int64_t rows);

/// The matrix from the part's first column on.
MatrixView columnsFrom(KernelBuilder &builder, MatrixView matrix, const DimensionPart &part);

} // namespace jitk::kernels
