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
  mlir::Attribute of(mlir::Value value) const { return layouts_.lookup(value).layout; }

  /// As `of`; where the tensor has none, the one in which it is made for whoever does not mind.
  mlir::Attribute ofOrDefault(mlir::Value value) const;

  /// The layout of the elements that an access to global memory moves; null for other ops and for scalars.
  mlir::Attribute ofAccess(mlir::Operation *access) const { return accesses_.lookup(access); }

private:
  struct Natural {
    mlir::Attribute layout;
    bool isSpread = false; ///< repeats a smaller tensor, which is cheaper to move
  };

  void anchorAccesses(ir::tt::FuncOp function, VectorLength vectorLength);
  bool anchorVectorLoads(ir::tt::FuncOp function);
  bool anchorReductions(ir::tt::FuncOp function);
  void anchorStores(ir::tt::FuncOp function);
  void propagate(ir::tt::FuncOp function);
  bool visit(mlir::Operation *op);
  bool visitEdge(const ControlFlowEdge &edge);
  /// Gives carried tensors that nothing anchors the layout in which they are wanted.
  bool anchorCarried();
  /// The layout in which a user of `value` wants it, if one that holds its value with at least that strength does.
  mlir::Attribute wantedLayout(mlir::Value value, unsigned strength, llvm::SmallVectorImpl<mlir::Value> &visited) const;
  static unsigned rank(const Natural &natural);
  Natural derive(mlir::OpOperand &operand) const;
  bool update(mlir::Value value, Natural natural);

  llvm::SmallVector<ControlFlowEdge> edges_;
  llvm::DenseMap<mlir::Value, Natural> layouts_;
  llvm::DenseMap<mlir::Operation *, mlir::Attribute> accesses_;
};

} // namespace jitk::passes
