// The rules that every tensor operand and result obeys.

#include "src/ir/ttg/Ttg.h"

namespace jitk::ir::tt {
using namespace mlir;

static LogicalResult verifyTensor(Operation *op, RankedTensorType type) {
  for (int64_t size : type.getShape()) {
    if (size < 1 || !llvm::isPowerOf2_64(size)) {
      return op->emitOpError("tensor dimensions must be powers of two: got ") << type;
    }
  }
  if (type.getNumElements() > kMaxTensorElements) {
    return op->emitOpError("a tensor may have at most ")
           << kMaxTensorElements << " elements: got " << type.getNumElements();
  }
  Attribute encoding = type.getEncoding();
  if (!encoding) {
    return success();
  }
  auto layout = dyn_cast<ttg::DistributedEncodingTrait>(encoding);
  if (!layout) {
    return op->emitOpError("a tensor needs a distributed encoding: got ") << encoding;
  }
  unsigned rank = cast<ttg::LayoutEncodingTrait>(encoding).getRank();
  if (rank != type.getRank()) {
    return op->emitOpError("encoding must have the tensor's rank ") << type.getRank() << ": got " << rank;
  }
  return success();
}

LogicalResult verifyTensorRules(Operation *op) {
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes()))) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && failed(verifyTensor(op, tensor))) {
      return failure();
    }
  }
  return success();
}

} // namespace jitk::ir::tt
