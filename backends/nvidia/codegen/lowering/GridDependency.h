// Where a kernel that is launched programmatically waits for the grids before it.

#pragma once

#include "backends/nvidia/codegen/lowering/LoweringBuilder.h"

#include "mlir/IR/Operation.h"

namespace jitk::nvidia {

/// Whether `op`, of a kernel's entry block, may stand before the wait: it neither reads nor writes what another grid
/// could, and ends no block.
bool mayPrecedeGridWait(mlir::Operation &op);

/// Waits until the grids before this one have finished and their writes are visible to all of this grid, provided that
/// one thread does it before any access; then lets the next grid be launched, which waits in the same way. So each grid
/// finishes after all before it.
void emitGridWait(LoweringBuilder &b);

} // namespace jitk::nvidia
