// Proxy fences and barriers of the cluster.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"
#include "src/ir/ttng/Ttng.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static LogicalResult lowerFence(ttng::FenceAsyncSharedOp op, FunctionLowering &f) {
  f.builder().inst(op.getBCluster() ? "fence.proxy.async.shared::cluster" : "fence.proxy.async.shared::cta", {});
  return success();
}

static LogicalResult lowerArrive(ttng::ClusterArriveOp op, FunctionLowering &f) {
  f.builder().inst(op.getRelaxed() ? "barrier.cluster.arrive.relaxed" : "barrier.cluster.arrive", {});
  return success();
}

static LogicalResult lowerWait(ttng::ClusterWaitOp op, FunctionLowering &f) {
  f.builder().inst("barrier.cluster.wait", {});
  return success();
}

void populateFenceLowerings(LoweringTable &table) {
  table.add(lowerFence);
  table.add(lowerArrive);
  table.add(lowerWait);
}

} // namespace jitk::nvidia
