// Which layout each tensor has by nature: that of the anchor it comes from.
//
// Anchors are results of dots, loads from global and shared memory, and whatever carries an encoding already. What is
// computed from an anchor's tensors alone has the anchor's layout; what is computed from indices and constants has none
// and is made wherever, and in whatever layout, it is wanted.

#pragma once

#include "src/ir/tt/Tt.h"
#include "src/passes/layouts/AccessLayouts.h"

#include "llvm/ADT/DenseMap.h"

namespace jitk::passes {

class NaturalLayouts {
public:
  /// Computes the layouts of all tensors of the function, through loops and branches, to a fixed point.
  NaturalLayouts(ir::tt::FuncOp function, unsigned numWarps, VectorLength vectorLength);

  /// The encoding, or null for a tensor that has no layout of its own.
  mlir::Attribute of(mlir::Value value) const { return layouts_.lookup(value); }

  /// The layout of the elements that a global access moves: coalesced, or what the value has by nature where converting
  /// it first would gain nothing.
  mlir::Attribute ofAccess(mlir::Operation *access) const { return accesses_.lookup(access); }

private:
  bool update(mlir::Value value, mlir::Attribute layout);
  bool visit(mlir::Operation *op);
  bool visitLoop(mlir::Operation *op);
  /// Changes of shape, whose source gets a layout if it has none.
  bool visitReshaped(mlir::Operation *op);
  void anchorAccesses(ir::tt::FuncOp function, VectorLength vectorLength);
  /// Gives loop-carried tensors that nothing anchors the layout of an access that they lead to.
  bool anchorCarried(ir::tt::FuncOp function);

  unsigned numWarps_;
  llvm::DenseMap<mlir::Value, mlir::Attribute> layouts_;
  llvm::DenseMap<mlir::Operation *, mlir::Attribute> accesses_;
};

/// Whether the op computes each element of its result from the same element of its operands.
bool isElementwise(mlir::Operation *op);

} // namespace jitk::passes
