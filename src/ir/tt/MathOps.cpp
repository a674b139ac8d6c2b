// Elementwise ops and matrix products.

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/InferEncodings.h"

namespace jitk::ir::tt {
using namespace mlir;

// --- Conversions

/// The width of a scalar or an element in bits; a pointer has 64.
static unsigned bitWidth(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<PointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
}

LogicalResult BitcastOp::verify() {
  unsigned from = bitWidth(getSrc().getType());
  unsigned to = bitWidth(getType());
  if (from != to) {
    return emitOpError("source and result must have the same width: got ") << from << " and " << to << " bits";
  }
  return success();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) { return getSrc().getType() == getType() ? OpFoldResult(getSrc()) : nullptr; }

LogicalResult FpToFpOp::verify() {
  if (bitWidth(getType()) < bitWidth(getSrc().getType()) && !getRounding()) {
    return emitOpError("needs a rounding mode to convert to a narrower type: got ") << getType();
  }
  return success();
}

OpFoldResult FpToFpOp::fold(FoldAdaptor) { return getSrc().getType() == getType() ? OpFoldResult(getSrc()) : nullptr; }

// --- Foreign code

/// Code that is not pure may read and write anything.
static void addForeignEffects(bool isPure,
                              SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!isPure) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

void ElementwiseInlineAsmOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addForeignEffects(getPure(), effects);
}

LogicalResult ElementwiseInlineAsmOp::verify() {
  // Elementwise gives all tensors one shape, and an operand that is one where a result is.
  auto tensors = llvm::make_filter_range(getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  RankedTensorType first = tensors.empty() ? RankedTensorType() : cast<RankedTensorType>(*tensors.begin());
  if (first && first.getNumElements() % getPackedElement() != 0) {
    return emitOpError("number of elements must be a multiple of packed_element ")
           << getPackedElement() << ": got " << first.getNumElements();
  }
  return success();
}

void ExternElementwiseOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addForeignEffects(getPure(), effects);
}

// --- dot

LogicalResult DotOp::verify() {
  auto a = getA().getType();
  auto b = getB().getType();
  auto c = getC().getType();
  int64_t rank = a.getRank();
  if (rank != b.getRank() || rank != c.getRank() || (rank != 2 && rank != 3)) {
    return emitOpError("operands must all have two or all have three dimensions");
  }
  if (a.getDimSize(rank - 1) != b.getDimSize(rank - 2)) {
    return emitOpError("K of a and b must agree: got ") << a.getDimSize(rank - 1) << " and " << b.getDimSize(rank - 2);
  }
  if (a.getDimSize(rank - 2) != c.getDimSize(rank - 2) || b.getDimSize(rank - 1) != c.getDimSize(rank - 1)) {
    return emitOpError("accumulator must be M x N of the operands: got ") << c;
  }
  if (rank == 3 && (a.getDimSize(0) != b.getDimSize(0) || a.getDimSize(0) != c.getDimSize(0))) {
    return emitOpError("batch sizes must agree");
  }
  if (a.getElementTypeBitWidth() != b.getElementTypeBitWidth()) {
    return emitOpError("element types of a and b must have the same width: got ")
           << a.getElementType() << " and " << b.getElementType();
  }
  return ttg::verifyDotEncodings(*this, a, b, c);
}

} // namespace jitk::ir::tt
