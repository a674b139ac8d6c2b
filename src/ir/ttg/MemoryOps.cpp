// Buffers in shared memory.

#include "src/ir/layout/EncodingLayouts.h"
#include "src/ir/ttg/InferEncodings.h"
#include "src/ir/ttg/TransferRules.h"

#include "mlir/IR/PatternMatch.h"

namespace jitk::ir::ttg {
using namespace mlir;

static ParseResult parseOffsets(OpAsmParser &parser, DenseI32ArrayAttr &offsets) {
  SmallVector<int32_t> values;
  auto parseOne = [&] { return parser.parseInteger(values.emplace_back()); };
  if (parser.parseCommaSeparatedList(parseOne)) {
    return failure();
  }
  offsets = parser.getBuilder().getDenseI32ArrayAttr(values);
  return success();
}

static void printOffsets(OpAsmPrinter &printer, Operation *, DenseI32ArrayAttr offsets) {
  llvm::interleaveComma(offsets.asArrayRef(), printer);
}

/// Checks a transfer between registers and a buffer: one shape and element type, an encoding of the tensor's rank.
LogicalResult verifyTransfer(Operation *op, RankedTensorType tensor, MemDescType buffer) {
  if (tensor.getShape() != buffer.getShape()) {
    return op->emitOpError("tensor and buffer must have one shape: got ") << tensor << " and " << buffer;
  }
  if (tensor.getElementType() != buffer.getElementType()) {
    return op->emitOpError("tensor and buffer must have one element type: got ")
           << tensor.getElementType() << " and " << buffer.getElementType();
  }
  auto encoding = dyn_cast<LayoutEncodingTrait>(buffer.getEncoding());
  if (encoding && encoding.getRank() != tensor.getRank()) {
    return op->emitOpError("the buffer's encoding must have the tensor's rank ")
           << tensor.getRank() << ": got " << encoding.getRank();
  }
  return success();
}

/// Checks what a view keeps: element type, memory space, and that it may not be written where its source may not.
static LogicalResult verifyView(Operation *op, MemDescType source, MemDescType result) {
  if (source.getElementType() != result.getElementType()) {
    return op->emitOpError("source and result must have one element type: got ")
           << source.getElementType() << " and " << result.getElementType();
  }
  if (source.getMemorySpace() != result.getMemorySpace()) {
    return op->emitOpError("source and result must be in one memory space: got ")
           << source.getMemorySpace() << " and " << result.getMemorySpace();
  }
  if (result.getMutableMemory() && !source.getMutableMemory()) {
    return op->emitOpError("a view of an immutable buffer must be immutable");
  }
  return success();
}

// --- async_copy_global_to_local

LogicalResult AsyncCopyGlobalToLocalOp::verify() {
  auto buffer = getResult().getType();
  if (!buffer.getMutableMemory()) {
    return emitOpError("cannot write to an immutable buffer");
  }
  auto source = cast<RankedTensorType>(tt::getPointeeType(getSrc().getType()));
  if (source.getShape() != buffer.getShape() || source.getElementType() != buffer.getElementType()) {
    return emitOpError("pointers and buffer must have one shape and element type: got ") << source << " and " << buffer;
  }
  return success();
}

// --- local_alloc

void LocalAllocOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!getType().getMutableMemory()) {
    return;
  }
  effects.emplace_back(MemoryEffects::Allocate::get(), cast<OpResult>(getResult()), SharedMemory::get());
  if (getSrc()) {
    effects.emplace_back(MemoryEffects::Write::get(), cast<OpResult>(getResult()), SharedMemory::get());
  }
}

int32_t LocalAllocOp::getAlignmentOrDefault() {
  return getAlignment() ? int32_t(*getAlignment()) : cast<SharedEncodingTrait>(getType().getEncoding()).getAlignment();
}

LogicalResult LocalAllocOp::verify() {
  if (!isa<SharedMemorySpaceAttr>(getType().getMemorySpace())) {
    return emitOpError("allocates in shared memory: got ") << getType().getMemorySpace();
  }
  if (getType().isSlice()) {
    return emitOpError("result must not be a slice: got ") << getType();
  }
  if (!getSrc()) {
    return getType().getMutableMemory() ? success() : emitOpError("a buffer without initial value must be mutable");
  }
  return verifyTransfer(*this, cast<RankedTensorType>(getSrc().getType()), getType());
}

OpFoldResult LocalAllocOp::fold(FoldAdaptor) {
  // A copy of an immutable buffer is that buffer.
  if (getType().getMutableMemory() || !getSrc()) {
    return {};
  }
  auto load = getSrc().getDefiningOp<LocalLoadOp>();
  return load && load.getSrc().getType() == getType() ? OpFoldResult(load.getSrc()) : OpFoldResult();
}

// --- local_load, local_store

LogicalResult LocalLoadOp::verify() { return verifyTransfer(*this, getType(), getSrc().getType()); }

OpFoldResult LocalLoadOp::fold(FoldAdaptor) {
  // An immutable buffer still holds what it was made of.
  auto alloc = getSrc().getDefiningOp<LocalAllocOp>();
  if (!alloc || !alloc.getSrc() || alloc.getType().getMutableMemory()) {
    return {};
  }
  return alloc.getSrc().getType() == getType() ? OpFoldResult(alloc.getSrc()) : OpFoldResult();
}

LogicalResult LocalStoreOp::verify() {
  if (!getDst().getType().getMutableMemory()) {
    return emitOpError("cannot write to an immutable buffer");
  }
  return verifyTransfer(*this, getSrc().getType(), getDst().getType());
}

// --- Views

void MemDescIndexOp::build(OpBuilder &builder, OperationState &state, Value src, Value index) {
  auto type = cast<MemDescType>(src.getType());
  ArrayRef<int64_t> shape = type.getShape().drop_front();
  ArrayRef<int64_t> allocShape = type.isSlice() ? type.getAllocShape().take_back(shape.size()) : shape;
  build(builder, state,
        MemDescType::get(shape, type.getElementType(), type.getEncoding(), type.getMemorySpace(),
                         type.getMutableMemory(), allocShape),
        src, index);
}

LogicalResult MemDescIndexOp::verify() {
  auto source = getSrc().getType();
  auto result = getType();
  if (source.getRank() < 2) {
    return emitOpError("source must have at least two dimensions: got ") << source.getRank();
  }
  if (result.getShape() != source.getShape().drop_front()) {
    return emitOpError("result must have the source's shape without its first dimension: got ") << result;
  }
  if (result.getAllocShape().take_back(result.getRank()) != source.getAllocShape().take_back(result.getRank())) {
    return emitOpError("result must keep the alloc shape: got ") << result;
  }
  // A source placed by all its dimensions gives elements that are placed by one less.
  auto placement = dyn_cast<LayoutEncodingTrait>(source.getEncoding());
  bool isPlacedWhole = placement && placement.getRank() == source.getRank();
  if (result.getEncoding() != source.getEncoding() && !isPlacedWhole) {
    return emitOpError("source and result must have one encoding");
  }
  return verifyView(*this, source, result);
}

void MemDescSubsliceOp::build(OpBuilder &builder, OperationState &state, Value src, ArrayRef<int32_t> offsets,
                              ArrayRef<int64_t> shape) {
  auto type = cast<MemDescType>(src.getType());
  build(builder, state,
        MemDescType::get(shape, type.getElementType(), type.getEncoding(), type.getMemorySpace(),
                         type.getMutableMemory(), type.getAllocShape()),
        src, offsets);
}

/// Checks that the buffer is in shared memory and its encoding places all dimensions, so that they can change their
/// order or number.
static LogicalResult verifyWholeEncoding(Operation *op, MemDescType source) {
  if (!isa<SharedEncodingTrait>(source.getEncoding())) {
    return op->emitOpError("source must be in shared memory: got ") << source;
  }
  unsigned rank = cast<LayoutEncodingTrait>(source.getEncoding()).getRank();
  if (rank != source.getRank()) {
    return op->emitOpError("the source's encoding must have its rank ") << source.getRank() << ": got " << rank;
  }
  return success();
}

/// Checks that the slices of `source` along its dimensions do not cut a swizzle pattern: a bit of a coordinate that
/// tells slices apart is one bit of the offset, and no coordinate inside a slice touches that bit.
static LogicalResult verifySwizzle(Operation *op, MemDescType source, MemDescType result) {
  // A dimension that the encoding does not place counts copies of the rest, one after the other. Tensor memory has no
  // swizzle.
  if (!isa<SharedEncodingTrait>(source.getEncoding()) ||
      cast<LayoutEncodingTrait>(source.getEncoding()).getRank() != source.getRank()) {
    return success();
  }
  LinearLayout layout = toLinearLayout(source);
  if (!layout.isInvertible()) {
    return success();
  }
  LinearLayout offsets = layout.invert();
  uint64_t inside = 0;
  uint64_t between = 0;
  for (auto [dim, from, to] : llvm::enumerate(source.getShape(), result.getShape())) {
    ArrayRef<LinearLayout::Basis> bases = offsets.getBases(dimName(dim));
    for (auto [bit, basis] : llvm::enumerate(bases.take_front(llvm::Log2_64_Ceil(from)))) {
      bool isInside = (int64_t(1) << bit) < to;
      if (!isInside && !llvm::isPowerOf2_32(basis.front())) {
        return op->emitOpError("cannot split a swizzle pattern along dimension ") << dim;
      }
      (isInside ? inside : between) |= uint32_t(basis.front());
    }
  }
  if ((inside & between) != 0) {
    return op->emitOpError("cannot split a swizzle pattern");
  }
  return success();
}

LogicalResult MemDescSubsliceOp::verify() {
  auto source = getSrc().getType();
  auto result = getType();
  if (result.getRank() != source.getRank() || int64_t(getOffsets().size()) != source.getRank()) {
    return emitOpError("result and offsets must have the source's rank ") << source.getRank();
  }
  if (result.getAllocShape() != source.getAllocShape()) {
    return emitOpError("result must keep the alloc shape: got ") << result;
  }
  if (result.getEncoding() != source.getEncoding()) {
    return emitOpError("source and result must have one encoding");
  }
  for (auto [from, to, offset] : llvm::zip_equal(source.getShape(), result.getShape(), getOffsets())) {
    if (offset < 0 || offset + to > from) {
      return emitOpError("slice must lie inside the source: got offset ")
             << offset << " and size " << to << " of " << from;
    }
    if (offset % to != 0) {
      return emitOpError("offset must be a multiple of the result's size ") << to << ": got " << offset;
    }
  }
  if (failed(verifyView(*this, source, result))) {
    return failure();
  }
  if (source.getShape() == result.getShape()) {
    return success();
  }
  if (!getCGALayout(source.getEncoding()).isTrivial()) {
    return emitOpError("cannot slice a buffer that several CTAs share");
  }
  return verifySwizzle(*this, source, result);
}

/// Checks that `result` is `expected`, in layout if not in words.
static LogicalResult verifyViewType(Operation *op, FailureOr<MemDescType> expected, MemDescType result) {
  if (failed(expected)) {
    return op->emitOpError("no encoding says what this view of the source is");
  }
  if (result.getShape() != expected->getShape() ||
      result.getAllocShape().take_back(result.getRank()) != expected->getAllocShape()) {
    return op->emitOpError("has the wrong result shape: expected ") << *expected << ", got " << result;
  }
  unsigned rank = cast<LayoutEncodingTrait>(expected->getEncoding()).getRank();
  if (unsigned found = cast<LayoutEncodingTrait>(result.getEncoding()).getRank(); found != rank) {
    return op->emitOpError("the result's encoding must have its rank ") << rank << ": got " << found;
  }
  return verifyEncoding(op, expected->getAllocShape(), expected->getEncoding(), result.getEncoding());
}

void MemDescTransOp::build(OpBuilder &builder, OperationState &state, Value src, ArrayRef<int32_t> order) {
  build(builder, state, *inferTransType(cast<MemDescType>(src.getType()), order), src, order);
}

LogicalResult MemDescTransOp::verify() {
  auto source = getSrc().getType();
  SmallVector<int32_t> sorted(getOrder());
  llvm::sort(sorted);
  if (int64_t(sorted.size()) != source.getRank() || !llvm::equal(sorted, llvm::seq<int32_t>(0, source.getRank()))) {
    return emitOpError("order must be a permutation of the source's dimensions");
  }
  if (failed(verifyWholeEncoding(*this, source)) || failed(verifyView(*this, source, getType()))) {
    return failure();
  }
  return verifyViewType(*this, inferTransType(source, getOrder()), getType());
}

OpFoldResult MemDescTransOp::fold(FoldAdaptor) {
  bool isIdentity = llvm::equal(getOrder(), llvm::seq<int32_t>(0, getType().getRank()));
  return isIdentity && getSrc().getType() == getType() ? OpFoldResult(getSrc()) : OpFoldResult();
}

void MemDescReshapeOp::build(OpBuilder &builder, OperationState &state, Value src, ArrayRef<int64_t> shape) {
  build(builder, state, *inferReshapeType(cast<MemDescType>(src.getType()), shape), src);
}

LogicalResult MemDescReshapeOp::verify() {
  auto source = getSrc().getType();
  if (source.getNumElements() != getType().getNumElements()) {
    return emitOpError("source and result must have as many elements: got ")
           << source.getNumElements() << " and " << getType().getNumElements();
  }
  if (source.isSlice()) {
    return emitOpError("source must not be a slice: got ") << source;
  }
  if (failed(verifyWholeEncoding(*this, source)) || failed(verifyView(*this, source, getType()))) {
    return failure();
  }
  return verifyViewType(*this, inferReshapeType(source, getType().getShape()), getType());
}

OpFoldResult MemDescReinterpretOp::fold(FoldAdaptor) {
  return getSrc().getType() == getType() ? OpFoldResult(getSrc()) : OpFoldResult();
}

} // namespace jitk::ir::ttg

#define GET_OP_CLASSES
#include "src/ir/ttg/TtgOps.cpp.inc"
