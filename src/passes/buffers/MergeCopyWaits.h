// Lets neighbouring copies share one wait.

#pragma once

#include "src/ir/ttg/Ttg.h"

#include "llvm/ADT/ArrayRef.h"

namespace jitk::passes {

/// Merges the waits of `copies`, given in program order, each followed by its own commit and wait: copies of one block
/// into different allocations with nothing between them but pure address arithmetic get one commit and one wait, those
/// of the last. A copy into a buffer whose allocation is not known keeps its own.
void mergeCopyWaits(llvm::ArrayRef<ir::ttg::AsyncCopyGlobalToLocalOp> copies);

} // namespace jitk::passes
