// The layouts of buffers in tensor memory, from the parameters of their encodings: from row (the lane of tensor memory,
// 0 to 127), column and CTA to the element that is stored there.
//
// A column has the width of an element: tensor memory's 32-bit columns hold 32 / bits of them. Inputs are row, col,
// block; outputs dim0, dim1.

#pragma once

#include "src/ir/layout/ShapeFit.h"

namespace jitk::ir {

inline constexpr llvm::StringLiteral kRow = "row";
inline constexpr llvm::StringLiteral kCol = "col";

/// Blocks of blockM x blockN elements, each in one piece; neighbours along a row are `colStride` columns apart. With
/// blockM = 64, a block takes the first 16 of every 32 rows, and the next block, if there is one, the others.
struct TensorMemoryParameters {
  unsigned blockM, blockN, colStride;
  unsigned ctaSplitM, ctaSplitN; ///< how the CTAs of a cluster cut the tensor, along M first
  /// Two CTAs work on one matrix product. With blockM = 64 a block then takes 64 rows for its first half of columns and
  /// the other 64 rows for its second half.
  bool isTwoCta;
};

LinearLayout tensorMemoryLayout(llvm::ArrayRef<int64_t> shape, const TensorMemoryParameters &parameters);

/// Scale factors of block-scaled products, one byte each, four to a 32-bit column: 32 rows, the same for each of the
/// four groups of warps.
LinearLayout tensorMemoryScalesLayout(llvm::ArrayRef<int64_t> shape, unsigned ctaSplitM, unsigned ctaSplitN);

} // namespace jitk::ir
