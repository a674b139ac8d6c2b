// The layouts of tensors, and of buffers, after a change of shape that moves no element. The outputs are dim0, dim1,
// ....

#pragma once

#include "src/ir/layout/ShapeFit.h"

namespace jitk::ir {

/// Dimension i of the result is dimension `order[i]` of the source.
LinearLayout transposedLayout(const LinearLayout &source, llvm::ArrayRef<int32_t> order);

/// The same elements, in row-major order, in another shape.
LinearLayout reshapedLayout(const LinearLayout &source, llvm::ArrayRef<int64_t> shape);

/// A dimension of size 1 inserted at `axis`.
LinearLayout expandedLayout(const LinearLayout &source, unsigned axis);

/// Two tensors side by side along a new minor dimension: a pair of registers holds an element of each.
LinearLayout joinedLayout(const LinearLayout &source);

/// The half of a tensor whose minor dimension has size 2; none unless one bit of the registers, and nothing else, tells
/// the halves apart.
std::optional<LinearLayout> splitLayout(const LinearLayout &source);

} // namespace jitk::ir
