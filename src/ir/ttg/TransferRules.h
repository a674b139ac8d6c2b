// The rule of all operations that move a tensor between registers and a buffer in shared memory.

#pragma once

#include "src/ir/ttg/Ttg.h"

namespace jitk::ir::ttg {

/// Reports, on `op`, a tensor and a buffer that differ in shape, element type or rank of their encodings.
llvm::LogicalResult verifyTransfer(mlir::Operation *op, mlir::RankedTensorType tensor, MemDescType buffer);

} // namespace jitk::ir::ttg
