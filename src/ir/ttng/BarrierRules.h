// The rule that all users of a memory barrier share.

#pragma once

#include "src/ir/ttg/Ttg.h"

namespace jitk::ir::ttng {

/// Reports, on `op`, a barrier that is not a mutable `1xi64` buffer in shared memory.
llvm::LogicalResult verifyBarrier(mlir::Operation *op, ttg::MemDescType barrier);

} // namespace jitk::ir::ttng
