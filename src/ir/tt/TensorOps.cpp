// Ops that make tensors and change their shape.

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/InferEncodings.h"

#include "mlir/IR/PatternMatch.h"

namespace jitk::ir::tt {
using namespace mlir;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// A splat constant in the shape and encoding of `type`; null if `constant` is not a splat.
static Attribute resplat(Attribute constant, Type type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(constant);
  return splat ? splat.resizeSplat(cast<ShapedType>(type)) : Attribute();
}

namespace {

/// A change of shape of a splat is a splat of the new shape.
template <typename Op> struct ReshapeSplat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const final {
    auto splat = op.getSrc().template getDefiningOp<SplatOp>();
    if (!splat) {
      return failure();
    }
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
    return success();
  }
};

} // namespace

// --- addptr

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  return matchPattern(adaptor.getOffset(), m_Zero()) ? OpFoldResult(getPtr()) : OpFoldResult();
}

// --- splat, unsplat

void SplatOp::build(OpBuilder &builder, OperationState &state, Value src, ArrayRef<int64_t> shape, Attribute encoding) {
  build(builder, state, RankedTensorType::get(shape, src.getType(), encoding), src);
}

LogicalResult SplatOp::verify() {
  Type element = getType().getElementType();
  if (getSrc().getType() != element) {
    return emitOpError("source type must be the result's element type ") << element << ": got " << getSrc().getType();
  }
  return success();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  Attribute value = adaptor.getSrc();
  return isa_and_nonnull<FloatAttr, IntegerAttr>(value) ? SplatElementsAttr::get(getType(), value) : Attribute();
}

LogicalResult UnsplatOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  types.push_back(tensorType(operands[0]).getElementType());
  return success();
}

LogicalResult UnsplatOp::verify() {
  if (getSrc().getType().getNumElements() != 1) {
    return emitOpError("source must have one element: got ") << getSrc().getType();
  }
  return success();
}

// --- expand_dims, broadcast

void ExpandDimsOp::build(OpBuilder &builder, OperationState &state, Value src, unsigned axis) {
  auto type = tensorType(src);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axis, 1);
  FailureOr<Attribute> encoding = ttg::inferExpandDimsEncoding(type.getEncoding(), axis);
  build(builder, state, RankedTensorType::get(shape, type.getElementType(), encoding.value_or(Attribute())), src, axis);
}

LogicalResult ExpandDimsOp::verify() {
  auto source = getSrc().getType();
  if (getAxis() > source.getRank()) {
    return emitOpError("axis must be at most the source rank ") << source.getRank() << ": got " << getAxis();
  }
  SmallVector<int64_t> shape(source.getShape());
  shape.insert(shape.begin() + getAxis(), 1);
  if (getType().getShape() != ArrayRef(shape) || getType().getElementType() != source.getElementType()) {
    return emitOpError("result must be the source with a dimension of size 1 at the axis: got ") << getType();
  }
  FailureOr<Attribute> expected = ttg::inferExpandDimsEncoding(source.getEncoding(), getAxis());
  if (failed(expected)) {
    return emitOpError("source encoding must be a slice along the axis: got ") << source.getEncoding();
  }
  return ttg::verifyEncoding(*this, shape, *expected, getType().getEncoding());
}

void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReshapeSplat<ExpandDimsOp>>(context);
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) { return resplat(adaptor.getSrc(), getType()); }

void BroadcastOp::build(OpBuilder &builder, OperationState &state, Value src, ArrayRef<int64_t> shape) {
  build(builder, state, tensorType(src).clone(shape), src);
}

LogicalResult BroadcastOp::verify() {
  auto source = getSrc().getType();
  auto result = getType();
  if (source.getRank() != result.getRank() || source.getElementType() != result.getElementType()) {
    return emitOpError("result must have the source's rank and element type: got ") << result;
  }
  for (auto [from, to] : llvm::zip(source.getShape(), result.getShape())) {
    if (from != to && from != 1) {
      return emitOpError("repeats only dimensions of size 1: got ") << from;
    }
  }
  return success();
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReshapeSplat<BroadcastOp>>(context);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType()) {
    return getSrc();
  }
  return resplat(adaptor.getSrc(), getType());
}

// --- reshape, trans

void ReshapeOp::build(OpBuilder &builder, OperationState &state, Value src, ArrayRef<int64_t> shape, Attribute encoding,
                      bool allowReorder) {
  auto type = tensorType(src);
  if (!encoding && type.getEncoding()) {
    encoding = ttg::inferReshapeEncoding(type.getShape(), type.getEncoding(), shape);
  }
  build(builder, state, RankedTensorType::get(shape, type.getElementType(), encoding), src, allowReorder,
        /*efficient_layout=*/false);
}

LogicalResult ReshapeOp::verify() {
  auto source = getSrc().getType();
  auto result = getType();
  if (source.getNumElements() != result.getNumElements() || source.getElementType() != result.getElementType()) {
    return emitOpError("result must have the source's number and type of elements: got ") << result;
  }
  if (getAllowReorder()) {
    return success();
  }
  Attribute expected = ttg::inferReshapeEncoding(source.getShape(), source.getEncoding(), result.getShape());
  return ttg::verifyEncoding(*this, result.getShape(), expected, result.getEncoding());
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReshapeSplat<ReshapeOp>>(context);
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() && !getAllowReorder()) {
    return getSrc();
  }
  return resplat(adaptor.getSrc(), getType());
}

void TransOp::build(OpBuilder &builder, OperationState &state, Value src, ArrayRef<int32_t> order) {
  auto type = tensorType(src);
  SmallVector<int64_t> shape;
  for (int32_t dim : order) {
    shape.push_back(type.getDimSize(dim));
  }
  Attribute encoding = ttg::inferTransEncoding(type.getShape(), type.getEncoding(), order);
  build(builder, state, RankedTensorType::get(shape, type.getElementType(), encoding), src, order);
}

LogicalResult TransOp::verify() {
  auto source = getSrc().getType();
  auto result = getType();
  SmallVector<int32_t> sorted(getOrder());
  llvm::sort(sorted);
  if (int64_t(sorted.size()) != source.getRank() || !llvm::equal(sorted, llvm::seq<int32_t>(0, source.getRank()))) {
    return emitOpError("order must be a permutation of the source's dimensions");
  }
  SmallVector<int64_t> shape;
  for (int32_t dim : getOrder()) {
    shape.push_back(source.getDimSize(dim));
  }
  if (result.getShape() != ArrayRef(shape) || result.getElementType() != source.getElementType()) {
    return emitOpError("result must be the permuted source: got ") << result;
  }
  Attribute expected = ttg::inferTransEncoding(source.getShape(), source.getEncoding(), getOrder());
  return ttg::verifyEncoding(*this, result.getShape(), expected, result.getEncoding());
}

void TransOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReshapeSplat<TransOp>>(context);
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() && llvm::equal(getOrder(), llvm::seq<int32_t>(0, getType().getRank()))) {
    return getSrc();
  }
  return resplat(adaptor.getSrc(), getType());
}

// --- join, split, cat

void JoinOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs) {
  auto type = tensorType(lhs);
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  Attribute encoding = ttg::inferJoinEncoding(type.getShape(), type.getEncoding());
  build(builder, state, RankedTensorType::get(shape, type.getElementType(), encoding), lhs, rhs);
}

/// Checks that `joined` is `part` with a new minor dimension of size 2.
static LogicalResult verifyJoinedShape(Operation *op, RankedTensorType part, RankedTensorType joined) {
  SmallVector<int64_t> shape(part.getShape());
  shape.push_back(2);
  if (joined.getShape() != ArrayRef(shape) || joined.getElementType() != part.getElementType()) {
    return op->emitOpError("needs a minor dimension of size 2 on one side: got ") << joined << " and " << part;
  }
  return success();
}

LogicalResult JoinOp::verify() {
  auto part = getLhs().getType();
  if (failed(verifyJoinedShape(*this, part, getType()))) {
    return failure();
  }
  Attribute expected = ttg::inferJoinEncoding(part.getShape(), part.getEncoding());
  return ttg::verifyEncoding(*this, getType().getShape(), expected, getType().getEncoding());
}

void SplitOp::build(OpBuilder &builder, OperationState &state, Value src) {
  auto type = tensorType(src);
  FailureOr<Attribute> encoding = ttg::inferSplitEncoding(type.getShape(), type.getEncoding());
  auto part = RankedTensorType::get(type.getShape().drop_back(), type.getElementType(), encoding.value_or(Attribute()));
  build(builder, state, part, part, src);
}

LogicalResult SplitOp::verify() {
  auto source = getSrc().getType();
  auto part = getOutLHS().getType();
  if (failed(verifyJoinedShape(*this, part, source))) {
    return failure();
  }
  FailureOr<Attribute> expected = ttg::inferSplitEncoding(source.getShape(), source.getEncoding());
  if (failed(expected)) {
    return emitOpError("both halves of an element must be in one thread: got ") << source.getEncoding();
  }
  return ttg::verifyEncoding(*this, part.getShape(), *expected, part.getEncoding());
}

LogicalResult CatOp::verify() {
  auto part = getLhs().getType();
  if (part.getElementType() != getType().getElementType() || 2 * part.getNumElements() != getType().getNumElements()) {
    return emitOpError("result must have twice the elements of an operand: got ") << getType();
  }
  return success();
}

// --- make_range, gather

void MakeRangeOp::build(OpBuilder &builder, OperationState &state, int32_t start, int32_t end, Attribute encoding) {
  build(builder, state, RankedTensorType::get({end - start}, builder.getI32Type(), encoding), start, end);
}

LogicalResult MakeRangeOp::verify() {
  int64_t start = int32_t(getStart());
  int64_t end = int32_t(getEnd());
  if (start >= end) {
    return emitOpError("start must be less than end: got ") << start << " and " << end;
  }
  if (getType().getRank() != 1 || getType().getDimSize(0) != end - start) {
    return emitOpError("result must have one dimension of ") << end - start << " elements: got " << getType();
  }
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                         OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  types.push_back(tensorType(operands[1]).clone(tensorType(operands[0]).getElementType()));
  return success();
}

LogicalResult GatherOp::verify() {
  auto source = getSrc().getType();
  auto indices = getIndices().getType();
  if (source.getRank() != indices.getRank()) {
    return emitOpError("indices must have the source's rank ") << source.getRank() << ": got " << indices.getRank();
  }
  if (getAxis() >= source.getRank()) {
    return emitOpError("axis must be less than the source rank ") << source.getRank() << ": got " << getAxis();
  }
  for (int64_t dim : llvm::seq<int64_t>(0, source.getRank())) {
    if (dim != getAxis() && source.getDimSize(dim) != indices.getDimSize(dim)) {
      return emitOpError("source and indices may differ along the axis only: they differ along ") << dim;
    }
  }
  return success();
}

} // namespace jitk::ir::tt
