// Memory barriers: ttng.init_barrier, inval_barrier, barrier_expect, arrive_barrier, wait_barrier.
//
// One thread of the group at work initializes, arrives and expects, or one of each of its warps, or each of its threads
// arrives; all of its threads wait.

#include "backends/nvidia/codegen/lowering/BufferAddress.h"
#include "src/ir/ttng/Ttng.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static Value firstThread(FunctionLowering &f) { return f.builder().equal(f.thread(), 0); }

/// Whether another operation of the same kind follows before anything else happens.
template <typename OpT> static bool isRepeated(OpT op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (isa<OpT>(next)) {
      return true;
    }
    if (!isPure(next)) {
      return false;
    }
  }
  return false;
}

static LogicalResult lowerInit(ttng::InitBarrierOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  b.inst("mbarrier.init", {firstThread(f), viewAddress(f, op.getAlloc()), b.i32(op.getCount())});
  // Asynchronous copies, and other CTAs, must see the barrier: one fence after the last of several.
  if (!isRepeated(op)) {
    b.inst("fence.mbarrier_init", {});
  }
  return success();
}

static LogicalResult lowerInval(ttng::InvalBarrierOp op, FunctionLowering &f) {
  f.builder().inst("mbarrier.inval", {firstThread(f), viewAddress(f, op.getAlloc())});
  // The bytes may be the target of an asynchronous copy next.
  if (!isRepeated(op)) {
    f.builder().inst("fence.proxy.async.shared::cta", {});
  }
  return success();
}

static LogicalResult lowerExpect(ttng::BarrierExpectOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Value predicate = b.logicalAnd(f.scalar(op.getPred()), firstThread(f));
  b.inst("mbarrier.arrive.expect_tx", {predicate, viewAddress(f, op.getAlloc()), b.i32(op.getSize())});
  return success();
}

static LogicalResult lowerArrive(ttng::ArriveBarrierOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Value address = viewAddress(f, op.getAlloc());
  Value predicate = op.getPerThread() ? b.boolean(true) : op.getPerWarp() ? b.equal(f.lane(), 0) : firstThread(f);
  std::string form = "mbarrier.arrive";
  if (op.getMulticast()) {
    // Lane r arrives in CTA r.
    predicate = b.less(f.lane(), f.target().clusterSize);
    address = b.instValue("mapa", {address, b.select(predicate, f.lane(), b.i32(0))});
    form += ".cluster";
  }
  if (op.getPerWarp()) {
    // What the other lanes did comes before the arrival of the one.
    b.inst("bar.warp.sync", {});
  }
  if (op.getPred()) {
    predicate = b.logicalAnd(f.scalar(op.getPred()), predicate);
  }
  b.inst(form, {predicate, address, b.i32(op.getCount())});
  return success();
}

static LogicalResult lowerWait(ttng::WaitBarrierOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Value predicate = op.getPred() ? f.scalar(op.getPred()) : b.boolean(true);
  // Of the phase the lowest bit counts: an i1 that was sign-extended gives -1.
  Value parity = b.bitAnd(f.scalar(op.getPhase()), 1);
  b.inst("mbarrier.wait.parity", {predicate, viewAddress(f, op.getAlloc()), parity});
  return success();
}

static LogicalResult lowerCopyArrive(ttng::AsyncCopyMbarrierArriveOp op, FunctionLowering &f) {
  StringRef form = op.getNoIncrement() ? "cp.async.mbarrier.arrive.noinc" : "cp.async.mbarrier.arrive";
  f.builder().inst(form, {viewAddress(f, op.getBarrier())});
  return success();
}

void populateMbarrierLowerings(LoweringTable &table) {
  table.add(lowerInit);
  table.add(lowerInval);
  table.add(lowerExpect);
  table.add(lowerArrive);
  table.add(lowerWait);
  table.add(lowerCopyArrive);
}

} // namespace jitk::nvidia
