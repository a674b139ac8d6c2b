#include "src/ir/ttg/InferEncodings.h"

#include "src/ir/layout/EncodingLayouts.h"
#include "src/ir/layout/ShapeChange.h"

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

LogicalResult verifyEncoding(Operation *op, ArrayRef<int64_t> shape, Attribute expected, Attribute found) {
  if (!expected != !found) {
    return op->emitOpError("takes an encoding on both sides or on neither");
  }
  if (!expected || areLayoutsEquivalent(shape, expected, found)) {
    return success();
  }
  return op->emitOpError("has the wrong encoding: expected ") << expected << ", got " << found;
}

// --- trans

template <typename T> static SmallVector<T> permute(ArrayRef<T> values, ArrayRef<int32_t> order) {
  return llvm::map_to_vector(order, [&](int32_t dim) { return values[dim]; });
}

/// The names that the dimensions of `dims` have after the permutation.
static SmallVector<unsigned> rename(ArrayRef<unsigned> dims, ArrayRef<int32_t> order) {
  return llvm::map_to_vector(dims,
                             [&](unsigned dim) -> unsigned { return llvm::find(order, int32_t(dim)) - order.begin(); });
}

/// The permuted encoding, of the same kind; null if the kind cannot say it.
static Attribute transposeInKind(Attribute operand, ArrayRef<int32_t> order) {
  MLIRContext *context = operand.getContext();
  if (auto blocked = dyn_cast<BlockedEncodingAttr>(operand)) {
    return BlockedEncodingAttr::get(context, permute(blocked.getSizePerThread(), order),
                                    permute(blocked.getThreadsPerWarp(), order),
                                    permute(blocked.getWarpsPerCTA(), order), rename(blocked.getOrder(), order),
                                    blocked.getCGALayout().permute(order));
  }
  if (auto swizzled = dyn_cast<SwizzledSharedEncodingAttr>(operand)) {
    return SwizzledSharedEncodingAttr::get(context, swizzled.getVec(), swizzled.getPerPhase(), swizzled.getMaxPhase(),
                                           rename(swizzled.getOrder(), order), swizzled.getCGALayout().permute(order));
  }
  if (auto nvmma = dyn_cast<NVMMASharedEncodingAttr>(operand); nvmma && order == ArrayRef<int32_t>{1, 0}) {
    return NVMMASharedEncodingAttr::get(context, nvmma.getSwizzlingByteWidth(), !nvmma.getTransposed(),
                                        nvmma.getElementBitWidth(), nvmma.getFp4Padded(),
                                        nvmma.getCGALayout().permute(order));
  }
  return {};
}

Attribute inferTransEncoding(ArrayRef<int64_t> shape, Attribute operand, ArrayRef<int32_t> order) {
  if (!operand) {
    return {};
  }
  if (Attribute encoding = transposeInKind(operand, order)) {
    return encoding;
  }
  return getLinearEncoding(operand.getContext(), transposedLayout(toLinearLayout(shape, operand), order));
}

/// The shared_linear encoding of `layout`, as aligned as `source` is; null if the layout leaves gaps.
static Attribute sharedLinearLike(Attribute source, const LinearLayout &layout) {
  LinearLayout dense = layout.removeZeroBasesAlongDim(kOffset).removeZeroBasesAlongDim(kBlock);
  if (!dense.isInvertible()) {
    return {};
  }
  return getSharedLinearEncoding(source.getContext(), layout, cast<SharedEncodingTrait>(source).getAlignment());
}

FailureOr<MemDescType> inferTransType(MemDescType source, ArrayRef<int32_t> order) {
  ArrayRef<int64_t> alloc = source.getAllocShape().take_back(order.size());
  Attribute encoding = transposeInKind(source.getEncoding(), order);
  if (!encoding) {
    encoding = sharedLinearLike(source.getEncoding(), transposedLayout(toLinearLayout(source), order));
  }
  if (!encoding) {
    return failure();
  }
  return MemDescType::get(permute(source.getShape(), order), source.getElementType(), encoding, source.getMemorySpace(),
                          source.getMutableMemory(), permute(alloc, order));
}

// --- reshape

Attribute inferReshapeEncoding(ArrayRef<int64_t> shape, Attribute operand, ArrayRef<int64_t> target) {
  if (!operand || shape == target) {
    return operand;
  }
  return getLinearEncoding(operand.getContext(), reshapedLayout(toLinearLayout(shape, operand), target));
}

FailureOr<MemDescType> inferReshapeType(MemDescType source, ArrayRef<int64_t> shape) {
  MLIRContext *context = source.getContext();
  LinearLayout layout = reshapedLayout(toLinearLayout(source), shape);
  auto panels = dyn_cast<NVMMASharedEncodingAttr>(source.getEncoding());
  Attribute encoding;
  if (panels && panels.getCGALayout().isTrivial() && shape.size() >= 2) {
    encoding = NVMMASharedEncodingAttr::get(context, panels.getSwizzlingByteWidth(), panels.getTransposed(),
                                            panels.getElementBitWidth(), panels.getFp4Padded(),
                                            CGAEncodingAttr::getTrivial(context, shape.size()));
  }
  if (!encoding || toLinearLayout(shape, encoding) != layout) {
    encoding = sharedLinearLike(source.getEncoding(), layout);
  }
  if (!encoding) {
    return failure();
  }
  return MemDescType::get(shape, source.getElementType(), encoding, source.getMemorySpace(), source.getMutableMemory());
}

// --- join, split

template <typename T> static SmallVector<T> appended(ArrayRef<T> values, T last) {
  SmallVector<T> result(values);
  result.push_back(last);
  return result;
}

Attribute inferJoinEncoding(ArrayRef<int64_t> shape, Attribute operand) {
  if (!operand) {
    return {};
  }
  auto blocked = dyn_cast<BlockedEncodingAttr>(operand);
  if (!blocked) {
    return getLinearEncoding(operand.getContext(), joinedLayout(toLinearLayout(shape, operand)));
  }
  unsigned minor = shape.size();
  SmallVector<unsigned> order{minor};
  llvm::append_range(order, blocked.getOrder());
  return BlockedEncodingAttr::get(operand.getContext(), appended(blocked.getSizePerThread(), 2u),
                                  appended(blocked.getThreadsPerWarp(), 1u), appended(blocked.getWarpsPerCTA(), 1u),
                                  order, blocked.getCGALayout().insertDim(minor));
}

/// The halves' encoding if it is blocked and the register bit that tells them apart is the lowest; null otherwise.
static Attribute splitBlocked(BlockedEncodingAttr blocked, unsigned minor) {
  bool isPair = blocked.getSizePerThread()[minor] == 2 && blocked.getThreadsPerWarp()[minor] == 1 &&
                blocked.getWarpsPerCTA()[minor] == 1;
  if (!isPair) {
    return {};
  }
  auto order = llvm::filter_to_vector(blocked.getOrder(), [&](unsigned dim) { return dim != minor; });
  return BlockedEncodingAttr::get(blocked.getContext(), blocked.getSizePerThread().drop_back(),
                                  blocked.getThreadsPerWarp().drop_back(), blocked.getWarpsPerCTA().drop_back(), order,
                                  blocked.getCGALayout().dropDim(minor));
}

FailureOr<Attribute> inferSplitEncoding(ArrayRef<int64_t> shape, Attribute operand) {
  if (!operand) {
    return Attribute();
  }
  if (auto blocked = dyn_cast<BlockedEncodingAttr>(operand); blocked && shape.size() > 1) {
    if (Attribute encoding = splitBlocked(blocked, shape.size() - 1)) {
      return encoding;
    }
  }
  std::optional<LinearLayout> layout = splitLayout(toLinearLayout(shape, operand));
  if (!layout) {
    return failure();
  }
  return Attribute(getLinearEncoding(operand.getContext(), *layout));
}

Attribute inferFp4ToFpEncoding(ArrayRef<int64_t> shape, Attribute operand, unsigned axis) {
  if (!operand) {
    return {};
  }
  // The pair is a new minor dimension that moves behind the axis and melts into it.
  auto order = llvm::to_vector(llvm::seq<int32_t>(0, shape.size()));
  order.insert(order.begin() + axis + 1, shape.size());
  SmallVector<int64_t> unpacked(shape);
  unpacked[axis] *= 2;
  LinearLayout layout = transposedLayout(joinedLayout(toLinearLayout(shape, operand)), order);
  return getLinearEncoding(operand.getContext(), reshapedLayout(layout, unpacked));
}

// --- dot

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
