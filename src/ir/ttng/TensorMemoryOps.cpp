// Tensor memory and the matrix products that accumulate in it.

#include "src/ir/ttng/BarrierRules.h"
#include "src/ir/ttng/TokenSyntax.h"
#include "src/ir/ttng/Ttng.h"

namespace jitk::ir::ttng {
using namespace mlir;

static bool isInTensorMemory(ttg::MemDescType type) { return isa<TensorMemorySpaceAttr>(type.getMemorySpace()); }

// --- Syntax

ParseResult parseToken(OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &dep, Type &token) {
  if (failed(parser.parseOptionalLSquare())) {
    return success();
  }
  token = parser.getBuilder().getType<ttg::AsyncTokenType>();
  if (succeeded(parser.parseOptionalRSquare())) {
    return success();
  }
  return failure(parser.parseOperand(dep.emplace()) || parser.parseRSquare());
}

void printToken(OpAsmPrinter &printer, Operation *, Value dep, Type token) {
  if (!token) {
    return;
  }
  printer << '[';
  if (dep) {
    printer << dep;
  }
  printer << ']';
}

ParseResult parseBarriersAndPreds(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &barriers,
                                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &preds) {
  while (succeeded(parser.parseOptionalComma())) {
    if (parser.parseOperand(barriers.emplace_back()) || parser.parseLSquare() ||
        parser.parseOperand(preds.emplace_back()) || parser.parseRSquare()) {
      return failure();
    }
  }
  return success();
}

void printBarriersAndPreds(OpAsmPrinter &printer, Operation *, OperandRange barriers, OperandRange preds) {
  for (auto [barrier, pred] : llvm::zip(barriers, preds)) {
    printer << ", " << barrier << '[' << pred << ']';
  }
}

// --- Matrix products

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addRead(OpOperand &operand, Effects &effects) {
  bool inTensorMemory = isInTensorMemory(cast<ttg::MemDescType>(operand.get().getType()));
  SideEffects::Resource *memory = TensorMemory::get();
  if (!inTensorMemory) {
    memory = ttg::SharedMemory::get();
  }
  effects.emplace_back(MemoryEffects::Read::get(), &operand, memory);
}

static void addMmaEffects(OpOperand &a, OpOperand &b, OpOperand &d, MutableOperandRange barriers, Effects &effects) {
  addRead(a, effects);
  addRead(b, effects);
  addRead(d, effects);
  effects.emplace_back(MemoryEffects::Write::get(), &d, TensorMemory::get());
  for (OpOperand &barrier : barriers) {
    effects.emplace_back(MemoryEffects::Read::get(), &barrier, ttg::SharedMemory::get());
    effects.emplace_back(MemoryEffects::Write::get(), &barrier, ttg::SharedMemory::get());
  }
}

void TCGen5MMAOp::getEffects(Effects &effects) {
  addMmaEffects(getAMutable(), getBMutable(), getDMutable(), getBarriersMutable(), effects);
}

void TCGen5MMAScaledOp::getEffects(Effects &effects) {
  addMmaEffects(getAMutable(), getBMutable(), getDMutable(), getBarriersMutable(), effects);
  addRead(getAScaleMutable(), effects);
  addRead(getBScaleMutable(), effects);
}

/// Checks barriers and places of the operands.
template <typename Op> static LogicalResult verifyMma(Op op) {
  auto a = op.getA().getType();
  auto d = op.getD().getType();
  if (!op.getIsAsync() && !op.getBarriers().empty()) {
    return op.emitOpError("a synchronous product has no barriers: got ") << op.getBarriers().size();
  }
  if (op.getBarriers().size() != op.getBarrierPreds().size()) {
    return op.emitOpError("needs a predicate for each barrier");
  }
  for (Value barrier : op.getBarriers()) {
    if (failed(verifyBarrier(op, cast<ttg::MemDescType>(barrier.getType())))) {
      return failure();
    }
  }
  auto encodingA = dyn_cast<TensorMemoryEncodingAttr>(a.getEncoding());
  if (isInTensorMemory(a) && (!encodingA || encodingA.getColStride() != 1)) {
    return op.emitOpError("a in tensor memory must have colStride 1: got ") << a;
  }
  if (isInTensorMemory(op.getB().getType())) {
    return op.emitOpError("b must be in shared memory: got ") << op.getB().getType();
  }
  auto encodingD = dyn_cast<TensorMemoryEncodingAttr>(d.getEncoding());
  if (!encodingD || !d.getMutableMemory()) {
    return op.emitOpError("d must be mutable and in tensor memory: got ") << d;
  }
  unsigned colStride = 32 / d.getElementType().getIntOrFloatBitWidth();
  if (encodingD.getColStride() != colStride) {
    return op.emitOpError("d must have colStride ") << colStride << ": got " << encodingD.getColStride();
  }
  return success();
}

/// True if the tensor cores multiply elements of type `a` and `b` into `d`.
static bool isSupportedKind(Type a, Type b, Type d) {
  auto isNarrow = [](Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type) || type.isInteger(8); };
  if (isNarrow(a) && isNarrow(b)) {
    return d.isF16() || d.isF32();
  }
  if (a != b) {
    return false;
  }
  return (a.isF16() && (d.isF16() || d.isF32())) || ((a.isBF16() || a.isF32()) && d.isF32());
}

LogicalResult TCGen5MMAOp::verify() {
  auto a = getA().getType();
  auto b = getB().getType();
  auto d = getD().getType();
  if (failed(verifyMma(*this))) {
    return failure();
  }
  if (!isSupportedKind(a.getElementType(), b.getElementType(), d.getElementType())) {
    return emitOpError("has no instruction for ")
           << a.getElementType() << " times " << b.getElementType() << " to " << d.getElementType();
  }
  if (a.getRank() != 2 || b.getRank() != 2 || d.getRank() != 2 || a.getDimSize(0) != d.getDimSize(0) ||
      b.getDimSize(1) != d.getDimSize(1)) {
    return emitOpError("shapes must be M x K, K x N and M x N");
  }
  if (!getTwoCtas()) {
    return success();
  }
  auto encoding = cast<TensorMemoryEncodingAttr>(d.getEncoding());
  if (!encoding.getTwoCTAs() || encoding.getCTASplitM() != 2 || encoding.getCTASplitN() != 1) {
    return emitOpError("with two CTAs d must be split 2 x 1 and have twoCTAs: got ") << encoding;
  }
  if (ttg::getCGALayout(b.getEncoding()).getSplitNum() != SmallVector<unsigned>{1, 2}) {
    return emitOpError("with two CTAs b must be split 1 x 2: got ") << b.getEncoding();
  }
  if (!isInTensorMemory(a) && ttg::getCGALayout(a.getEncoding()).getSplitNum() != SmallVector<unsigned>{2, 1}) {
    return emitOpError("with two CTAs a must be split 2 x 1: got ") << a.getEncoding();
  }
  return success();
}

LogicalResult TCGen5MMAScaledOp::verify() {
  for (Value scale : {getAScale(), getBScale()}) {
    auto type = cast<ttg::MemDescType>(scale.getType());
    if (!isInTensorMemory(type) || !type.getElementType().isInteger(8)) {
      return emitOpError("scales must be i8 in tensor memory: got ") << type;
    }
  }
  if (getAScale().getType().getDimSize(0) != getD().getType().getDimSize(0) ||
      getBScale().getType().getDimSize(0) != getD().getType().getDimSize(1)) {
    return emitOpError("scales must have a row for each of M and N");
  }
  return verifyMma(*this);
}

LogicalResult TCGen5CommitOp::verify() { return verifyBarrier(*this, getBarrier().getType()); }

// --- Transfers

static LogicalResult verifyTransfer(Operation *op, RankedTensorType tensor, ttg::MemDescType buffer) {
  if (!isInTensorMemory(buffer)) {
    return op->emitOpError("buffer must be in tensor memory: got ") << buffer;
  }
  if (tensor.getShape() != buffer.getShape() || tensor.getElementType() != buffer.getElementType()) {
    return op->emitOpError("tensor and buffer must have one shape and element type: got ")
           << tensor << " and " << buffer;
  }
  if (tensor.getRank() != 2) {
    return op->emitOpError("tensor must have two dimensions: got ") << tensor.getRank();
  }
  return success();
}

void TMEMAllocOp::getEffects(Effects &effects) {
  if (!getResult().getType().getMutableMemory()) {
    return;
  }
  effects.emplace_back(MemoryEffects::Allocate::get(), cast<OpResult>(getResult()), TensorMemory::get());
  if (getSrc()) {
    effects.emplace_back(MemoryEffects::Write::get(), cast<OpResult>(getResult()), TensorMemory::get());
  }
}

LogicalResult TMEMAllocOp::verify() {
  auto type = getResult().getType();
  if (!isInTensorMemory(type)) {
    return emitOpError("allocates in tensor memory: got ") << type.getMemorySpace();
  }
  if (!getSrc()) {
    return type.getMutableMemory() ? success() : emitOpError("a buffer without initial value must be mutable");
  }
  return verifyTransfer(*this, cast<RankedTensorType>(getSrc().getType()), type);
}

LogicalResult TMEMLoadOp::verify() { return verifyTransfer(*this, getResult().getType(), getSrc().getType()); }

LogicalResult TMEMStoreOp::verify() {
  if (!getDst().getType().getMutableMemory()) {
    return emitOpError("cannot write to an immutable buffer");
  }
  return verifyTransfer(*this, getSrc().getType(), getDst().getType());
}

LogicalResult TMEMSubSliceOp::verify() {
  auto source = getSrc().getType();
  auto result = getType();
  auto sourceTiles = dyn_cast<TensorMemoryEncodingAttr>(source.getEncoding());
  auto resultTiles = dyn_cast<TensorMemoryEncodingAttr>(result.getEncoding());
  if (!sourceTiles || !resultTiles) {
    return emitOpError("source and result must have a tensor memory encoding");
  }
  if (source.getRank() != 2 || result.getRank() != 2 || source.getDimSize(0) != result.getDimSize(0)) {
    return emitOpError("result must have the source's rows: got ") << result;
  }
  if (int64_t(getN()) + result.getDimSize(1) > source.getDimSize(1)) {
    return emitOpError("slice must lie inside the source: got column ")
           << getN() << " and " << result.getDimSize(1) << " columns";
  }
  if (sourceTiles.getBlockM() != resultTiles.getBlockM() || sourceTiles.getCTASplitM() != resultTiles.getCTASplitM() ||
      sourceTiles.getCTASplitN() != resultTiles.getCTASplitN() ||
      sourceTiles.getColStride() != resultTiles.getColStride()) {
    return emitOpError("source and result must agree in blockM, CTA split and colStride");
  }
  return success();
}

LogicalResult TMEMCopyOp::verify() {
  auto source = getSrc().getType();
  auto target = getDst().getType();
  if (getBarrier() && failed(verifyBarrier(*this, cast<ttg::MemDescType>(getBarrier().getType())))) {
    return failure();
  }
  if (isInTensorMemory(source) || !isInTensorMemory(target) || !target.getMutableMemory()) {
    return emitOpError("copies from shared to mutable tensor memory: got ") << source << " and " << target;
  }
  auto panels = dyn_cast<ttg::NVMMASharedEncodingAttr>(source.getEncoding());
  if (panels && (panels.getTransposed() || panels.getFp4Padded())) {
    return emitOpError("source must be neither transposed nor fp4Padded: got ") << panels;
  }
  auto tiles = dyn_cast<TensorMemoryEncodingAttr>(target.getEncoding());
  if (!tiles) {
    return success();
  }
  if (source.getShape() != target.getShape()) {
    return emitOpError("source and destination must have one shape: got ") << source << " and " << target;
  }
  if (tiles.getBlockM() != 128 || target.getElementType().getIntOrFloatBitWidth() != 32) {
    return emitOpError("destination must have blockM 128 and elements of 32 bits: got ") << target;
  }
  if (!panels || panels.getSwizzlingByteWidth() == 0) {
    return emitOpError("source must be swizzled: got ") << source.getEncoding();
  }
  return success();
}

} // namespace jitk::ir::ttng
