// --jitk-guard-dot-loops: see Passes.td.

#include "src/ir/ttng/Ttng.h"
#include "src/passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::passes {

#define GEN_PASS_DEF_GUARDDOTLOOPS
#include "src/passes/Passes.h.inc"

namespace {

/// The wait for everything that `loop` leaves in flight, if it is the next to use the loop's tensors and may stand
/// right behind the loop.
ttng::WarpGroupDotWaitOp waitBehind(scf::ForOp loop) {
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    auto wait = dyn_cast<ttng::WarpGroupDotWaitOp>(op);
    if (!wait) {
      continue;
    }
    bool ofLoop = llvm::any_of(wait.getInputs(), [&](Value input) {
      return input.getDefiningOp() == loop && isa<RankedTensorType>(input.getType());
    });
    bool movable = llvm::all_of(wait.getInputs(), [&](Value input) {
      Operation *source = input.getDefiningOp();
      return !source || source == loop || source->getBlock() != loop->getBlock() || source->isBeforeInBlock(loop);
    });
    return wait.getPendings() == 0 && ofLoop && movable ? wait : nullptr;
  }
  return nullptr;
}

bool mayBeSkipped(scf::ForOp loop) {
  APInt lower, upper;
  return !matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
         !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) || !lower.slt(upper);
}

void guard(scf::ForOp loop, ttng::WarpGroupDotWaitOp wait) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value runs = arith::CmpIOp::create(b, loc, less, loop.getLowerBound(), loop.getUpperBound());

  // What the rest of the function sees, and what it is where the loop does not run.
  SmallVector<Value> results, skipped;
  for (auto [result, init] : llvm::zip(loop.getResults(), loop.getInitArgs())) {
    if (llvm::any_of(result.getUsers(), [&](Operation *user) { return user != wait; })) {
      results.push_back(result);
      skipped.push_back(init);
    }
  }
  for (auto [input, output] : llvm::zip(wait.getInputs(), wait.getOutputs())) {
    results.push_back(output);
    skipped.push_back(input.getDefiningOp() == loop ? loop.getTiedLoopInit(cast<OpResult>(input))->get() : input);
  }

  auto branch = scf::IfOp::create(b, loc, TypeRange(ValueRange(results)), runs, /*withElseRegion=*/true);
  for (auto [result, merged] : llvm::zip(results, branch.getResults())) {
    result.replaceUsesWithIf(merged, [&](OpOperand &use) { return use.getOwner() != wait; });
  }
  b.setInsertionPointToStart(branch.elseBlock());
  // With an effect, so that the path keeps a block of its own: else what it yields is put into registers in front of
  // the branch, where the registers that the loop's results go to are still in use.
  ttng::FenceAsyncSharedOp::create(b, loc, /*bCluster=*/false);
  scf::YieldOp::create(b, loc, skipped);
  b.setInsertionPointToStart(branch.thenBlock());
  auto yield = scf::YieldOp::create(b, loc, results);
  loop->moveBefore(yield);
  wait->moveBefore(yield);
}

/// The product that adds to what the loop carries from zeros on, if nothing else reads that. Not one that is added to
/// its sums by instructions of their own.
ttng::WarpGroupDotOp productOnZeros(scf::ForOp loop, BlockArgument sum) {
  auto dot = dyn_cast_or_null<ttng::WarpGroupDotOp>(sum.hasOneUse() ? *sum.user_begin() : nullptr);
  bool isOnZeros = matchPattern(loop.getTiedLoopInit(sum)->get(), m_AnyZeroFloat());
  bool isMatch = isOnZeros && dot && dot->getBlock() == loop.getBody() && dot.getC() == sum && !dot.getUseC();
  return isMatch && !dot.needsPartialAccumulator() ? dot : nullptr;
}

/// Makes the first product of a loop that runs overwrite its accumulators, so that nobody clears them.
void overwriteZeros(scf::ForOp loop, ttng::WarpGroupDotWaitOp wait) {
  for (Value input : wait.getInputs()) {
    BlockArgument sum = input.getDefiningOp() == loop ? loop.getTiedLoopRegionIterArg(cast<OpResult>(input)) : nullptr;
    ttng::WarpGroupDotOp dot = sum ? productOnZeros(loop, sum) : nullptr;
    if (!dot) {
      continue;
    }
    OpBuilder b(dot);
    Value isLater =
        arith::CmpIOp::create(b, dot.getLoc(), arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
    dot.getUseCMutable().assign(isLater);
    b.setInsertionPoint(loop);
    loop.getTiedLoopInit(sum)->set(ub::PoisonOp::create(b, loop.getLoc(), sum.getType()));
  }
}

class GuardDotLoops : public impl::GuardDotLoopsBase<GuardDotLoops> {
public:
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      ttng::WarpGroupDotWaitOp wait = waitBehind(loop);
      if (!wait) {
        continue;
      }
      if (mayBeSkipped(loop)) {
        guard(loop, wait);
      }
      overwriteZeros(loop, wait);
    }
  }
};

} // namespace
} // namespace jitk::passes
