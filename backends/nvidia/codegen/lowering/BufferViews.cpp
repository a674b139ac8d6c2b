// Views of buffers: they move the two registers of a memdesc, the base address and the XOR offset, and touch no memory.

#include "backends/nvidia/codegen/lowering/BufferLayout.h"
#include "backends/nvidia/codegen/lowering/FunctionLowering.h"
#include "src/passes/SharedBuffers.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// Bytes between neighbours along the first dimension of `type`, which its encoding does not cover: whole buffers of
/// the other dimensions lie behind each other.
static int64_t bytesOfSlot(ttg::MemDescType type) {
  ArrayRef<int64_t> shape = type.getAllocShape();
  return passes::sharedBytes(type) / shape[shape.size() - type.getRank()];
}

static LogicalResult lowerIndex(ttg::MemDescIndexOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  ArrayRef<Value> source = f.registers(op.getSrc());
  Value moved = b.mul(f.scalar(op.getIndex()), bytesOfSlot(op.getSrc().getType()));
  f.set(op.getResult(), {b.add(source[0], moved), source[1]});
  return success();
}

/// Dimensions of a memdesc that its encoding does not cover: one more leading dimension, or none.
static unsigned uncoveredDims(ttg::MemDescType type) {
  return type.getRank() - cast<ttg::LayoutEncodingTrait>(type.getEncoding()).getRank();
}

static LogicalResult lowerSubslice(ttg::MemDescSubsliceOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  ttg::MemDescType type = op.getSrc().getType();
  ArrayRef<int32_t> offsets = op.getOffsets();
  Value base = f.registers(op.getSrc())[0], view = f.registers(op.getSrc())[1];
  if (uncoveredDims(type) == 1) {
    base = b.add(base, offsets.front() * bytesOfSlot(type));
    offsets = offsets.drop_front();
  }
  f.set(op.getResult(), {base, b.bitXor(view, BufferLayout(type).offset(offsets))});
  return success();
}

/// The same registers under another type.
template <typename OpT> static LogicalResult lowerRelabelled(OpT op, FunctionLowering &f) {
  f.set(op.getResult(), f.registers(op.getSrc()));
  return success();
}

static LogicalResult lowerReinterpret(ttg::MemDescReinterpretOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  int64_t from = BufferLayout(op.getSrc().getType()).elementBytes();
  int64_t to = BufferLayout(op.getType()).elementBytes();
  ArrayRef<Value> source = f.registers(op.getSrc());
  f.set(op.getResult(), {source[0], b.udiv(b.mul(source[1], from), to)});
  return success();
}

void populateBufferViewLowerings(LoweringTable &table) {
  table.add(lowerIndex);
  table.add(lowerSubslice);
  table.add(lowerRelabelled<ttg::MemDescTransOp>);
  table.add(lowerRelabelled<ttg::MemDescReshapeOp>);
  table.add(lowerReinterpret);
}

} // namespace jitk::nvidia
