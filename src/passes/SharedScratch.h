// Shared memory that an operation's lowering needs for itself.

#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace jitk::passes {

/// Alignment of scratch memory, and of each operand's part in it: the widest shared-memory access.
constexpr int64_t kScratchAlignment = 16;

/// Bytes of shared memory in which the lowering of `op` exchanges values between threads; 0 if it needs none. The
/// lowering finds the memory at `allocation.offset`. It orders its own accesses, so barriers are needed only between
/// the operation and others.
int64_t scratchBytes(mlir::Operation *op);

/// Alignment in bytes of that memory.
int64_t scratchAlignment(mlir::Operation *op);

/// Whether the lowering of `op`, which has scratch memory, executes a barrier of all warps between its writes and its
/// reads; else each warp uses a part of its own.
bool synchronizesScratch(mlir::Operation *op);

} // namespace jitk::passes
