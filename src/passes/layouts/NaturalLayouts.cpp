#include "src/passes/layouts/NaturalLayouts.h"

#include "src/ir/ttg/Ttg.h"
#include "src/passes/layouts/LayoutRules.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

/// How strongly a layout holds its value: accumulators stay where they are, everything else follows them.
static unsigned strength(Attribute layout) {
  if (!layout) {
    return 0;
  }
  if (auto slice = dyn_cast<ttg::SliceEncodingAttr>(layout)) {
    return strength(slice.getParent());
  }
  if (isa<ttg::NvidiaMmaEncodingAttr>(layout)) {
    return 3;
  }
  return isa<ttg::DotOperandEncodingAttr>(layout) ? 2 : 1;
}

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

static bool isGlobalAccess(Operation *op) {
  return isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, ttg::AsyncCopyGlobalToLocalOp>(op) &&
         isTensor(op->getOperand(0));
}

SmallVector<ControlFlowEdge> tensorEdges(Operation *function) {
  SmallVector<ControlFlowEdge> edges;
  function->walk([&](RegionBranchOpInterface branch) {
    RegionBranchSuccessorMapping successors;
    branch.getSuccessorOperandInputMapping(successors);
    // In the order of the operands, not of their addresses: it decides between equally strong layouts.
    auto append = [&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands()) {
        if (auto found = successors.find(&operand); found != successors.end() && isTensor(operand.get())) {
          edges.push_back({&operand, found->second});
        }
      }
    };
    append(branch);
    for (Region &region : branch->getRegions()) {
      for (Block &block : region) {
        append(block.getTerminator());
      }
    }
  });
  return edges;
}

NaturalLayouts::NaturalLayouts(tt::FuncOp function, VectorLength vectorLength) : edges_(tensorEdges(function)) {
  anchorAccesses(function, vectorLength);
  for (BlockArgument argument : function.getArguments()) {
    update(argument, isTensor(argument) ? ofOrDefault(argument) : Attribute());
  }
  propagate(function);
  while (anchorCarried()) {
    propagate(function);
  }
  anchorStores(function);
}

Attribute NaturalLayouts::ofOrDefault(Value value) const {
  Attribute layout = of(value);
  return layout ? layout : defaultLayout(value);
}

bool NaturalLayouts::update(Value value, Attribute layout) {
  if (!layout || !isTensor(value)) {
    return false;
  }
  Attribute &current = layouts_[value];
  if (strength(layout) <= strength(current)) {
    return false;
  }
  current = layout;
  return true;
}

// --- accesses --------------------------------------------------------------------------------------------------------

void NaturalLayouts::anchorAccesses(tt::FuncOp function, VectorLength vectorLength) {
  // Accesses of one shape and order get one layout, that of the longest vectors: what one loads in it the other stores
  // from it. A copy to shared memory meets no other access in registers.
  std::map<std::tuple<SmallVector<int64_t>, SmallVector<unsigned>, int>, int64_t> vectors;
  SmallVector<std::pair<Operation *, AccessShape>> accesses;
  function.walk([&](Operation *op) {
    if (!isGlobalAccess(op)) {
      return;
    }
    if (Attribute given = cast<RankedTensorType>(op->getOperand(0).getType()).getEncoding()) {
      accesses_[op] = given;
      return;
    }
    accesses.emplace_back(op, AccessShape::of(op->getOperand(0), vectorLength));
    const AccessShape &shape = accesses.back().second;
    if (!isa<ttg::AsyncCopyGlobalToLocalOp>(op)) {
      int64_t &vector = vectors[{shape.shape, shape.order, shape.numWarps}];
      vector = std::max(vector, shape.vector);
    }
  });
  for (auto &[op, shape] : accesses) {
    if (!isa<ttg::AsyncCopyGlobalToLocalOp>(op)) {
      shape.vector = vectors[{shape.shape, shape.order, shape.numWarps}];
    }
    accesses_[op] = shape.layout(op->getContext());
  }
}

void NaturalLayouts::anchorStores(tt::FuncOp function) {
  // A vector is stored from the layout that it is computed in: converting a few elements gains nothing.
  function.walk([&](tt::StoreOp store) {
    auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
    if (type && type.getRank() == 1 && of(store.getValue())) {
      accesses_[store] = of(store.getValue());
    }
  });
}

// --- propagation -----------------------------------------------------------------------------------------------------

bool NaturalLayouts::propagate(tt::FuncOp function) {
  bool changed = true, everChanged = false;
  while (changed) {
    changed = false;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { changed |= visit(op); });
    for (const ControlFlowEdge &edge : edges_) {
      changed |= visitEdge(edge);
    }
    everChanged |= changed;
  }
  return everChanged;
}

bool NaturalLayouts::visitEdge(const ControlFlowEdge &edge) {
  Attribute layout = of(edge.to.front());
  if (Attribute incoming = of(edge.from->get()); strength(incoming) > strength(layout)) {
    layout = incoming;
  }
  bool changed = false;
  for (Value value : edge.to) {
    changed |= update(value, layout);
  }
  return changed;
}

bool NaturalLayouts::visit(Operation *op) {
  if (isa<RegionBranchOpInterface>(op)) {
    return false;
  }
  Attribute layout = ofAccess(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Attribute natural = isTensor(operand.get()) ? of(operand.get()) : Attribute();
    Attribute derived = natural && !ofAccess(op) ? resultLayout(operand, natural) : Attribute();
    layout = strength(derived) > strength(layout) ? derived : layout;
  }
  bool changed = false;
  for (Value result : op->getResults()) {
    if (!isTensor(result)) {
      continue;
    }
    if (Attribute given = cast<RankedTensorType>(result.getType()).getEncoding()) {
      changed |= update(result, given);
    } else if (layout) {
      changed |= update(result, layout);
    } else if (auto reduce = dyn_cast<tt::ReduceOp>(op)) {
      changed |= update(result, resultLayout(op->getOpOperand(0), ofOrDefault(reduce.getSrcs().front())));
    } else if (!isRemakable(op)) {
      changed |= update(result, defaultLayout(result));
    }
  }
  return changed;
}

Attribute NaturalLayouts::wantedLayout(Value value, SmallVectorImpl<Value> &visited) const {
  if (llvm::is_contained(visited, value)) {
    return {};
  }
  visited.push_back(value);
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (Attribute layout = ofAccess(user)) {
      return layout;
    }
    if (user->getNumResults() != 1 || !isTensor(user->getResult(0))) {
      continue;
    }
    Attribute layout = of(user->getResult(0));
    layout = layout ? layout : wantedLayout(user->getResult(0), visited);
    if (Attribute wanted = layout ? operandLayout(use, layout) : Attribute()) {
      return wanted;
    }
  }
  return {};
}

bool NaturalLayouts::anchorCarried() {
  for (const ControlFlowEdge &edge : edges_) {
    if (of(edge.to.front())) {
      continue;
    }
    Attribute layout;
    for (Value value : edge.to) {
      SmallVector<Value> visited;
      layout = layout ? layout : wantedLayout(value, visited);
    }
    for (Value value : edge.to) {
      update(value, layout ? layout : Attribute(defaultLayout(value)));
    }
    return true;
  }
  return false;
}

} // namespace jitk::passes
