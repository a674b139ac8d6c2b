// Warpgroup matrix products.

#include "src/ir/ttng/Ttng.h"

namespace jitk::ir::ttng {
using namespace mlir;

static bool isFp8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

void WarpGroupDotOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (isa<ttg::MemDescType>(getA().getType())) {
    effects.emplace_back(MemoryEffects::Read::get(), &getAMutable(), ttg::SharedMemory::get());
  }
  effects.emplace_back(MemoryEffects::Read::get(), &getBMutable(), ttg::SharedMemory::get());
}

bool WarpGroupDotOp::needsPartialAccumulator() {
  auto a = cast<ShapedType>(getA().getType());
  bool isFp8ToF32 = isFp8(a.getElementType()) && getC().getType().getElementType().isF32();
  return isFp8ToF32 && getMaxNumImpreciseAcc() <= a.getDimSize(1);
}

/// Checks the encoding of A in registers, or of A or B in shared memory.
static LogicalResult verifyOperand(Operation *op, StringRef name, ShapedType type, ttg::NvidiaMmaEncodingAttr mma) {
  if (auto buffer = dyn_cast<ttg::MemDescType>(type)) {
    if (!isa<ttg::NVMMASharedEncodingAttr, ttg::SharedLinearEncodingAttr>(buffer.getEncoding())) {
      return op->emitOpError(name) << " in shared memory must have an nvmma_shared or shared_linear encoding: got "
                                   << buffer.getEncoding();
    }
    return success();
  }
  auto encoding = dyn_cast_or_null<ttg::DotOperandEncodingAttr>(cast<RankedTensorType>(type).getEncoding());
  if (!encoding || encoding.getOpIdx() != 0 || encoding.getParent() != mma) {
    return op->emitOpError(name) << " in registers must have the dot_op encoding of operand 0 of the accumulator's";
  }
  unsigned kWidth = 32 / type.getElementTypeBitWidth();
  if (encoding.getKWidth() != kWidth) {
    return op->emitOpError(name) << " in registers must have kWidth " << kWidth << ": got " << encoding.getKWidth();
  }
  return success();
}

LogicalResult WarpGroupDotOp::verify() {
  auto a = cast<ShapedType>(getA().getType());
  auto b = cast<ShapedType>(getB().getType());
  auto c = getC().getType();
  auto mma = dyn_cast_or_null<ttg::NvidiaMmaEncodingAttr>(c.getEncoding());
  auto left = dyn_cast<RankedTensorType>(getA().getType());
  bool isOpen = !c.getEncoding() && (!left || !left.getEncoding());
  if (!isOpen && (!mma || !mma.isHopper())) {
    return emitOpError("accumulator must have an nvidia_mma encoding of version 3");
  }
  if (a.getRank() != 2 || b.getRank() != 2 || c.getRank() != 2) {
    return emitOpError("operands must have two dimensions");
  }
  for (ShapedType operand : {a, b}) {
    if (!operand.getElementType().isIntOrFloat()) {
      return emitOpError("multiplies integers and floats: got ") << operand.getElementType();
    }
  }
  if (a.getDimSize(1) != b.getDimSize(0) || a.getDimSize(0) != c.getDimSize(0) || b.getDimSize(1) != c.getDimSize(1)) {
    return emitOpError("shapes must be M x K, K x N and M x N");
  }
  bool isLeftOpen = isOpen && left;
  if ((!isLeftOpen && failed(verifyOperand(*this, "a", a, mma))) || failed(verifyOperand(*this, "b", b, mma))) {
    return failure();
  }
  if (int numWarps = ttg::lookupNumWarps(*this); numWarps % 4 != 0) {
    return emitOpError("needs a multiple of 4 warps: got ") << numWarps;
  }
  if (c.getDimSize(0) % 64 != 0) {
    return emitOpError("M must be a multiple of 64: got ") << c.getDimSize(0);
  }
  if (c.getDimSize(1) % 8 != 0) {
    return emitOpError("N must be a multiple of 8: got ") << c.getDimSize(1);
  }
  bool isFp8ToF32 = isFp8(a.getElementType()) && c.getElementType().isF32();
  if (isFp8ToF32 && getMaxNumImpreciseAcc() < 32) {
    return emitOpError("fp8 to f32 needs maxNumImpreciseAcc of at least 32: got ") << getMaxNumImpreciseAcc();
  }
  return success();
}

void WarpGroupDotPartsOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getAMutable(), ttg::SharedMemory::get());
  for (OpOperand &part : getBMutable()) {
    effects.emplace_back(MemoryEffects::Read::get(), &part, ttg::SharedMemory::get());
  }
}

LogicalResult WarpGroupDotPartsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                    ValueRange operands, DictionaryAttr attributes,
                                                    OpaqueProperties properties, RegionRange regions,
                                                    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  llvm::append_range(types, adaptor.getC().getTypes());
  return success();
}

LogicalResult WarpGroupDotPartsOp::verify() {
  constexpr int64_t kMostColumns = 256, kColumnStep = 8, kRows = 64;
  if (getB().empty() || getB().size() != getC().size()) {
    return emitOpError("needs a part of B for each accumulator: got ") << getB().size() << " and " << getC().size();
  }
  ttg::MemDescType a = getA().getType(), first = cast<ttg::MemDescType>(getB().front().getType());
  Type element = getElementTypeOrSelf(getC().front().getType());
  int64_t columns = 0;
  for (auto [buffer, accumulator] : llvm::zip_equal(getB(), getC())) {
    auto b = cast<ttg::MemDescType>(buffer.getType());
    auto c = cast<RankedTensorType>(accumulator.getType());
    auto mma = dyn_cast_or_null<ttg::NvidiaMmaEncodingAttr>(c.getEncoding());
    if (c.getEncoding() && (!mma || !mma.isHopper())) {
      return emitOpError("accumulators must have an nvidia_mma encoding of version 3");
    }
    if (a.getRank() != 2 || b.getRank() != 2 || c.getRank() != 2 || a.getDimSize(1) != b.getDimSize(0) ||
        a.getDimSize(0) != c.getDimSize(0) || b.getDimSize(1) != c.getDimSize(1)) {
      return emitOpError("shapes must be M x K, K x N and M x N");
    }
    if (failed(verifyOperand(*this, "a", a, mma)) || failed(verifyOperand(*this, "b", b, mma))) {
      return failure();
    }
    if (b.getEncoding() != first.getEncoding() || b.getElementType() != first.getElementType()) {
      return emitOpError("parts must have one layout: got ") << b << " beside " << first;
    }
    if (c.getElementType() != element) {
      return emitOpError("accumulators must have one element type: got ")
             << c.getElementType() << " beside " << element;
    }
    if (isFp8(a.getElementType())) {
      return emitOpError("sums fp8 in no full precision");
    }
    if (c.getDimSize(0) != kRows || c.getDimSize(1) % kColumnStep != 0) {
      return emitOpError("has parts of 64 rows and a multiple of 8 columns: got ") << c;
    }
    columns += c.getDimSize(1);
  }
  if (int numWarps = ttg::lookupNumWarps(*this); numWarps != 4) {
    return emitOpError("needs 4 warps: got ") << numWarps;
  }
  if (columns > kMostColumns) {
    return emitOpError("multiplies at most 256 columns: got ") << columns;
  }
  return success();
}

LogicalResult WarpGroupDotWaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                                   DictionaryAttr, OpaqueProperties, RegionRange,
                                                   SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

LogicalResult WarpGroupDotWaitOp::verify() {
  return getInputs().empty() ? emitOpError("needs at least one operand") : success();
}

} // namespace jitk::ir::ttng
