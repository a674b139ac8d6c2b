// What of global memory a loop, or a kernel, writes.

#pragma once

#include "src/ir/tt/Tt.h"

#include "llvm/ADT/SetVector.h"

namespace jitk::passes {

/// Where the writes of an op's regions to global memory may go. Two parameters of a kernel are taken as of different
/// tensors.
class GlobalWrites {
public:
  explicit GlobalWrites(mlir::Operation *root);

  bool isEmpty() const { return areKnown_ && tensors_.empty(); }
  /// Whether they may change what a read through `pointers`, a pointer or a tensor of those, finds.
  bool mayReach(mlir::Value pointers) const;

private:
  bool areKnown_ = true;                 ///< none goes elsewhere than to `tensors_`
  llvm::SetVector<mlir::Value> tensors_; ///< parameters of the kernel, or of a test's function
};

/// Whether nothing but the store may read or write what it stores while the kernel runs, nor be told by its function
/// that it is there: no other op of the function uses its tensor, no atomic operation or other barrier is in it.
bool isOnlyUse(ir::tt::StoreOp store);

} // namespace jitk::passes
