// --jitk-assign-layouts: gives every tensor an encoding.
//
// Dots get the layouts of the target's tensor cores (DotLayouts), global accesses coalesced ones; what is computed from
// their tensors follows (NaturalLayouts). One walk then sets the types in place. A tensor that has no layout of its own
// (indices, masks, constants, reads of shared memory) is made again in each layout in which it is wanted; one that has
// another layout is converted, right after its definition, once for each layout.

#include "src/ir/ttng/Ttng.h"
#include "src/passes/AxisInfo.h"
#include "src/passes/Passes.h"
#include "src/passes/layouts/DotLayouts.h"
#include "src/passes/layouts/LayoutRules.h"
#include "src/passes/layouts/NaturalLayouts.h"
#include "src/passes/layouts/TargetCapability.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace jitk::passes {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "src/passes/Passes.h.inc"

using namespace jitk::ir;

namespace {

/// Assigns the layouts of one function.
class LayoutAssignment {
public:
  LayoutAssignment(tt::FuncOp function, const NaturalLayouts &natural)
      : function_(function), natural_(natural), edges_(tensorEdges(function)) {}

  void run();

private:
  void settleArguments();
  void settleCarried();
  void assign(Operation *op);
  void assignDerived(Operation *op);
  void eraseReplaced();

  /// `value` in `layout`.
  Value get(Value value, Attribute layout);
  Value make(Value value, Attribute layout);
  Value remake(Operation *op, Attribute layout);
  Value convert(Value value, Attribute layout);
  /// Whether `op` has no layout of its own: only what is made again of it lives on.
  bool isReplaced(Operation *op) const;
  void want(OpOperand &operand, Attribute layout);

  tt::FuncOp function_;
  const NaturalLayouts &natural_;
  SmallVector<ControlFlowEdge> edges_;
  SmallVector<Operation *> operations_;
  DenseMap<std::pair<Value, Attribute>, Value> made_;
};

} // namespace

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

static Attribute encodingOf(Value value) { return cast<RankedTensorType>(value.getType()).getEncoding(); }

static RankedTensorType withLayout(Type type, Attribute layout) {
  return cast<RankedTensorType>(type).cloneWithEncoding(layout);
}

static void settle(Value value, Attribute layout) {
  if (isTensor(value) && !encodingOf(value)) {
    value.setType(withLayout(value.getType(), layout));
  }
}

void LayoutAssignment::run() {
  function_.walk<WalkOrder::PreOrder>([&](Operation *op) { operations_.push_back(op); });
  settleArguments();
  settleCarried();
  for (Operation *op : operations_) {
    assign(op);
  }
  for (const ControlFlowEdge &edge : edges_) {
    want(*edge.from, encodingOf(edge.to.front()));
  }
  eraseReplaced();
}

void LayoutAssignment::settleArguments() {
  for (BlockArgument argument : function_.getArguments()) {
    if (isTensor(argument)) {
      settle(argument, natural_.ofOrDefault(argument));
    }
  }
  SmallVector<Type> results;
  for (Type type : function_.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool isOpen = tensor && !tensor.getEncoding();
    results.push_back(isOpen ? withLayout(tensor, defaultLayout(tensor, ttg::lookupNumWarps(function_))) : type);
  }
  auto arguments = function_.isExternal() ? function_.getFunctionType().getInputs()
                                          : TypeRange(function_.getBody().getArgumentTypes());
  function_.setFunctionType(FunctionType::get(function_.getContext(), arguments, results));
}

void LayoutAssignment::settleCarried() {
  for (const ControlFlowEdge &edge : edges_) {
    for (Value value : edge.to) {
      settle(value, natural_.ofOrDefault(value));
    }
  }
}

// --- one op ----------------------------------------------------------------------------------------------------------

bool LayoutAssignment::isReplaced(Operation *op) const {
  return isRemakable(op) && isTensor(op->getResult(0)) && !encodingOf(op->getResult(0)) &&
         !natural_.of(op->getResult(0));
}

void LayoutAssignment::want(OpOperand &operand, Attribute layout) {
  if (layout && isTensor(operand.get())) {
    operand.set(get(operand.get(), layout));
  }
}

void LayoutAssignment::assign(Operation *op) {
  bool isHandedOn = isa<RegionBranchOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>();
  if (isReplaced(op) || (isHandedOn && !isa<tt::ReturnOp>(op))) {
    return;
  }
  if (isa<tt::DotOp, ttng::WarpGroupDotOp, ttng::WarpGroupDotPartsOp>(op)) {
    for (OpOperand &operand : op->getOpOperands()) {
      want(operand, dotOperandLayout(operand));
    }
  } else if (Attribute layout = natural_.ofAccess(op)) {
    llvm::for_each(op->getOpOperands(), [&](OpOperand &operand) { want(operand, layout); });
    llvm::for_each(op->getResults(), [&](Value result) { settle(result, layout); });
  } else if (isa<tt::CallOp>(op)) {
    // As the callee has its arguments and results.
    for (OpOperand &operand : op->getOpOperands()) {
      want(operand, isTensor(operand.get()) ? defaultLayout(operand.get()) : Attribute());
    }
    for (Value result : llvm::make_filter_range(op->getResults(), isTensor)) {
      settle(result, natural_.ofOrDefault(result));
    }
  } else if (isa<tt::ReturnOp>(op)) {
    for (auto [operand, type] : llvm::zip_equal(op->getOpOperands(), function_.getResultTypes())) {
      want(operand, isTensor(operand.get()) ? cast<RankedTensorType>(type).getEncoding() : Attribute());
    }
  } else {
    assignDerived(op);
  }
}

void LayoutAssignment::assignDerived(Operation *op) {
  // What the results follow from comes first: operands that keep their layout give them theirs.
  Attribute layout;
  for (Value result : op->getResults()) {
    if (isTensor(result) && !layout) {
      layout = natural_.ofOrDefault(result);
    }
  }
  Attribute source;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isTensor(operand.get())) {
      continue;
    }
    Attribute natural = natural_.of(operand.get());
    bool isKept = natural && (!layout || resultLayout(operand, natural) == layout);
    Attribute derived = layout ? operandLayout(operand, layout) : Attribute();
    Attribute wanted = isKept ? natural : derived ? derived : natural_.ofOrDefault(operand.get());
    // What is reduced together, or put together, has one layout.
    bool isShared = isa<tt::ReduceOp, tt::CatOp>(op) && source;
    source = isShared ? source : wanted;
    want(operand, source);
  }
  for (Value result : op->getResults()) {
    if (isTensor(result)) {
      settle(result, natural_.ofOrDefault(result));
    }
  }
}

// --- values in layouts -----------------------------------------------------------------------------------------------

Value LayoutAssignment::get(Value value, Attribute layout) {
  if (encodingOf(value) == layout) {
    return value;
  }
  if (Value known = made_.lookup({value, layout})) {
    return known;
  }
  Value result = make(value, layout);
  made_[{value, layout}] = result;
  return result;
}

/// An op whose result is larger than what it is made of: moving its operand moves less.
static bool grows(Operation *op) {
  if (isa<tt::BroadcastOp, tt::ExpandDimsOp>(op)) {
    return true;
  }
  if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, tt::FpToFpOp>(op)) {
    return false;
  }
  return getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth() <
         getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth();
}

Value LayoutAssignment::make(Value value, Attribute layout) {
  Operation *definition = value.getDefiningOp();
  if (!definition || !(isReplaced(definition) || grows(definition))) {
    return convert(value, layout);
  }
  bool reachesOperands = llvm::all_of(definition->getOpOperands(), [&](OpOperand &operand) {
    return !isTensor(operand.get()) || operandLayout(operand, layout);
  });
  if (reachesOperands) {
    return remake(definition, layout);
  }
  // A change of shape that no operand's layout gives: made in a layout that one gives, then moved.
  OpOperand &operand = definition->getOpOperand(0);
  Attribute natural = resultLayout(operand, natural_.ofOrDefault(operand.get()));
  return convert(remake(definition, natural ? natural : Attribute(defaultLayout(value))), layout);
}

Value LayoutAssignment::convert(Value value, Attribute layout) {
  OpBuilder builder(function_.getContext());
  builder.setInsertionPointAfterValue(value);
  return ttg::ConvertLayoutOp::create(builder, value.getLoc(), withLayout(value.getType(), layout), value);
}

Value LayoutAssignment::remake(Operation *op, Attribute layout) {
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  RankedTensorType type = withLayout(op->getResult(0).getType(), layout);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return arith::ConstantOp::create(builder, op->getLoc(), cast<DenseElementsAttr>(constant.getValue()).reshape(type));
  }
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value source = operand.get();
    operands.push_back(isTensor(source) ? get(source, operandLayout(operand, layout)) : source);
  }
  builder.setInsertionPointAfter(op);
  Operation *made = builder.clone(*op);
  made->setOperands(operands);
  made->getResult(0).setType(type);
  return made->getResult(0);
}

void LayoutAssignment::eraseReplaced() {
  for (Operation *op : llvm::reverse(operations_)) {
    if (isReplaced(op) && op->use_empty()) {
      op->erase();
    }
  }
}

/// Refuses constants that cannot be made again in another layout.
static LogicalResult checkConstants(ModuleOp module) {
  WalkResult result = module.walk([](arith::ConstantOp op) {
    bool isDense = !isa<ShapedType>(op.getType()) || isa<DenseElementsAttr>(op.getValue());
    return isDense ? WalkResult::advance() : WalkResult(op.emitOpError("of a tensor must have dense elements"));
  });
  return failure(result.wasInterrupted());
}

namespace {

struct AssignLayoutsPass : impl::AssignLayoutsBase<AssignLayoutsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<unsigned> capability = targetCapability(module);
    if (failed(capability) || failed(checkConstants(module))) {
      return signalPassFailure();
    }
    for (tt::FuncOp function : module.getOps<tt::FuncOp>()) {
      chooseDotLayouts(function, *capability);
    }
    AxisInfoAnalysis axes(module);
    auto vectorLength = [&](Value pointers, unsigned dim) { return axes.vectorLength(pointers, dim); };
    for (tt::FuncOp function : module.getOps<tt::FuncOp>()) {
      NaturalLayouts natural(function, vectorLength);
      LayoutAssignment(function, natural).run();
    }
  }
};

} // namespace
} // namespace jitk::passes
