// --jitk-assign-layouts: gives every tensor an encoding.
//
// Dots get the layouts of the target's tensor cores, global accesses coalesced ones; what is computed from their
// tensors follows (NaturalLayouts). One walk then sets the types in place. A tensor that has no layout of its own
// (indices, masks, constants) is cloned in each layout in which it is wanted; one that has another layout is converted,
// right after its definition, once for each layout.

#include "src/ir/ttng/Ttng.h"
#include "src/passes/AxisInfo.h"
#include "src/passes/Passes.h"
#include "src/passes/layouts/AccessLayouts.h"
#include "src/passes/layouts/DotLayouts.h"
#include "src/passes/layouts/NaturalLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace jitk::passes {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "src/passes/Passes.h.inc"

using namespace jitk::ir;

namespace {

/// Assigns the layouts of one function.
class LayoutAssignment {
public:
  LayoutAssignment(tt::FuncOp function, unsigned numWarps, const NaturalLayouts &natural)
      : function_(function), numWarps_(numWarps), natural_(natural) {}

  void run() {
    function_.walk<WalkOrder::PreOrder>([&](Operation *op) { operations_.push_back(op); });
    for (Operation *op : operations_) {
      assign(op);
    }
    for (Operation *op : operations_) {
      assignYields(op);
    }
    for (Operation *op : llvm::reverse(operations_)) {
      if (isUnassigned(op) && op->use_empty()) {
        op->erase();
      }
    }
  }

private:
  void assign(Operation *op);
  void assignAccess(Operation *op);
  void assignFor(scf::ForOp loop);
  void assignWhile(scf::WhileOp loop);
  void assignYields(Operation *op);
  /// `value` in `layout`.
  Value get(Value value, Attribute layout);
  Value clone(Operation *op, Attribute layout);
  void want(OpOperand &operand, Attribute layout);
  void settle(Value value, Attribute layout);
  Attribute layoutOf(Value value) const;
  /// A pure operation whose result has no layout of its own: only its clones live on.
  bool isUnassigned(Operation *op) const;

  tt::FuncOp function_;
  unsigned numWarps_;
  const NaturalLayouts &natural_;
  SmallVector<Operation *> operations_;
  DenseMap<std::pair<Value, Attribute>, Value> made_;
};

} // namespace

static RankedTensorType withLayout(Type type, Attribute layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), layout);
}

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

Attribute LayoutAssignment::layoutOf(Value value) const {
  if (Attribute layout = natural_.of(value)) {
    return layout;
  }
  return defaultLayout(cast<RankedTensorType>(value.getType()), numWarps_);
}

bool LayoutAssignment::isUnassigned(Operation *op) const {
  return op->getNumResults() == 1 && isTensor(op->getResult(0)) && !natural_.of(op->getResult(0)) &&
         !isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op);
}

void LayoutAssignment::settle(Value value, Attribute layout) {
  if (isTensor(value)) {
    value.setType(withLayout(value.getType(), layout));
  }
}

void LayoutAssignment::want(OpOperand &operand, Attribute layout) {
  if (layout && isTensor(operand.get())) {
    operand.set(get(operand.get(), layout));
  }
}

Value LayoutAssignment::clone(Operation *op, Attribute layout) {
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  Type type = withLayout(op->getResult(0).getType(), layout);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto value = cast<DenseElementsAttr>(constant.getValue()).reshape(cast<ShapedType>(type));
    return arith::ConstantOp::create(builder, op->getLoc(), value);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Attribute wanted = layout;
    if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
      wanted = ttg::SliceEncodingAttr::get(expand.getAxis(), layout);
    }
    operands.push_back(isTensor(operand) ? get(operand, wanted) : operand);
  }
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

Value LayoutAssignment::get(Value value, Attribute layout) {
  Attribute current = cast<RankedTensorType>(value.getType()).getEncoding();
  if (current == layout) {
    return value;
  }
  Value &known = made_[{value, layout}];
  if (known) {
    return known;
  }
  Operation *definition = value.getDefiningOp();
  Value result;
  if (definition && !current && isUnassigned(definition)) {
    result = clone(definition, layout);
  } else {
    OpBuilder builder(function_.getContext());
    builder.setInsertionPointAfterValue(value);
    result = ttg::ConvertLayoutOp::create(builder, value.getLoc(), withLayout(value.getType(), layout), value);
  }
  // `known` may have moved while operands were made.
  made_[{value, layout}] = result;
  return result;
}

void LayoutAssignment::assignAccess(Operation *op) {
  Attribute layout = natural_.ofAccess(op);
  // A vector that is computed in some layout is stored from it: converting a few elements gains nothing.
  if (auto store = dyn_cast<tt::StoreOp>(op)) {
    auto type = cast<RankedTensorType>(store.getValue().getType());
    if (Attribute computed = natural_.of(store.getValue()); computed && type.getRank() == 1) {
      layout = computed;
    }
  }
  for (OpOperand &operand : op->getOpOperands()) {
    want(operand, layout);
  }
  for (Value result : op->getResults()) {
    settle(result, layout);
  }
}

void LayoutAssignment::assignFor(scf::ForOp loop) {
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!isTensor(argument)) {
      continue;
    }
    Attribute layout = layoutOf(argument);
    want(loop.getInitArgsMutable()[index], layout);
    settle(argument, layout);
    settle(loop.getResult(index), layout);
  }
}

void LayoutAssignment::assignWhile(scf::WhileOp loop) {
  for (auto [index, argument] : llvm::enumerate(loop.getBeforeArguments())) {
    if (isTensor(argument)) {
      want(loop.getInitsMutable()[index], layoutOf(argument));
      settle(argument, layoutOf(argument));
    }
  }
  for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults())) {
    if (isTensor(argument)) {
      settle(result, layoutOf(argument));
      settle(argument, layoutOf(argument));
    }
  }
}

void LayoutAssignment::assign(Operation *op) {
  if (isUnassigned(op)) {
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return assignFor(loop);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    return assignWhile(loop);
  }
  if (natural_.ofAccess(op)) {
    return assignAccess(op);
  }
  if (isa<tt::DotOp, ttng::WarpGroupDotOp>(op)) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (operand.getOperandNumber() < 3) {
        want(operand, dotOperandLayout(op, operand.getOperandNumber()));
      }
    }
    return;
  }
  if (isa<scf::YieldOp, scf::ConditionOp, tt::ReduceReturnOp, tt::ScanReturnOp>(op)) {
    return;
  }
  if (isElementwise(op) || isa<tt::ScanOp>(op)) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (op->getNumResults() && isTensor(op->getResult(0))) {
        want(operand, layoutOf(op->getResult(0)));
      }
    }
  } else if (!isa<ttg::ConvertLayoutOp>(op)) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (isTensor(operand.get())) {
        want(operand, layoutOf(operand.get()));
      }
    }
  }
  for (Value result : op->getResults()) {
    if (isTensor(result)) {
      settle(result, layoutOf(result));
    }
  }
}

void LayoutAssignment::assignYields(Operation *op) {
  if (!isa<scf::YieldOp, scf::ConditionOp>(op)) {
    return;
  }
  Operation *parent = op->getParentOp();
  auto wantTypes = [&](MutableOperandRange operands, auto targets) {
    for (auto [index, target] : llvm::enumerate(targets)) {
      if (isTensor(target)) {
        want(operands[index], cast<RankedTensorType>(target.getType()).getEncoding());
      }
    }
  };
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    wantTypes(condition.getArgsMutable(), parent->getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    wantTypes(cast<scf::YieldOp>(op).getResultsMutable(), loop.getBeforeArguments());
  } else {
    wantTypes(cast<scf::YieldOp>(op).getResultsMutable(), parent->getResults());
  }
}

namespace {

struct AssignLayoutsPass : impl::AssignLayoutsBase<AssignLayoutsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto warps = module->getAttrOfType<IntegerAttr>("ttg.num-warps");
    auto target = module->getAttrOfType<StringAttr>("ttg.target");
    unsigned capability = 0;
    if (!warps || !target || !target.getValue().starts_with("cuda:") ||
        target.getValue().drop_front(5).getAsInteger(10, capability)) {
      module.emitError("needs the module attributes ttg.num-warps and ttg.target = \"cuda:<capability>\"");
      return signalPassFailure();
    }
    DotTarget dotTarget = {capability, unsigned(warps.getInt())};
    for (tt::FuncOp function : llvm::to_vector(module.getOps<tt::FuncOp>())) {
      if (failed(chooseDotLayouts(function, dotTarget))) {
        return signalPassFailure();
      }
    }
    AxisInfoAnalysis axes(module);
    for (tt::FuncOp function : module.getOps<tt::FuncOp>()) {
      auto vectorLength = [&](Value pointers, unsigned dim) { return axes.vectorLength(pointers, dim); };
      NaturalLayouts natural(function, dotTarget.numWarps, vectorLength);
      LayoutAssignment(function, dotTarget.numWarps, natural).run();
    }
  }
};

} // namespace
} // namespace jitk::passes
