// Memory barriers.

#include "src/ir/ttng/BarrierRules.h"
#include "src/ir/ttng/Ttng.h"

namespace jitk::ir::ttng {
using namespace mlir;

LogicalResult verifyBarrier(Operation *op, ttg::MemDescType barrier) {
  if (barrier.getShape() != ArrayRef<int64_t>{1} || !barrier.getElementType().isInteger(64)) {
    return op->emitOpError("a barrier must be a buffer of 1xi64: got ") << barrier;
  }
  if (!barrier.getMutableMemory() || !isa<ttg::SharedMemorySpaceAttr>(barrier.getMemorySpace())) {
    return op->emitOpError("a barrier must be mutable and in shared memory: got ") << barrier;
  }
  return success();
}

LogicalResult InitBarrierOp::verify() {
  if (getCount() < 1) {
    return emitOpError("count must be at least 1: got ") << getCount();
  }
  return verifyBarrier(*this, getAlloc().getType());
}

LogicalResult InvalBarrierOp::verify() { return verifyBarrier(*this, getAlloc().getType()); }
LogicalResult BarrierExpectOp::verify() { return verifyBarrier(*this, getAlloc().getType()); }
LogicalResult WaitBarrierOp::verify() { return verifyBarrier(*this, getAlloc().getType()); }

LogicalResult ArriveBarrierOp::verify() {
  if (getCount() < 1) {
    return emitOpError("count must be at least 1: got ") << getCount();
  }
  if (getPerThread() && getPerWarp()) {
    return emitOpError("arrives by warps or by threads, not both");
  }
  if (getMulticast() && !getPerWarp()) {
    return emitOpError("arrives at the barriers of several CTAs by warps only: wants perWarp");
  }
  return verifyBarrier(*this, getAlloc().getType());
}

LogicalResult AsyncCopyMbarrierArriveOp::verify() { return verifyBarrier(*this, getBarrier().getType()); }

} // namespace jitk::ir::ttng
