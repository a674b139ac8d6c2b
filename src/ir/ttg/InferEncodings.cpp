#include "src/ir/ttg/InferEncodings.h"

#include "src/ir/ttg/Ttg.h"

namespace jitk::ir::ttg {
using namespace mlir;

Attribute inferReduceEncoding(Attribute operand, unsigned axis) {
  return operand ? SliceEncodingAttr::get(axis, operand) : Attribute();
}

FailureOr<Attribute> inferExpandDimsEncoding(Attribute operand, unsigned axis) {
  if (!operand) {
    return Attribute();
  }
  auto slice = dyn_cast<SliceEncodingAttr>(operand);
  if (!slice || slice.getDim() != axis) {
    return failure();
  }
  return slice.getParent();
}

//===--- trans
//--------------------------------------------------------------------------------------------------------===//

template <typename T> static SmallVector<T> permute(ArrayRef<T> values, ArrayRef<int32_t> order) {
  return llvm::map_to_vector(order, [&](int32_t dim) { return values[dim]; });
}

/// The names that the dimensions of `order` have after the permutation.
static SmallVector<unsigned> rename(ArrayRef<unsigned> dims, ArrayRef<int32_t> order) {
  return llvm::map_to_vector(dims,
                             [&](unsigned dim) -> unsigned { return llvm::find(order, int32_t(dim)) - order.begin(); });
}

FailureOr<Attribute> inferTransEncoding(ArrayRef<int64_t>, Attribute operand, ArrayRef<int32_t> order) {
  if (!operand) {
    return Attribute();
  }
  MLIRContext *context = operand.getContext();
  if (auto blocked = dyn_cast<BlockedEncodingAttr>(operand)) {
    return Attribute(
        BlockedEncodingAttr::get(context, permute(blocked.getSizePerThread(), order),
                                 permute(blocked.getThreadsPerWarp(), order), permute(blocked.getWarpsPerCTA(), order),
                                 rename(blocked.getOrder(), order), blocked.getCGALayout().permute(order)));
  }
  if (auto swizzled = dyn_cast<SwizzledSharedEncodingAttr>(operand)) {
    return Attribute(SwizzledSharedEncodingAttr::get(context, swizzled.getVec(), swizzled.getPerPhase(),
                                                     swizzled.getMaxPhase(), rename(swizzled.getOrder(), order),
                                                     swizzled.getCGALayout().permute(order)));
  }
  if (auto nvmma = dyn_cast<NVMMASharedEncodingAttr>(operand); nvmma && order == ArrayRef<int32_t>({1, 0})) {
    return Attribute(NVMMASharedEncodingAttr::get(context, nvmma.getSwizzlingByteWidth(), !nvmma.getTransposed(),
                                                  nvmma.getElementBitWidth(), nvmma.getFp4Padded(),
                                                  nvmma.getCGALayout().permute(order)));
  }
  return failure();
}

LogicalResult verifyTransEncoding(Operation *op, RankedTensorType source, RankedTensorType result,
                                  ArrayRef<int32_t> order) {
  if (!source.getEncoding() != !result.getEncoding()) {
    return op->emitOpError("takes an encoding on both sides or on neither");
  }
  FailureOr<Attribute> expected = inferTransEncoding(source.getShape(), source.getEncoding(), order);
  if (succeeded(expected) && *expected != result.getEncoding()) {
    return op->emitOpError("has the wrong result encoding: expected ") << *expected;
  }
  return success();
}

//===--- reshape
//------------------------------------------------------------------------------------------------------===//

FailureOr<Attribute> inferReshapeEncoding(ArrayRef<int64_t> shape, Attribute operand, ArrayRef<int64_t> target) {
  if (!operand || shape == target) {
    return operand;
  }
  return failure();
}

LogicalResult verifyReshapeEncoding(Operation *, RankedTensorType, RankedTensorType) { return success(); }

//===--- join, split
//--------------------------------------------------------------------------------------------------===//

template <typename T> static SmallVector<T> appended(ArrayRef<T> values, T last) {
  SmallVector<T> result(values);
  result.push_back(last);
  return result;
}

FailureOr<Attribute> inferJoinEncoding(ArrayRef<int64_t> shape, Attribute operand) {
  if (!operand) {
    return Attribute();
  }
  auto blocked = dyn_cast<BlockedEncodingAttr>(operand);
  if (!blocked) {
    return failure();
  }
  unsigned minor = shape.size();
  SmallVector<unsigned> order{minor};
  llvm::append_range(order, blocked.getOrder());
  return Attribute(BlockedEncodingAttr::get(
      operand.getContext(), appended(blocked.getSizePerThread(), 2u), appended(blocked.getThreadsPerWarp(), 1u),
      appended(blocked.getWarpsPerCTA(), 1u), order, blocked.getCGALayout().insertDim(minor)));
}

FailureOr<Attribute> inferSplitEncoding(ArrayRef<int64_t> shape, Attribute operand) {
  if (!operand) {
    return Attribute();
  }
  auto blocked = dyn_cast<BlockedEncodingAttr>(operand);
  unsigned minor = shape.size() - 1;
  bool isWhole = blocked && blocked.getSizePerThread()[minor] == 2 && blocked.getThreadsPerWarp()[minor] == 1 &&
                 blocked.getWarpsPerCTA()[minor] == 1;
  if (!isWhole) {
    return failure();
  }
  auto order = llvm::filter_to_vector(blocked.getOrder(), [&](unsigned dim) { return dim != minor; });
  return Attribute(BlockedEncodingAttr::get(
      operand.getContext(), blocked.getSizePerThread().drop_back(), blocked.getThreadsPerWarp().drop_back(),
      blocked.getWarpsPerCTA().drop_back(), order, blocked.getCGALayout().dropDim(minor)));
}

LogicalResult verifyJoinEncoding(Operation *, RankedTensorType, RankedTensorType) { return success(); }

//===--- dot
//----------------------------------------------------------------------------------------------------------===//

LogicalResult verifyDotEncodings(Operation *op, RankedTensorType a, RankedTensorType b, RankedTensorType c) {
  if (!c.getEncoding() && !a.getEncoding() && !b.getEncoding()) {
    return success();
  }
  auto operandA = dyn_cast_or_null<DotOperandEncodingAttr>(a.getEncoding());
  auto operandB = dyn_cast_or_null<DotOperandEncodingAttr>(b.getEncoding());
  if (!c.getEncoding() || !operandA || !operandB) {
    return op->emitOpError("a and b must have dot_op encodings where the accumulator has an encoding");
  }
  if (operandA.getOpIdx() != 0 || operandB.getOpIdx() != 1) {
    return op->emitOpError("a must be operand 0 and b operand 1: got ")
           << operandA.getOpIdx() << " and " << operandB.getOpIdx();
  }
  if (operandA.getParent() != c.getEncoding() || operandB.getParent() != c.getEncoding()) {
    return op->emitOpError("the parent of a's and b's encodings must be the accumulator's encoding");
  }
  if (operandA.getKWidth() != operandB.getKWidth()) {
    return op->emitOpError("a and b must have the same kWidth: got ")
           << operandA.getKWidth() << " and " << operandB.getKWidth();
  }
  return success();
}

} // namespace jitk::ir::ttg
