// Rules and effects of the ops that GPUs support. Where the conversion to TTGIR has a message for a violation, the
// verifier that sees it first says the same.

#include "src/ir/tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"

namespace jitk::ir::tile {
using namespace mlir;

static SmallVector<int64_t> numbersOf(ArrayAttr array) {
  return llvm::map_to_vector(array, [](Attribute element) { return cast<IntegerAttr>(element).getInt(); });
}

// --- alloc

LogicalResult AllocOp::verify() {
  auto type = getType();
  if (getSpace() != type.getSpace()) {
    return emitOpError("space must be that of the result: wanted ")
           << stringifyMemorySpace(type.getSpace()) << ", got " << stringifyMemorySpace(getSpace());
  }
  if (getShape() && ArrayRef(numbersOf(*getShape())) != type.getShape()) {
    return emitOpError("shape must be that of the result: got ") << *getShape();
  }
  if (getDtype() && *getDtype() != type.getElementType()) {
    return emitOpError("dtype must be the element type of the result ")
           << type.getElementType() << ": got " << *getDtype();
  }
  return success();
}

// --- subview

static ParseResult parseSubviewOffsets(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &offsets,
                                       SmallVectorImpl<Type> &types) {
  if (parser.parseOperandList(offsets)) {
    return failure();
  }
  if (succeeded(parser.parseOptionalColon())) {
    return parser.parseTypeList(types);
  }
  types.assign(offsets.size(), parser.getBuilder().getIndexType());
  return success();
}

static void printSubviewOffsets(OpAsmPrinter &printer, Operation *, OperandRange offsets, TypeRange types) {
  printer << offsets;
  if (!llvm::all_of(types, [](Type type) { return type.isIndex(); })) {
    printer << " : " << types;
  }
}

void SubviewOp::build(OpBuilder &builder, OperationState &state, BufType type, Value src, ValueRange offsets) {
  SmallVector<int64_t> strides(type.getShape().size(), 1);
  build(builder, state, type, src, offsets, builder.getI64ArrayAttr(type.getShape()), builder.getI64ArrayAttr(strides));
}

/// Checks an offset that is known: `offset` elements into `source`, of which the view takes `size`.
static LogicalResult verifyOffset(SubviewOp op, Value offset, int64_t source, int64_t size) {
  APInt value;
  if (!matchPattern(offset, m_ConstantInt(&value))) {
    return success();
  }
  if (value.isNegative() || value.getSExtValue() > source - size) {
    return op.emitOpError("tile.subview offset is outside the source buffer");
  }
  return success();
}

/// One element along the first dimension: the other offsets are zero and the other sizes stay.
static LogicalResult verifyRankReducing(SubviewOp op) {
  ArrayRef<int64_t> source = op.getSrc().getType().getShape();
  if (op.getType().getShape() != source.drop_front()) {
    return op.emitOpError("rank-reducing tile.subview must preserve trailing shape");
  }
  for (Value offset : op.getOffsets().drop_front()) {
    if (!matchPattern(offset, m_Zero())) {
      return op.emitOpError("rank-reducing tile.subview requires zero trailing offsets");
    }
  }
  return verifyOffset(op, op.getOffsets().front(), source.front(), /*size=*/1);
}

static LogicalResult verifySameRank(SubviewOp op) {
  for (auto [offset, source, size] :
       llvm::zip_equal(op.getOffsets(), op.getSrc().getType().getShape(), op.getType().getShape())) {
    if (failed(verifyOffset(op, offset, source, size))) {
      return failure();
    }
  }
  return success();
}

LogicalResult SubviewOp::verify() {
  auto source = getSrc().getType();
  auto result = getType();
  size_t sourceRank = source.getShape().size();
  size_t resultRank = result.getShape().size();
  for (Type type : getOffsets().getTypes()) {
    if (!type.isIndex() && !type.isInteger(32)) {
      return emitOpError("expected an index or i32 TileIR subview offset: got ") << type;
    }
  }
  if (getOffsets().size() != sourceRank || getSizes().size() != resultRank || getStrides().size() != resultRank) {
    return emitOpError("GPU tile.subview requires source-rank offsets and result-rank sizes and strides");
  }
  if (ArrayRef(numbersOf(getSizes())) != result.getShape()) {
    return emitOpError("tile.subview sizes must match its result shape");
  }
  if (source.getElementType() != result.getElementType() || source.getSpace() != result.getSpace()) {
    return emitOpError("source and result must agree in element type and memory space");
  }
  if (!llvm::all_of(numbersOf(getStrides()), [](int64_t stride) { return stride == 1; })) {
    return emitOpError("GPU tile.subview requires unit strides");
  }
  if (resultRank + 1 == sourceRank) {
    return verifyRankReducing(*this);
  }
  if (resultRank == sourceRank) {
    return verifySameRank(*this);
  }
  return emitOpError("unsupported tile.subview rank change");
}

/// Checks that `tensor` is the whole of `buffer`.
static LogicalResult verifyWhole(Operation *op, ShapedType tensor, BufType buffer) {
  if (tensor.getShape() != buffer.getShape() || tensor.getElementType() != buffer.getElementType()) {
    return op->emitOpError("requires a full-buffer tensor with matching shape and element type");
  }
  return success();
}

// --- copy

void CopyOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  auto memoryOf = [](Value side) -> SideEffects::Resource * {
    return isa<BufType>(side.getType()) ? static_cast<SideEffects::Resource *>(BufferMemory::get())
                                        : tt::GlobalMemory::get();
  };
  effects.emplace_back(MemoryEffects::Read::get(), &getSrcMutable(), memoryOf(getSrc()));
  effects.emplace_back(MemoryEffects::Write::get(), &getDstMutable(), memoryOf(getDst()));
}

LogicalResult CopyOp::verify() {
  // What other targets copy is not restricted; between global memory and a buffer the whole buffer moves.
  bool fromBuffer = isa<BufType>(getSrc().getType());
  auto buffer = dyn_cast<BufType>(fromBuffer ? getSrc().getType() : getDst().getType());
  auto pointers = dyn_cast<RankedTensorType>(fromBuffer ? getDst().getType() : getSrc().getType());
  if (!buffer || !pointers || !isa<tt::PointerType>(pointers.getElementType())) {
    return success();
  }
  return verifyWhole(*this, cast<ShapedType>(tt::getPointeeType(pointers)), buffer);
}

// --- to_tensor, store_tensor

void ToTensorOp::build(OpBuilder &builder, OperationState &state, Value src) {
  auto buffer = cast<BufType>(src.getType());
  build(builder, state, RankedTensorType::get(buffer.getShape(), buffer.getElementType()), src);
}

LogicalResult ToTensorOp::verify() { return verifyWhole(*this, getType(), getSrc().getType()); }

LogicalResult StoreTensorOp::verify() {
  auto tensor = dyn_cast<RankedTensorType>(getSrc().getType());
  return tensor ? verifyWhole(*this, tensor, getDst().getType()) : success();
}

} // namespace jitk::ir::tile

#define GET_OP_CLASSES
#include "src/ir/tile/TileOps.cpp.inc"
