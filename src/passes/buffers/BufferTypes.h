// The memory descriptor type that each CommonIR buffer of a module converts to.

#pragma once

#include "src/ir/tile/Tile.h"
#include "src/ir/ttg/Ttg.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace jitk::passes {

/// Types start at allocations (their layout) and at casts of function arguments to descriptors, and follow the buffers
/// through views, calls, captures of ttg.warp_specialize, and the results and arguments of structured control flow.
class BufferTypes {
public:
  /// Computes the types. Reports, and fails on, a buffer outside shared memory or without a shared layout, a buffer
  /// that gets two types, and a function argument that gets none.
  static llvm::FailureOr<BufferTypes> infer(mlir::ModuleOp module);

  /// The type of a buffer; null where none reaches it.
  ir::ttg::MemDescType of(mlir::Value buffer) const { return types_.lookup(buffer); }

private:
  llvm::LogicalResult seedAllocations(mlir::ModuleOp module);
  llvm::LogicalResult seedArguments(mlir::ModuleOp module);
  llvm::LogicalResult seedArgument(mlir::BlockArgument argument);
  llvm::LogicalResult propagate();
  llvm::LogicalResult propagateThrough(mlir::OpOperand &use, ir::ttg::MemDescType type);
  llvm::LogicalResult assign(mlir::Value buffer, ir::ttg::MemDescType type, mlir::Operation *where);

  llvm::DenseMap<mlir::Value, ir::ttg::MemDescType> types_;
  llvm::SmallVector<mlir::Value> work_;
};

} // namespace jitk::passes
