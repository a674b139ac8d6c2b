// Bulk tensor copies.

#include "src/ir/layout/EncodingLayouts.h"
#include "src/ir/ttng/BarrierRules.h"
#include "src/ir/ttng/Ttng.h"

namespace jitk::ir::ttng {
using namespace mlir;

/// The rank that tensor maps have at most.
static constexpr size_t kMaxRank = 5;

static LogicalResult verifyCoordinates(Operation *op, tt::TensorDescType desc, size_t numCoordinates) {
  size_t rank = desc.getBlockType().getRank();
  if (numCoordinates < 1 || numCoordinates > kMaxRank) {
    return op->emitOpError("takes 1 to 5 coordinates: got ") << numCoordinates;
  }
  if (numCoordinates != rank) {
    return op->emitOpError("needs one coordinate for each dimension of the block: wanted ")
           << rank << ", got " << numCoordinates;
  }
  return success();
}

/// Checks that `buffer` can be what the engine reads or writes: shared memory in panels.
static LogicalResult verifyTile(Operation *op, ttg::MemDescType buffer) {
  if (!isa<ttg::NVMMASharedEncodingAttr>(buffer.getEncoding())) {
    return op->emitOpError("buffer must have an nvmma_shared encoding: got ") << buffer.getEncoding();
  }
  return success();
}

static LogicalResult verifyDestination(Operation *op, ttg::MemDescType buffer) {
  if (!buffer.getMutableMemory()) {
    return op->emitOpError("cannot write to an immutable buffer");
  }
  return verifyTile(op, buffer);
}

LogicalResult AsyncTMACopyGlobalToLocalOp::verify() {
  if (failed(verifyBarrier(*this, getBarrier().getType())) ||
      failed(verifyCoordinates(*this, getDesc().getType(), getCoord().size()))) {
    return failure();
  }
  return verifyDestination(*this, getResult().getType());
}

LogicalResult AsyncTMACopyLocalToGlobalOp::verify() {
  if (failed(verifyCoordinates(*this, getDesc().getType(), getCoord().size()))) {
    return failure();
  }
  return verifyTile(*this, getSrc().getType());
}

LogicalResult AsyncTMAReduceOp::verify() {
  if (failed(verifyCoordinates(*this, getDesc().getType(), getCoord().size()))) {
    return failure();
  }
  return verifyTile(*this, getSrc().getType());
}

/// Checks that a warp can issue the rows of `offsets` in fours: a thread holds four in a row, and all lanes the same.
static LogicalResult verifyOffsetLayout(Operation *op, RankedTensorType offsets) {
  LinearLayout layout = toLinearLayout(offsets);
  if (getContigPerThread(offsets).front() < 4) {
    return op->emitOpError("x offsets must come four to a thread: got ") << offsets.getEncoding();
  }
  if (!layout.sublayoutIsZero({kLane}, {dimName(0)})) {
    return op->emitOpError("x offsets must be the same in all lanes: got ") << offsets.getEncoding();
  }
  return success();
}

/// Checks the rows of a gather or scatter: at least 8 of them, from a descriptor of one.
static LogicalResult verifyRows(Operation *op, tt::TensorDescType desc, RankedTensorType offsets,
                                ttg::MemDescType buffer) {
  auto block = desc.getBlockType();
  if (block.getRank() != 2 || block.getDimSize(0) != 1) {
    return op->emitOpError("the descriptor's block must be one row: got ") << block;
  }
  if (offsets.getRank() != 1) {
    return op->emitOpError("x offsets must have one dimension: got ") << offsets.getRank();
  }
  if (offsets.getEncoding() && failed(verifyOffsetLayout(op, offsets))) {
    return failure();
  }
  if (buffer.getRank() != 2 || buffer.getDimSize(0) != offsets.getDimSize(0) ||
      buffer.getDimSize(1) != block.getDimSize(1)) {
    return op->emitOpError("buffer must have a row of the block for each x offset: got ") << buffer;
  }
  if (buffer.getDimSize(0) < 8) {
    return op->emitOpError("needs at least 8 rows: got ") << buffer.getDimSize(0);
  }
  return success();
}

LogicalResult AsyncTMAGatherOp::verify() {
  if (failed(verifyBarrier(*this, getBarrier().getType())) ||
      failed(verifyRows(*this, getDesc().getType(), getXOffsets().getType(), getResult().getType()))) {
    return failure();
  }
  return verifyDestination(*this, getResult().getType());
}

LogicalResult AsyncTMAScatterOp::verify() {
  if (failed(verifyRows(*this, getDesc().getType(), getXOffsets().getType(), getSrc().getType()))) {
    return failure();
  }
  return verifyTile(*this, getSrc().getType());
}

LogicalResult TensormapCreateOp::verify() {
  size_t rank = getBoxDim().size();
  if (rank < 1 || rank > kMaxRank) {
    return emitOpError("a tensor map has 1 to 5 dimensions: got ") << rank;
  }
  if (getGlobalDim().size() != rank || getElementStride().size() != rank) {
    return emitOpError("box, dimensions and element strides must have one rank: got ")
           << rank << ", " << getGlobalDim().size() << " and " << getElementStride().size();
  }
  if (getGlobalStride().size() + 1 != rank) {
    return emitOpError("needs one stride fewer than dimensions: wanted ")
           << rank - 1 << ", got " << getGlobalStride().size();
  }
  return success();
}

} // namespace jitk::ir::ttng
