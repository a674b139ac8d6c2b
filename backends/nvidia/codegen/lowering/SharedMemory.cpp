// ttg.local_alloc, local_load, local_store, ttng.remote_shmem_store: tensors between registers and buffers in shared
// memory.

#include "backends/nvidia/codegen/lowering/AccessSteps.h"
#include "backends/nvidia/codegen/lowering/BufferAddress.h"
#include "src/ir/ttng/Ttng.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static SmallVector<Value> loadTensor(FunctionLowering &f, Value buffer, RankedTensorType type,
                                     const LocalAccess &access) {
  BufferLayout layout(cast<ttg::MemDescType>(buffer.getType()));
  BufferAddress address(f, buffer, layout, access);
  SmallVector<Value> loaded(f.numRegisters(type));
  auto at = [&](const LocalAccessStep &step) { return address.at(step); };
  loadSteps(f.builder(), access, at, f.elementType(type), loaded);
  copyRegisters(access, loaded);
  return loaded;
}

static void storeTensor(FunctionLowering &f, ArrayRef<Value> values, Value buffer, const LocalAccess &access) {
  BufferLayout layout(cast<ttg::MemDescType>(buffer.getType()));
  BufferAddress address(f, buffer, layout, access);
  storeSteps(f, access, [&](const LocalAccessStep &step) { return address.at(step); }, values);
}

static LogicalResult storeTensor(Operation *op, FunctionLowering &f, Value tensor, Value buffer) {
  constexpr unsigned kStmatrixCapability = 90;
  LocalAccessOptions options;
  options.hasMatrix = f.target().capability >= kStmatrixCapability;
  std::optional<LocalAccess> access =
      planAccess(cast<RankedTensorType>(tensor.getType()), cast<ttg::MemDescType>(buffer.getType()), options);
  if (access && access->sharesRows()) {
    options.hasMatrix = false;
    access = planAccess(cast<RankedTensorType>(tensor.getType()), cast<ttg::MemDescType>(buffer.getType()), options);
  }
  if (!access || leavesCopiesIncomplete(*access)) {
    return op->emitOpError("stores to the shared memory of other CTAs");
  }
  storeTensor(f, f.registers(tensor), buffer, *access);
  return success();
}

static LogicalResult lowerLocalAlloc(ttg::LocalAllocOp op, FunctionLowering &f) {
  f.set(op.getResult(), {f.sharedAddress(op), f.builder().i32(0)});
  return op.getSrc() ? storeTensor(op, f, op.getSrc(), op.getResult()) : success();
}

static LogicalResult lowerLocalDealloc(ttg::LocalDeallocOp op, FunctionLowering &f) { return success(); }

static LogicalResult lowerLocalLoad(ttg::LocalLoadOp op, FunctionLowering &f) {
  LocalAccessOptions options;
  options.hasMatrix = true;
  std::optional<LocalAccess> access = planAccess(op.getType(), op.getSrc().getType(), options);
  if (!access) {
    return op.emitOpError("loads from the shared memory of other CTAs");
  }
  f.set(op.getResult(), loadTensor(f, op.getSrc(), op.getType(), *access));
  return success();
}

static LogicalResult lowerLocalStore(ttg::LocalStoreOp op, FunctionLowering &f) {
  return storeTensor(op, f, op.getSrc(), op.getDst());
}

static LogicalResult lowerRemoteStore(ttng::RemoteShmemStoreOp op, FunctionLowering &f) {
  if (f.target().clusterSize <= f.target().numCtas) {
    return op.emitOpError("wants a cluster whose CTAs are programs of their own: ") << ttg::kClusterDimX;
  }
  std::optional<LocalAccess> access = planAccess(op.getSrc().getType(), op.getDst().getType(), {});
  if (!access || leavesCopiesIncomplete(*access)) {
    return op.emitOpError("stores parts of a tensor that several CTAs share");
  }
  BufferLayout layout(op.getDst().getType());
  BufferAddress address(f, op.getDst(), layout, *access);
  address.moveTo(f.scalar(op.getRank()));
  storeSteps(
      f, *access, [&](const LocalAccessStep &step) { return address.at(step); }, f.registers(op.getSrc()),
      /*registerXor=*/0, SharedWindow::Cluster);
  return success();
}

void populateSharedMemoryLowerings(LoweringTable &table) {
  table.add(lowerLocalAlloc);
  table.add(lowerLocalDealloc);
  table.add(lowerLocalLoad);
  table.add(lowerLocalStore);
  table.add(lowerRemoteStore);
}

} // namespace jitk::nvidia
