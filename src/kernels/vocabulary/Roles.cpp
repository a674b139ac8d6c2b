#include "src/kernels/vocabulary/Roles.h"

#include "src/ir/ttg/Ttg.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

/// Constants are made again inside of `partition`: nothing is gained by handing them over.
static void repeatConstants(Region &partition) {
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(partition, outside);
  for (Value value : outside) {
    Operation *definition = value.getDefiningOp();
    if (!definition || !definition->hasTrait<OpTrait::ConstantLike>()) {
      continue;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(&partition.front());
    replaceAllUsesInRegionWith(value, builder.clone(*definition)->getResult(0), partition);
  }
}

/// Hands what the partitions use from outside of them over as captures: partitions see nothing else.
static void capture(ttg::WarpSpecializeOp op) {
  llvm::SetVector<Value> captures;
  for (Region &partition : op.getPartitionRegions()) {
    repeatConstants(partition);
    getUsedValuesDefinedAbove(partition, captures);
  }
  for (Region &partition : op.getPartitionRegions()) {
    for (Value value : captures) {
      replaceAllUsesInRegionWith(value, partition.addArgument(value.getType(), value.getLoc()), partition);
    }
  }
  op.getExplicitCapturesMutable().assign(captures.getArrayRef());
}

void specialize(KernelBuilder &b, llvm::ArrayRef<Role> roles) {
  // Replicas share one region: that of a partition, which the kernel's warps join.
  bool isJoined = roles.front().replicas > 1;
  llvm::ArrayRef<Role> partitions = isJoined ? roles : roles.drop_front();
  llvm::SmallVector<int32_t> numWarps, replicas, registers, starts;
  int32_t nextWarp = 0;
  for (const Role &role : partitions) {
    numWarps.push_back(int32_t(role.numWarps));
    replicas.push_back(int32_t(role.replicas));
    registers.push_back(int32_t(role.registers));
    starts.push_back(nextWarp);
    nextWarp += int32_t(role.numWarps * role.replicas);
  }
  auto op = ttg::WarpSpecializeOp::create(b, TypeRange(), ValueRange(), numWarps);
  if (llvm::all_of(registers, [](int32_t count) { return count != 0; })) {
    op.setRequestedRegisters(registers);
  }
  if (isJoined) {
    op.setPartitionReplicas(replicas);
    op.setWarpGroupStartIds(starts);
  }
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&op.getDefaultRegion());
  if (!isJoined) {
    roles.front().body();
  }
  ttg::WarpYieldOp::create(b, ValueRange());
  for (auto [role, partition] : llvm::zip_equal(partitions, op.getPartitionRegions())) {
    b.setInsertionPointToEnd(&partition.front());
    role.body();
    ttg::WarpReturnOp::create(b);
  }
  capture(op);
}

Value replicaId(KernelBuilder &b) { return ttg::ReplicaIdOp::create(b); }

} // namespace jitk::kernels
