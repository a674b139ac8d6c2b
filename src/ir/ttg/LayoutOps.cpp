// Changes of layout.

#include "src/ir/ttg/InferEncodings.h"

#include "mlir/IR/PatternMatch.h"

namespace jitk::ir::ttg {
using namespace mlir;

// --- convert_layout

void ConvertLayoutOp::build(OpBuilder &builder, OperationState &state, Value src, Attribute encoding) {
  build(builder, state, cast<RankedTensorType>(src.getType()).cloneWithEncoding(encoding), src);
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  return getSrc().getType() == getType() ? OpFoldResult(getSrc()) : OpFoldResult();
}

namespace {

/// A conversion of a conversion is one conversion.
struct MergeConversions : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op, PatternRewriter &rewriter) const final {
    auto inner = op.getSrc().getDefiningOp<ConvertLayoutOp>();
    if (!inner) {
      return failure();
    }
    rewriter.replaceOpWithNewOp<ConvertLayoutOp>(op, op.getType(), inner.getSrc());
    return success();
  }
};

/// What every thread can make by itself is made in the layout that is wanted.
struct ConvertSource : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op, PatternRewriter &rewriter) const final {
    Operation *source = op.getSrc().getDefiningOp();
    if (auto splat = dyn_cast_or_null<tt::SplatOp>(source)) {
      rewriter.replaceOpWithNewOp<tt::SplatOp>(op, op.getType(), splat.getSrc());
      return success();
    }
    if (auto range = dyn_cast_or_null<tt::MakeRangeOp>(source)) {
      rewriter.replaceOpWithNewOp<tt::MakeRangeOp>(op, op.getType(), range.getStart(), range.getEnd());
      return success();
    }
    if (DenseElementsAttr constant; matchPattern(op.getSrc(), m_Constant(&constant))) {
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, constant.reshape(op.getType()));
      return success();
    }
    return failure();
  }
};

/// Loads from shared memory straight into the layout that is wanted. The buffer may change between the load and the
/// conversion, so the load stays where it is.
struct LoadConverted : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op, PatternRewriter &rewriter) const final {
    auto load = op.getSrc().getDefiningOp<LocalLoadOp>();
    if (!load || !load->hasOneUse()) {
      return failure();
    }
    rewriter.setInsertionPoint(load);
    rewriter.replaceOpWithNewOp<LocalLoadOp>(op, op.getType(), load.getSrc(), load.getToken());
    return success();
  }
};

} // namespace

void ConvertLayoutOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeConversions, ConvertSource, LoadConverted>(context);
}

// --- fp4_to_fp

LogicalResult Fp4ToFpOp::verify() {
  auto source = getSrc().getType();
  if (getAxis() >= source.getRank()) {
    return emitOpError("axis must be less than the rank ") << source.getRank() << ": got " << getAxis();
  }
  SmallVector<int64_t> shape(source.getShape());
  shape[getAxis()] *= 2;
  if (getType().getShape() != ArrayRef(shape)) {
    return emitOpError("result must have the source's shape with the axis doubled: got ") << getType();
  }
  Attribute expected = inferFp4ToFpEncoding(source.getShape(), source.getEncoding(), getAxis());
  return verifyEncoding(*this, shape, expected, getType().getEncoding());
}

} // namespace jitk::ir::ttg
