#include "src/passes/layouts/NaturalLayouts.h"

#include "src/ir/ttg/InferEncodings.h"
#include "src/ir/ttg/Ttg.h"
#include "src/ir/ttng/Ttng.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<tt::AddPtrOp, tt::BitcastOp, tt::FpToFpOp, tt::IntToPtrOp, tt::PtrToIntOp, tt::ClampFOp, tt::PreciseSqrtOp,
             tt::PreciseDivFOp, tt::MulhiUIOp, tt::ElementwiseInlineAsmOp, tt::ExternElementwiseOp>(op);
}

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

NaturalLayouts::NaturalLayouts(tt::FuncOp function, unsigned numWarps, VectorLength vectorLength)
    : numWarps_(numWarps) {
  anchorAccesses(function, vectorLength);
  bool changed = true;
  while (changed) {
    changed = false;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { changed |= visit(op); });
    if (!changed) {
      changed = anchorCarried(function);
    }
  }
}

void NaturalLayouts::anchorAccesses(tt::FuncOp function, VectorLength vectorLength) {
  function.walk([&](Operation *op) {
    if (!isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, ttg::AsyncCopyGlobalToLocalOp>(op)) {
      return;
    }
    Value pointers = op->getOperand(0);
    auto type = dyn_cast<RankedTensorType>(pointers.getType());
    if (type) {
      accesses_[op] = type.getEncoding() ? type.getEncoding() : coalescedLayout(pointers, numWarps_, vectorLength);
    }
  });
}

bool NaturalLayouts::update(Value value, Attribute layout) {
  if (!layout || !isa<RankedTensorType>(value.getType())) {
    return false;
  }
  Attribute &current = layouts_[value];
  if (strength(layout) <= strength(current)) {
    return false;
  }
  current = layout;
  return true;
}

bool NaturalLayouts::visitLoop(Operation *op) {
  bool changed = false;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    for (auto [init, argument, next, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), yield.getOperands(), loop.getResults())) {
      for (Value source : {init, next}) {
        changed |= update(argument, of(source));
      }
      changed |= update(result, of(argument));
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults()) {
    for (unsigned i = 0; i < branch.getNumResults(); ++i) {
      changed |= update(branch.getResult(i), of(branch.thenYield().getOperand(i)));
      changed |= update(branch.getResult(i), of(branch.elseYield().getOperand(i)));
    }
  } else if (auto whileOp = dyn_cast<scf::WhileOp>(op)) {
    auto condition = whileOp.getConditionOp();
    for (auto [init, before, next] :
         llvm::zip_equal(whileOp.getInits(), whileOp.getBeforeArguments(), whileOp.getYieldOp().getOperands())) {
      changed |= update(before, of(init));
      changed |= update(before, of(next));
    }
    for (auto [value, after, result] :
         llvm::zip_equal(condition.getArgs(), whileOp.getAfterArguments(), whileOp.getResults())) {
      changed |= update(after, of(value));
      changed |= update(result, of(value));
    }
  }
  return changed;
}

/// The encoding that a change of shape gives to its result, so that no element moves; null if the op is none.
static Attribute reshapedLayout(Operation *op, RankedTensorType source, Attribute layout) {
  FailureOr<Attribute> result = Attribute();
  if (auto transpose = dyn_cast<tt::TransOp>(op)) {
    result = ttg::inferTransEncoding(source.getShape(), layout, transpose.getOrder());
  } else if (auto reshape = dyn_cast<tt::ReshapeOp>(op)) {
    result = ttg::inferReshapeEncoding(source.getShape(), layout, reshape.getType().getShape());
  } else if (isa<tt::JoinOp>(op)) {
    result = ttg::inferJoinEncoding(source.getShape(), layout);
  } else if (isa<tt::SplitOp>(op)) {
    result = ttg::inferSplitEncoding(source.getShape(), layout);
  }
  return succeeded(result) ? *result : Attribute();
}

bool NaturalLayouts::visitReshaped(Operation *op) {
  Value source = op->getOperand(0);
  auto type = cast<RankedTensorType>(source.getType());
  bool changed = update(source, defaultLayout(type, numWarps_));
  for (Value result : op->getResults()) {
    changed |= update(result, reshapedLayout(op, type, of(source)));
  }
  return changed;
}

bool NaturalLayouts::visit(Operation *op) {
  if (isa<tt::TransOp, tt::ReshapeOp, tt::JoinOp, tt::SplitOp>(op)) {
    return visitReshaped(op);
  }
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
    return visitLoop(op);
  }
  bool changed = false;
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      continue;
    }
    if (type.getEncoding()) {
      changed |= update(result, type.getEncoding());
    } else if (isa<tt::LoadOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op)) {
      changed |= update(result, ofAccess(op));
    } else if (auto reduce = dyn_cast<tt::ReduceOp>(op)) {
      Attribute source = of(reduce.getSrcs().front());
      if (!source) {
        source = defaultLayout(cast<RankedTensorType>(reduce.getSrcs().front().getType()), numWarps_);
      }
      changed |= update(result, ttg::SliceEncodingAttr::get(reduce.getAxis(), source));
    } else if (isa<tt::ScanOp>(op) || isElementwise(op)) {
      for (Value operand : op->getOperands()) {
        changed |= update(result, of(operand));
      }
    } else if (!isa<arith::ConstantOp, tt::SplatOp, tt::MakeRangeOp, tt::ExpandDimsOp, tt::BroadcastOp>(op)) {
      changed |= update(result, defaultLayout(type, numWarps_));
    }
  }
  return changed;
}

bool NaturalLayouts::anchorCarried(tt::FuncOp function) {
  // Follows a carried tensor through elementwise operations to the first access that it addresses or masks.
  auto accessBehind = [&](Value start) -> Attribute {
    SmallVector<Value> work = {start};
    DenseSet<Value> seen;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      for (Operation *user : value.getUsers()) {
        if (Attribute layout = ofAccess(user)) {
          return layout;
        }
        if (isElementwise(user) && seen.insert(user->getResult(0)).second) {
          work.push_back(user->getResult(0));
        }
      }
    }
    return defaultLayout(cast<RankedTensorType>(start.getType()), numWarps_);
  };
  bool changed = false;
  auto anchor = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()) && !of(value)) {
      changed |= update(value, accessBehind(value));
    }
  };
  function.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      llvm::for_each(loop.getRegionIterArgs(), anchor);
    } else if (auto whileOp = dyn_cast<scf::WhileOp>(op)) {
      llvm::for_each(whileOp.getBeforeArguments(), anchor);
      llvm::for_each(whileOp.getAfterArguments(), anchor);
    } else if (isa<scf::IfOp>(op)) {
      llvm::for_each(op->getResults(), anchor);
    }
  });
  return changed;
}

} // namespace jitk::passes
