// Block accesses through tensor descriptors.

#include "src/ir/tt/Tt.h"

namespace jitk::ir::tt {
using namespace mlir;

LogicalResult MakeTensorDescOp::verify() {
  int64_t rank = getType().getBlockType().getRank();
  if (int64_t(getShape().size()) != rank || int64_t(getStrides().size()) != rank) {
    return emitOpError("needs as many sizes and strides as the block has dimensions: wanted ") << rank;
  }
  Type element = getType().getSignlessBlockType().getElementType();
  if (getBase().getType().getPointeeType() != element) {
    return emitOpError("base must point to the block's element type ") << element << ": got " << getBase().getType();
  }
  return success();
}

/// Checks that `tensor` is a block of the descriptor (leading dimensions of size 1 may be dropped) at `numIndices`
/// indices.
static LogicalResult verifyBlockAccess(Operation *op, TensorDescType desc, RankedTensorType tensor, size_t numIndices) {
  auto block = desc.getSignlessBlockType();
  if (numIndices != size_t(block.getRank())) {
    return op->emitOpError("needs one index for each dimension of the block: wanted ")
           << block.getRank() << ", got " << numIndices;
  }
  auto trimmed = [](ArrayRef<int64_t> shape) { return shape.drop_while([](int64_t size) { return size == 1; }); };
  bool sameShape = block.getRank() >= tensor.getRank() && trimmed(block.getShape()) == trimmed(tensor.getShape());
  if (!sameShape || block.getElementType() != tensor.getElementType()) {
    return op->emitOpError("tensor must be a block of the descriptor ") << block << ": got " << tensor;
  }
  return success();
}

LogicalResult DescriptorLoadOp::verify() {
  return verifyBlockAccess(*this, getDesc().getType(), getType(), getIndices().size());
}

LogicalResult DescriptorStoreOp::verify() {
  return verifyBlockAccess(*this, getDesc().getType(), getSrc().getType(), getIndices().size());
}

LogicalResult DescriptorReduceOp::verify() {
  return verifyBlockAccess(*this, getDesc().getType(), getSrc().getType(), getIndices().size());
}

} // namespace jitk::ir::tt
