// Tensor maps that passes ask for: parameters that they add to a kernel, and that a launch makes of what it gives for
// others.

#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace jitk::passes {

/// Of a parameter, a unit: a launch gives a tensor's address, or an integer that it knows before.
inline constexpr llvm::StringLiteral kTensorParameter = "jitk.tensor", kSizeParameter = "jitk.size";

/// Of a size, a unit: it is 1 to 2^31 - 1 wherever the kernel runs.
inline constexpr llvm::StringLiteral kPositiveParameter = "jitk.positive";

/// Of an added parameter, a tensor descriptor, array<i64>: the number of the parameter that is the matrix's address, of
/// the one that is the stride of its rows in elements, or -1, and the stride if it is a constant; likewise of the
/// number of its rows, and of its columns, which are 1 or more. Where the stride is 0 or less nothing is copied.
inline constexpr llvm::StringLiteral kRowsOf = "jitk.rows_of";

/// The number of rows, or columns, of a matrix of which all that is copied is there: as far as coordinates go.
inline constexpr int64_t kEndless = int64_t(1) << 31;

} // namespace jitk::passes
