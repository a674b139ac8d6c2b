// A wish of a kernel for its way through LLVM.

#pragma once

#include "llvm/ADT/StringRef.h"

namespace jitk::ir {

/// On a function of any dialect: what is invariant in its loops is computed in them. The indices of a tile's elements
/// and the descriptors of its products are such values, cheap to compute and many; where accumulators fill the
/// registers, an assembler would spill what LLVM has moved out of a loop.
inline constexpr llvm::StringLiteral kKeepInvariants = "jitk.keep_invariants";

} // namespace jitk::ir
