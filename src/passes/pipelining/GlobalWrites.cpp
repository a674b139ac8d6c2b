#include "src/passes/pipelining/GlobalWrites.h"

#include "src/ir/ttg/Ttg.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

/// The pointers, of which it is one, that a pointer comes of; none where that is not known.
using Origins = std::optional<SmallVector<Value>>;

static Origins originsOf(Value pointers) {
  using All = SmallVector<Value>;
  if (auto argument = dyn_cast<BlockArgument>(pointers)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop ? Origins(All{loop.getTiedLoopInit(argument)->get(), loop.getTiedLoopYieldedValue(argument)->get()})
                : std::nullopt;
  }
  unsigned number = cast<OpResult>(pointers).getResultNumber();
  return llvm::TypeSwitch<Operation *, Origins>(pointers.getDefiningOp())
      .Case<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, tt::BitcastOp>(
          [](Operation *op) { return All{op->getOperand(0)}; })
      .Case([](arith::SelectOp select) { return All{select.getTrueValue(), select.getFalseValue()}; })
      .Case([&](scf::IfOp branch) {
        return All{branch.thenYield()->getOperand(number), branch.elseYield()->getOperand(number)};
      })
      .Case([&](scf::ForOp loop) { return All{loop.getInitArgs()[number], loop.getYieldedValues()[number]}; })
      .Default(Origins());
}

/// Adds the parameters that the pointers may be derived from. Returns whether there are no others.
static bool addTensors(Value pointers, llvm::SetVector<Value> &tensors) {
  llvm::SetVector<Value> origins;
  origins.insert(pointers);
  for (size_t next = 0; next < origins.size(); ++next) { // grows
    Value current = origins[next];
    auto argument = dyn_cast<BlockArgument>(current);
    if (argument && argument.getOwner()->isEntryBlock() && isa<tt::FuncOp>(argument.getOwner()->getParentOp())) {
      tensors.insert(argument);
      continue;
    }
    Origins before = originsOf(current);
    if (!before) {
      return false;
    }
    origins.insert_range(*before);
  }
  return true;
}

/// Adds the parameters whose memory an op has effects on, by itself, of those that `isMeant`. Returns whether there are
/// no others.
static bool addTensorsOf(Operation *op, llvm::function_ref<bool(MemoryEffects::Effect *)> isMeant,
                         llvm::SetVector<Value> &tensors) {
  // Neither of the last two uses a tensor.
  if (isa<ttg::AsyncCommitGroupOp, ttg::AsyncWaitOp, tt::PrintOp, tt::AssertOp>(op) ||
      op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) {
    return true;
  }
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects) {
    return isMemoryEffectFree(op);
  }
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::all_of(instances, [&](const MemoryEffects::EffectInstance &effect) {
    bool isOther = !isMeant(effect.getEffect()) || effect.getResource() == ttg::SharedMemory::get();
    return isOther || (effect.getValue() && addTensors(effect.getValue(), tensors));
  });
}

GlobalWrites::GlobalWrites(Operation *root) {
  auto isWrite = [](MemoryEffects::Effect *effect) { return isa<MemoryEffects::Write>(effect); };
  root->walk([&](Operation *op) { areKnown_ &= op == root || addTensorsOf(op, isWrite, tensors_); });
}

bool GlobalWrites::mayReach(Value pointers) const {
  llvm::SetVector<Value> read;
  return !areKnown_ || (!tensors_.empty() && !addTensors(pointers, read)) ||
         llvm::any_of(read, [&](Value tensor) { return tensors_.contains(tensor); });
}

bool isOnlyUse(tt::StoreOp store) {
  auto function = store->getParentOfType<tt::FuncOp>();
  auto isAny = [](MemoryEffects::Effect *) { return true; };
  llvm::SetVector<Value> stored, others;
  WalkResult visited = function->walk([&](Operation *op) {
    bool isKnown = op == store || (!isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op) && addTensorsOf(op, isAny, others));
    return op == function || isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !visited.wasInterrupted() && addTensors(store.getPtr(), stored) &&
         llvm::none_of(stored, [&](Value tensor) { return others.contains(tensor); });
}

} // namespace jitk::passes
