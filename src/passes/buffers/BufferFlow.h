// Where a CommonIR buffer goes: through views, calls, captures and structured control flow.

#pragma once

#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"

namespace jitk::passes {

/// The buffers that name the storage of the used one, or a part of it, because of this use: the result of a
/// `tile.subview`, the argument of a called function, the argument of each partition that captures it, the arguments
/// and results of structured control flow that it is carried to. Empty for a use that reads or writes.
llvm::SmallVector<mlir::Value> buffersReachedBy(mlir::OpOperand &use);

} // namespace jitk::passes
