#include "src/passes/layouts/NaturalLayouts.h"

#include "src/ir/ttg/Ttg.h"
#include "src/passes/layouts/LayoutRules.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

/// How strongly layouts hold their values: accumulators stay where they are, everything else follows them.
enum Strength : unsigned { kNone, kBlocked, kDotOperand, kAccumulator };

static unsigned strength(Attribute layout) {
  if (!layout) {
    return kNone;
  }
  if (auto slice = dyn_cast<ttg::SliceEncodingAttr>(layout)) {
    return strength(slice.getParent());
  }
  if (isa<ttg::NvidiaMmaEncodingAttr>(layout)) {
    return kAccumulator;
  }
  return isa<ttg::DotOperandEncodingAttr>(layout) ? kDotOperand : kBlocked;
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
    if (isTensor(argument)) {
      update(argument, {ofOrDefault(argument)});
    }
  }
  propagate(function);
  while (anchorCarried() || anchorVectorLoads(function) || anchorReductions(function)) {
    propagate(function);
  }
  anchorStores(function);
}

Attribute NaturalLayouts::ofOrDefault(Value value) const {
  Attribute layout = of(value);
  return layout ? layout : defaultLayout(value);
}

unsigned NaturalLayouts::rank(const Natural &natural) {
  constexpr unsigned kWhole = kAccumulator + 1;
  return natural.layout ? strength(natural.layout) + (natural.isSpread ? 0 : kWhole) : kNone;
}

bool NaturalLayouts::update(Value value, Natural natural) {
  if (!isTensor(value)) {
    return false;
  }
  Natural &current = layouts_[value];
  if (rank(natural) <= rank(current)) {
    return false;
  }
  current = natural;
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

bool NaturalLayouts::anchorVectorLoads(tt::FuncOp function) {
  // A few elements that accumulators are combined with are loaded where those are: the repeated loads of one address
  // cost less than an exchange through shared memory.
  bool changed = false;
  function.walk([&](tt::LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (!type || type.getNumElements() != *llvm::max_element(type.getShape()) || type.getEncoding()) {
      return;
    }
    SmallVector<Value> visited;
    Attribute wanted = wantedLayout(load.getResult(), kAccumulator, visited);
    if (wanted && update(load.getResult(), {wanted})) {
      accesses_[load] = wanted;
      changed = true;
    }
  });
  return changed;
}

bool NaturalLayouts::anchorReductions(tt::FuncOp function) {
  // What is reduced has no layout of its own, which is known only once every loop around it is: it is made in the
  // default one.
  bool changed = false;
  function.walk([&](tt::ReduceOp reduce) {
    Attribute source = defaultLayout(reduce.getSrcs().front());
    for (Value result : reduce->getResults()) {
      if (isTensor(result) && !of(result)) {
        changed |= update(result, {resultLayout(reduce->getOpOperand(0), source)});
      }
    }
  });
  return changed;
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

void NaturalLayouts::propagate(tt::FuncOp function) {
  DenseMap<Operation *, SmallVector<unsigned>> edgesFrom;
  for (auto [index, edge] : llvm::enumerate(edges_)) {
    edgesFrom[edge.from->getOwner()].push_back(index);
  }
  bool changed = true;
  while (changed) {
    changed = false;
    // Pre-order: what a loop is entered with reaches its arguments before its body is looked at.
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      changed |= visit(op);
      for (unsigned edge : edgesFrom.lookup(op)) {
        changed |= visitEdge(edges_[edge]);
      }
    });
  }
}

bool NaturalLayouts::visitEdge(const ControlFlowEdge &edge) {
  Natural natural = layouts_.lookup(edge.to.front());
  if (Natural incoming = layouts_.lookup(edge.from->get()); rank(incoming) > rank(natural)) {
    natural = incoming;
  }
  bool changed = false;
  for (Value value : edge.to) {
    changed |= update(value, natural);
  }
  return changed;
}

/// What the results of the op have by nature because of one of its operands.
NaturalLayouts::Natural NaturalLayouts::derive(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  Natural source = isTensor(operand.get()) ? layouts_.lookup(operand.get()) : Natural();
  if (!source.layout || ofAccess(op)) {
    return {};
  }
  bool isSpread = isa<tt::BroadcastOp>(op) || (source.isSpread && !isa<tt::ReduceOp>(op));
  return {resultLayout(operand, source.layout), isSpread};
}

bool NaturalLayouts::visit(Operation *op) {
  if (isa<RegionBranchOpInterface>(op)) {
    return false;
  }
  Natural natural = {ofAccess(op)};
  for (OpOperand &operand : op->getOpOperands()) {
    Natural derived = derive(operand);
    natural = rank(derived) > rank(natural) ? derived : natural;
  }
  bool changed = false;
  for (Value result : op->getResults()) {
    if (!isTensor(result)) {
      continue;
    }
    if (Attribute given = cast<RankedTensorType>(result.getType()).getEncoding()) {
      changed |= update(result, {given});
    } else if (natural.layout) {
      changed |= update(result, natural);
    } else if (!isRemakable(op) && !isa<tt::ReduceOp>(op)) {
      changed |= update(result, {defaultLayout(result)});
    }
  }
  return changed;
}

Attribute NaturalLayouts::wantedLayout(Value value, unsigned leastStrength, SmallVectorImpl<Value> &visited) const {
  if (llvm::is_contained(visited, value)) {
    return {};
  }
  visited.push_back(value);
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (Attribute layout = ofAccess(user); strength(layout) >= leastStrength && layout) {
      return layout;
    }
    if (user->getNumResults() != 1 || !isTensor(user->getResult(0))) {
      continue;
    }
    Attribute layout = of(user->getResult(0));
    if (!layout || strength(layout) < leastStrength) {
      layout = wantedLayout(user->getResult(0), leastStrength, visited);
    }
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
      layout = layout ? layout : wantedLayout(value, kBlocked, visited);
    }
    for (Value value : edge.to) {
      update(value, {layout ? layout : Attribute(defaultLayout(value))});
    }
    return true;
  }
  return false;
}

} // namespace jitk::passes
