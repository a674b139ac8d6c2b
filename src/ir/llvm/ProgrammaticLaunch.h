// A kernel that may begin before what precedes it in its stream has finished.

#pragma once

#include "llvm/ADT/StringRef.h"

namespace jitk::ir {

/// On a kernel of any dialect, from sm_90 on: it may be launched with programmatic stream serialization. The lowering
/// has it wait for the grids before it ahead of its first access to global memory, and then let the next one begin:
/// what comes earlier, such as the launch itself and the initialization of mbarriers, runs beside the end of those
/// grids.
inline constexpr llvm::StringLiteral kProgrammaticLaunch = "jitk.programmatic_launch";

} // namespace jitk::ir
