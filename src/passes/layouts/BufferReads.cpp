#include "src/passes/layouts/BufferReads.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

static ttg::LocalLoadOp loadBehind(Value tensor) {
  if (isTransposedRead(tensor)) {
    tensor = tensor.getDefiningOp<tt::TransOp>().getSrc();
  }
  return tensor.getDefiningOp<ttg::LocalLoadOp>();
}

bool isTransposedRead(Value tensor) {
  auto transpose = tensor.getDefiningOp<tt::TransOp>();
  return transpose && transpose.getOrder() == ArrayRef<int32_t>{1, 0} &&
         transpose.getSrc().getDefiningOp<ttg::LocalLoadOp>();
}

/// The allocation that a view is part of; the view's oldest known source where that is none.
static Value storageOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) {
    buffer = view.getViewSource();
  }
  return buffer;
}

/// Whether `op` may change a buffer that it takes as `operand`.
static bool writesThrough(Operation *op, Value operand) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects) {
    // The ops inside of loops and branches speak for themselves.
    return !isa<RegionBranchOpInterface>(op) && !op->hasTrait<OpTrait::IsTerminator>();
  }
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [&](const MemoryEffects::EffectInstance &effect) {
    return !isa<MemoryEffects::Read>(effect.getEffect()) && (!effect.getValue() || effect.getValue() == operand);
  });
}

/// Whether `op`, or an op inside of it, may change what `storage` holds. Two allocations are apart; anything else may
/// be the same.
static bool mayWrite(Operation *op, Value storage) {
  auto mayBeStorage = [&](Value buffer) {
    if (!isa<ttg::MemDescType>(buffer.getType())) {
      return false;
    }
    Value other = storageOf(buffer);
    return other == storage || !other.getDefiningOp<ttg::LocalAllocOp>() || !storage.getDefiningOp<ttg::LocalAllocOp>();
  };
  WalkResult result = op->walk([&](Operation *inner) {
    bool writes = llvm::any_of(inner->getOperands(),
                               [&](Value operand) { return mayBeStorage(operand) && writesThrough(inner, operand); });
    return writes ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Whether no op between the load and `user`, on any path through the loops and branches around `user`, may write.
static bool isUnchanged(ttg::LocalLoadOp load, Operation *user) {
  Value storage = storageOf(load.getSrc());
  Operation *end = load->getBlock()->findAncestorOpInBlock(*user);
  if (!end) {
    return false;
  }
  for (Operation *op = load->getNextNode(); op != end; op = op->getNextNode()) {
    if (mayWrite(op, storage)) {
      return false;
    }
  }
  return end == user || !mayWrite(end, storage);
}

Value bufferBehind(Value tensor, Operation *user) {
  ttg::LocalLoadOp load = loadBehind(tensor);
  return load && isUnchanged(load, user) ? load.getSrc() : Value();
}

Value materializeBuffer(OpBuilder &builder, Value tensor, Operation *user) {
  Value buffer = bufferBehind(tensor, user);
  if (!buffer || !isTransposedRead(tensor)) {
    return buffer;
  }
  return ttg::MemDescTransOp::create(builder, tensor.getLoc(), buffer, ArrayRef<int32_t>{1, 0});
}

} // namespace jitk::passes
