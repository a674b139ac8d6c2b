// The warps that run the partitions of ttg.warp_specialize.

#pragma once

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

namespace jitk::nvidia {

/// Synchronizes the kernel's warps where there are others. Number 0 stands for all threads of a CTA.
constexpr unsigned kKernelBarrier = 2;

/// Emits what warps beyond the kernel's run, from `entry` to their return. `warp` is the warp's number in the CTA. The
/// operations are numbered in the order of `ops`; the kernel's own code has been lowered.
llvm::LogicalResult lowerWorkers(FunctionLowering &f, llvm::ArrayRef<ir::ttg::WarpSpecializeOp> ops, mlir::Block *entry,
                                 mlir::Value warp);

/// Lets those warps return. The kernel's warps call it before they return.
void dismissWorkers(FunctionLowering &f);

} // namespace jitk::nvidia
