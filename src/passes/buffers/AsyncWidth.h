// Whether a copy from global to shared memory can be asynchronous.

#pragma once

#include "src/ir/ttg/Ttg.h"
#include "src/passes/AxisInfo.h"

namespace jitk::passes {

/// Whether at least four bytes, the least that cp.async moves, are known to be contiguous in global and in shared
/// memory and under one value of the mask, which may be null.
bool canCopyAsync(const AxisInfoAnalysis &axes, mlir::Value pointers, mlir::Value mask, ir::ttg::MemDescType buffer);

} // namespace jitk::passes
