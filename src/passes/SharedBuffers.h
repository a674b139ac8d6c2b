// Which buffers in shared memory a value may name, and how large they are.

#pragma once

#include "src/ir/ttg/Ttg.h"

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace jitk::passes {

/// Bytes of shared memory that a buffer of this type takes, its padding included.
int64_t sharedBytes(ir::ttg::MemDescType type);

/// True for a memory descriptor in shared memory.
bool isShared(mlir::Type type);

/// Maps each memory descriptor of a function to the buffers that it may be a view of: results of ttg.local_alloc, and
/// descriptors that are arguments of the function. Flow through views, select, loops, branches and the captures of
/// ttg.warp_specialize is followed.
class SharedBuffers {
public:
  explicit SharedBuffers(mlir::Operation *function);

  /// The buffers that `view` may alias; more than one where control flow merges.
  llvm::ArrayRef<mlir::Value> of(mlir::Value view) const;

  /// The loops that carry `buffer`, allocated inside of them, from one iteration to the next.
  llvm::ArrayRef<mlir::Operation *> carriers(mlir::Value buffer) const;

private:
  bool flow(mlir::Value from, mlir::Value to);
  bool flowThrough(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, llvm::SmallSetVector<mlir::Value, 1>> buffers_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *, 1>> carriers_;
};

} // namespace jitk::passes
