// The rules that every tensor operand and result obeys.

#include "src/ir/layout/EncodingLayouts.h"
#include "src/ir/ttg/Ttg.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace jitk::ir::tt {
using namespace mlir;

/// Checks that the layout has as many of `input` as there are around `op`, if anything says how many there are.
static LogicalResult verifyCount(Operation *op, RankedTensorType type, const LinearLayout &layout, StringRef input,
                                 StringRef plural, std::optional<int> wanted) {
  int found = layout.getInDimSize(input);
  if (!wanted || *wanted == found) {
    return success();
  }
  return op->emitOpError("layout must have ") << *wanted << " " << plural << ": got " << found << " in " << type;
}

static LogicalResult verifyLayout(Operation *op, RankedTensorType type) {
  Attribute encoding = type.getEncoding();
  if (!isa<ttg::DistributedEncodingTrait>(encoding)) {
    return op->emitOpError("a tensor needs a distributed encoding: got ") << encoding;
  }
  unsigned rank = cast<ttg::LayoutEncodingTrait>(encoding).getRank();
  if (rank != type.getRank()) {
    return op->emitOpError("encoding must have the tensor's rank ") << type.getRank() << ": got " << rank;
  }
  LinearLayout layout = toLinearLayout(type);
  if (failed(verifyCount(op, type, layout, kLane, "lanes", ttg::maybeLookupThreadsPerWarp(op))) ||
      failed(verifyCount(op, type, layout, kWarp, "warps", ttg::maybeLookupNumWarps(op)))) {
    return failure();
  }
  return verifyCount(op, type, layout, kBlock, "CTAs", ttg::maybeLookupNumCTAs(op));
}

static LogicalResult verifyTensor(Operation *op, RankedTensorType type) {
  if (!llvm::all_of(type.getShape(), [](int64_t size) { return size > 0 && llvm::isPowerOf2_64(size); })) {
    return op->emitOpError("tensor dimensions must be powers of two: got ") << type;
  }
  if (type.getNumElements() > kMaxTensorElements) {
    return op->emitOpError("a tensor may have at most ")
           << kMaxTensorElements << " elements: got " << type.getNumElements();
  }
  if (type.getRank() > kMaxTensorRank) {
    return op->emitOpError("a tensor may have at most ") << kMaxTensorRank << " dimensions: got " << type.getRank();
  }
  return type.getEncoding() ? verifyLayout(op, type) : success();
}

LogicalResult verifyTensorRules(Operation *op) {
  // Most operands of an op have one type: it is checked once.
  Type checked;
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    llvm::append_range(types, function.getArgumentTypes());
    llvm::append_range(types, function.getResultTypes());
  }
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor != checked && failed(verifyTensor(op, tensor))) {
      return failure();
    }
    checked = tensor ? tensor : checked;
  }
  return success();
}

} // namespace jitk::ir::tt
