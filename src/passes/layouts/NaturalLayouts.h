// Which layout each tensor has by nature: that of the anchor it comes from.
//
// Anchors are results of dots, accesses to global memory, and whatever carries an encoding already. What is computed
// from an anchor's tensors has the anchor's layout. What is computed from indices, constants and buffers alone has
// none: it is made wherever, and in whatever layout, it is wanted.

#pragma once

#include "src/ir/tt/Tt.h"
#include "src/passes/layouts/AccessLayouts.h"

#include "llvm/ADT/DenseMap.h"

namespace jitk::passes {

/// An operand that structured control flow hands on, and the block arguments and results that it becomes.
struct ControlFlowEdge {
  mlir::OpOperand *from;
  llvm::SmallVector<mlir::Value> to;
};

/// The edges of the function that carry tensors. The operand and the values that it becomes have one layout.
llvm::SmallVector<ControlFlowEdge> tensorEdges(mlir::Operation *function);

class NaturalLayouts {
public:
  /// Computes the layouts of all tensors of the function, through loops and branches, to a fixed point.
  NaturalLayouts(ir::tt::FuncOp function, VectorLength vectorLength);

  /// The encoding, or null for a tensor that has no layout of its own.
  mlir::Attribute of(mlir::Value value) const { return layouts_.lookup(value); }

  /// As `of`; where the tensor has none, the one in which it is made for whoever does not mind.
  mlir::Attribute ofOrDefault(mlir::Value value) const;

  /// The layout of the elements that an access to global memory moves; null for other ops and for scalars.
  mlir::Attribute ofAccess(mlir::Operation *access) const { return accesses_.lookup(access); }

private:
  void anchorAccesses(ir::tt::FuncOp function, VectorLength vectorLength);
  void anchorStores(ir::tt::FuncOp function);
  bool propagate(ir::tt::FuncOp function);
  bool visit(mlir::Operation *op);
  bool visitEdge(const ControlFlowEdge &edge);
  /// Gives carried tensors that nothing anchors the layout in which they are wanted.
  bool anchorCarried();
  mlir::Attribute wantedLayout(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &visited) const;
  bool update(mlir::Value value, mlir::Attribute layout);

  llvm::SmallVector<ControlFlowEdge> edges_;
  llvm::DenseMap<mlir::Value, mlir::Attribute> layouts_;
  llvm::DenseMap<mlir::Operation *, mlir::Attribute> accesses_;
};

} // namespace jitk::passes
