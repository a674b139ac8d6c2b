// Bulk tensor copies (TMA): ttng.async_tma_copy_*, async_tma_reduce, async_tma_store_wait.
//
// One elected lane of the group's first warp issues all boxes of a copy: bulk groups belong to the thread that issued
// them, and so few instructions gain nothing from more warps.

#include "backends/nvidia/codegen/lowering/BufferAddress.h"
#include "src/ir/layout/TmaBoxes.h"
#include "src/ir/ptx/Instructions.h"
#include "src/ir/ttng/Ttng.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// The boxes of a block in shared memory.
static TmaBoxes boxesOf(ttg::MemDescType type) {
  auto encoding = cast<ttg::NVMMASharedEncodingAttr>(type.getEncoding());
  return planTmaBoxes(type.getShape(), {encoding.getSwizzlingByteWidth(), encoding.getTransposed(),
                                        encoding.getElementBitWidth(), encoding.getFp4Padded()});
}

/// True in the thread that issues copies. Every lane of every warp has to execute the election.
static Value issuer(FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Value elected = b.instValue("elect.sync");
  return b.logicalAnd(elected, b.equal(f.warp(), 0));
}

/// The coordinates of a box as the instruction wants them: innermost first.
static SmallVector<Value> boxCoordinates(FunctionLowering &f, OperandRange coordinates, ArrayRef<int32_t> origin) {
  SmallVector<Value> result;
  for (auto [index, coordinate] : llvm::enumerate(llvm::reverse(coordinates))) {
    // A block of fewer dimensions than the descriptor lacks the outer ones.
    int64_t moved = index < origin.size() ? origin[origin.size() - 1 - index] : 0;
    result.push_back(f.builder().add(f.scalar(coordinate), moved));
  }
  return result;
}

static LogicalResult lowerLoad(ttng::AsyncTMACopyGlobalToLocalOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  BufferLayout layout(op.getResult().getType());
  BufferAddress address(f, op.getResult(), layout);
  Value barrier = viewAddress(f, op.getBarrier()), map = f.scalar(op.getDesc());
  Value predicate = b.logicalAnd(f.scalar(op.getPred()), issuer(f));
  std::string form = ("cp.async.bulk.tensor." + Twine(op.getCoord().size()) + "d.shared.global").str();
  Value receivers;
  if (op.getMulticast()) {
    form += ".multicast::cluster";
    receivers = b.integer(b.getI16Type(), (1 << f.target().clusterSize) - 1);
  }
  for (const TmaBoxes::Message &message : boxesOf(op.getResult().getType()).messages) {
    SmallVector<Value> operands = {predicate, address.at(layout.offset(message.start)), map};
    llvm::append_range(operands, boxCoordinates(f, op.getCoord(), message.start));
    operands.push_back(barrier);
    if (receivers) {
      operands.push_back(receivers);
    }
    b.inst(form, operands);
  }
  return success();
}

/// Emits `form` for each box, from shared to global memory, as one bulk group.
static void issueStores(FunctionLowering &f, StringRef form, Value descriptor, OperandRange coordinates, Value source) {
  LoweringBuilder &b = f.builder();
  auto type = cast<ttg::MemDescType>(source.getType());
  BufferLayout layout(type);
  BufferAddress address(f, source, layout);
  Value predicate = issuer(f), map = f.scalar(descriptor);
  for (const TmaBoxes::Message &message : boxesOf(type).messages) {
    SmallVector<Value> operands = {predicate, map};
    llvm::append_range(operands, boxCoordinates(f, coordinates, message.start));
    operands.push_back(address.at(layout.offset(message.start)));
    b.inst(form, operands);
  }
  // In the other threads the group is empty.
  b.inst("cp.async.bulk.commit_group", {});
}

static LogicalResult lowerStore(ttng::AsyncTMACopyLocalToGlobalOp op, FunctionLowering &f) {
  std::string form = ("cp.async.bulk.tensor." + Twine(op.getCoord().size()) + "d.global.shared").str();
  issueStores(f, form, op.getDesc(), op.getCoord(), op.getSrc());
  return success();
}

static LogicalResult lowerReduce(ttng::AsyncTMAReduceOp op, FunctionLowering &f) {
  std::string form = ("cp.reduce.async.bulk.tensor." + Twine(op.getCoord().size()) + "d." +
                      tt::stringifyDescriptorReduceKind(op.getKind()))
                         .str();
  if (!ptx::lookupInstruction(form)) {
    return op.emitOpError("has no instruction: ") << form;
  }
  issueStores(f, form, op.getDesc(), op.getCoord(), op.getSrc());
  return success();
}

static LogicalResult lowerStoreWait(ttng::TMAStoreWaitOp op, FunctionLowering &f) {
  f.builder().inst("cp.async.bulk.wait_group.read", {}, {int64_t(op.getPendings())});
  return success();
}

void populateTensorCopyLowerings(LoweringTable &table) {
  table.add(lowerLoad);
  table.add(lowerStore);
  table.add(lowerReduce);
  table.add(lowerStoreWait);
}

} // namespace jitk::nvidia
