// --jitk-start-dots-early: see Passes.td.

#include "src/ir/ttng/Ttng.h"
#include "src/passes/Passes.h"
#include "src/passes/RingIndex.h"
#include "src/passes/SharedBuffers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::passes {

#define GEN_PASS_DEF_STARTDOTSEARLY
#include "src/passes/Passes.h.inc"

namespace {

/// The slot of a ring that a view looks at, if it is known which.
std::optional<RingIndex> ringSlotOf(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (auto index = dyn_cast<ttg::MemDescIndexOp>(op)) {
      return RingIndex::match(index.getIndex());
    }
    auto viewLike = dyn_cast<ViewLikeOpInterface>(op);
    if (!viewLike) {
      break;
    }
    view = viewLike.getViewSource();
  }
  return std::nullopt;
}

/// Moves the products of one function.
class DotStarter {
public:
  explicit DotStarter(tt::FuncOp function) : function_(function), buffers_(function) {}

  void run() {
    SmallVector<ttng::WarpGroupDotOp> dots;
    function_.walk([&](ttng::WarpGroupDotOp dot) { dots.push_back(dot); });
    for (ttng::WarpGroupDotOp dot : dots) {
      chain(dot);
      hoist(dot);
      leaveInFlight(dot);
    }
  }

private:
  /// Takes the accumulator from the product before instead of from the wait for it.
  void chain(ttng::WarpGroupDotOp dot);
  void hoist(ttng::WarpGroupDotOp dot);
  /// Lets a loop's only product, which adds to what the loop carries, run on until the next one has been started.
  void leaveInFlight(ttng::WarpGroupDotOp dot);
  /// Whether `op` writes, in the next iteration of `loop`, nothing that `dot` reads.
  bool sparesNextIteration(Operation *op, ttng::WarpGroupDotOp dot, scf::ForOp loop);
  /// Whether `op` is asynchronous copies, or what belongs to issuing them, and writes nothing that `dot` reads.
  bool isCopying(Operation *op, ttng::WarpGroupDotOp dot);
  bool sharesBuffer(Value view, Value other);
  bool mayOverlap(Value view, Value other);

  tt::FuncOp function_;
  SharedBuffers buffers_;
};

} // namespace

bool DotStarter::sharesBuffer(Value view, Value other) {
  return llvm::any_of(buffers_.of(view), [&](Value buffer) { return llvm::is_contained(buffers_.of(other), buffer); });
}

bool DotStarter::mayOverlap(Value view, Value other) {
  std::optional<RingIndex> slot = ringSlotOf(view), otherSlot = ringSlotOf(other);
  bool differs = slot && otherSlot && slot->walksWith(*otherSlot) && slot->offset != otherSlot->offset;
  return sharesBuffer(view, other) && !differs;
}

/// What an asynchronous copy fills; null if `op` is none.
static Value filledBy(Operation *op) {
  if (auto copy = dyn_cast<ttg::AsyncCopyGlobalToLocalOp>(op)) {
    return copy.getResult();
  }
  auto copy = dyn_cast<ttng::AsyncTMACopyGlobalToLocalOp>(op);
  return copy ? Value(copy.getResult()) : Value();
}

bool DotStarter::isCopying(Operation *op, ttng::WarpGroupDotOp dot) {
  if (Value filled = filledBy(op)) {
    return llvm::none_of(dot->getOperands(),
                         [&](Value operand) { return isShared(operand.getType()) && mayOverlap(operand, filled); });
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    return !branch
                .walk([&](Operation *inner) {
                  bool allowed = inner == op || isCopying(inner, dot);
                  return allowed ? WalkResult::advance() : WalkResult::interrupt();
                })
                .wasInterrupted();
  }
  return isMemoryEffectFree(op) || isa<ttg::AsyncCommitGroupOp, ttng::BarrierExpectOp, tt::LoadOp, scf::YieldOp>(op);
}

void DotStarter::chain(ttng::WarpGroupDotOp dot) {
  auto wait = dot.getC().getDefiningOp<ttng::WarpGroupDotWaitOp>();
  if (!dot.getIsAsync() || !wait || wait->getBlock() != dot->getBlock() || wait->getNumOperands() != 1 ||
      !wait->getResult(0).hasOneUse()) {
    return;
  }
  // What stands between may need the wait for its own sake: to fill what the product before has read.
  auto previous = wait.getInputs().front().getDefiningOp<ttng::WarpGroupDotOp>();
  for (Operation *op = wait->getNextNode(); previous && op != dot; op = op->getNextNode()) {
    previous = isCopying(op, previous) ? previous : nullptr;
  }
  if (previous) {
    dot.getCMutable().assign(previous.getD());
    wait.erase();
  }
}

void DotStarter::hoist(ttng::WarpGroupDotOp dot) {
  // The first of the ops before the product that it may precede; what it needs of them goes along.
  llvm::SetVector<Operation *> needed;
  needed.insert(dot);
  Operation *place = nullptr;
  bool passesCopies = false;
  for (Operation *op = dot->getPrevNode(); op; op = op->getPrevNode()) {
    bool isNeeded = llvm::any_of(op->getUsers(), [&](Operation *user) { return needed.contains(user); });
    if (isNeeded && isa<ttng::WarpGroupDotOp>(op)) {
      break;
    }
    if (isNeeded) {
      if (!isPure(op)) {
        return;
      }
      needed.insert(op);
    } else if (!isCopying(op, dot)) {
      break;
    } else if (!isMemoryEffectFree(op)) {
      passesCopies = true;
      place = op;
    }
  }
  if (!dot.getIsAsync() || !passesCopies) {
    return;
  }
  for (Operation *op : llvm::reverse(needed)) {
    if (place->isBeforeInBlock(op)) {
      op->moveBefore(place);
    }
  }
}

bool DotStarter::sparesNextIteration(Operation *op, ttng::WarpGroupDotOp dot, scf::ForOp loop) {
  auto store = dyn_cast<ttg::LocalStoreOp>(op);
  Value destination = store ? Value(store.getDst()) : filledBy(op);
  if (!destination) {
    return isMemoryEffectFree(op) ||
           isa<scf::IfOp, tt::LoadOp, ttg::AsyncCommitGroupOp, ttg::AsyncWaitOp, ttg::LocalBarrierOp,
               ttng::BarrierExpectOp, ttng::WaitBarrierOp, ttng::FenceAsyncSharedOp, ttng::WarpGroupDotOp,
               ttng::WarpGroupDotWaitOp, ttng::AsyncTMACopyLocalToGlobalOp, ttng::TMAStoreWaitOp>(op);
  }
  std::optional<RingIndex> filled = ringSlotOf(destination);
  return llvm::none_of(dot->getOperands(), [&](Value operand) {
    if (!isShared(operand.getType()) || !sharesBuffer(operand, destination)) {
      return false;
    }
    std::optional<RingIndex> read = ringSlotOf(operand);
    return !filled || !read || filled->loop != loop || !filled->walksWith(*read) ||
           (filled->offset + 1) % filled->size == read->offset;
  });
}

void DotStarter::leaveInFlight(ttng::WarpGroupDotOp dot) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  auto sum = dyn_cast<BlockArgument>(dot.getC());
  auto wait = dyn_cast_or_null<ttng::WarpGroupDotWaitOp>(dot.getD().hasOneUse() ? *dot.getD().user_begin() : nullptr);
  if (!loop || !sum || sum.getOwner() != loop.getBody() || !sum.hasOneUse() || !dot.getIsAsync() || !wait ||
      wait->getBlock() != loop.getBody() || wait->getNumOperands() != 1 || !wait->getResult(0).hasOneUse() ||
      loop.getTiedLoopYieldedValue(sum)->get() != wait->getResult(0)) {
    return;
  }
  bool isAlone = true, isSafe = true;
  loop.getBody()->walk([&](Operation *op) {
    isAlone &= op == dot || op == wait || !isa<ttng::WarpGroupDotOp, ttng::WarpGroupDotWaitOp>(op);
    isSafe &= isa<scf::YieldOp>(op) || sparesNextIteration(op, dot, loop);
  });
  if (!isAlone || !isSafe) {
    return;
  }
  wait.setPendings(1);
  OpBuilder b(loop->getContext());
  b.setInsertionPointAfter(loop);
  Value result = loop.getTiedLoopResult(sum);
  auto last = ttng::WarpGroupDotWaitOp::create(b, dot.getLoc(), ValueRange{result}, /*pendings=*/0);
  result.replaceAllUsesExcept(last->getResult(0), last);
}

namespace {

struct StartDotsEarlyPass : impl::StartDotsEarlyBase<StartDotsEarlyPass> {
  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      if (!function.isExternal()) {
        DotStarter(function).run();
      }
    }
  }
};

} // namespace
} // namespace jitk::passes
