// The two ways to lower tt.dot.

#pragma once

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

namespace jitk::nvidia {

/// mma.sync: the result has an nvidia_mma encoding.
llvm::LogicalResult lowerMmaDot(ir::tt::DotOp op, FunctionLowering &f);

/// Multiplication and addition of single elements.
llvm::LogicalResult lowerFmaDot(ir::tt::DotOp op, FunctionLowering &f);

} // namespace jitk::nvidia
