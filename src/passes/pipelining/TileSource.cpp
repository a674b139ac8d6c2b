#include "src/passes/pipelining/TileSource.h"

#include "src/passes/TileMaps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

static constexpr int64_t kAlignment = 16; ///< what TMA asks of addresses and strides, in bytes

Value TileSource::Coordinate::at(OpBuilder &b, Location loc, const IRMapping &map) const {
  Value sum;
  for (Value term : terms) {
    Value value = map.lookupOrDefault(term);
    if (!value.getType().isInteger(32)) {
      value = arith::TruncIOp::create(b, loc, b.getI32Type(), value);
    }
    sum = sum ? arith::AddIOp::create(b, loc, sum, value).getResult() : value;
  }
  if (!sum || constant != 0) {
    Value rest = arith::ConstantIntOp::create(b, loc, constant, 32);
    sum = sum ? arith::AddIOp::create(b, loc, sum, rest).getResult() : rest;
  }
  return sum;
}

namespace {

/// What kind of function parameter it is, by the mark of it; null otherwise.
BlockArgument markedParameter(Value value, StringRef mark) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  return function && function.getArgAttr(argument.getArgNumber(), mark) ? argument : nullptr;
}

std::optional<int64_t> splatConstant(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) ? std::optional(constant.getSExtValue()) : std::nullopt;
}

/// Takes pointers apart, from the last offset to the base.
class PointerMatcher {
public:
  std::optional<TileSource> match(Value pointers) {
    bool isTile = takePointers(pointers) && numRowCounts_ == 1 && numColumnCounts_ == 1 && hasStride_;
    return isTile ? std::optional(std::move(source_)) : std::nullopt;
  }

private:
  bool takePointers(Value pointers);
  /// Adds an offset. `isScaled`: it counts rows, of `stride` elements each. `dim` is the dimension of the tile along
  /// which a tensor of one dimension runs.
  bool takeOffset(Value offset, bool isScaled, unsigned dim);
  bool takeProduct(arith::MulIOp product, unsigned dim);
  bool takeStride(Value factor);
  TileSource::Coordinate &coordinate(bool isScaled) { return isScaled ? source_.row : source_.column; }

  TileSource source_;
  bool hasStride_ = false;
  int numRowCounts_ = 0, numColumnCounts_ = 0; ///< how often the rows, and the columns, of the tile are counted
};

} // namespace

bool PointerMatcher::takePointers(Value pointers) {
  Operation *op = pointers.getDefiningOp();
  return op && llvm::TypeSwitch<Operation *, bool>(op)
                   .Case([&](tt::AddPtrOp add) {
                     auto type = dyn_cast<RankedTensorType>(add.getOffset().getType());
                     return type && type.getRank() == 2 && takeOffset(add.getOffset(), /*isScaled=*/false, 0) &&
                            takePointers(add.getPtr());
                   })
                   .Case([&](tt::BroadcastOp spread) { return takePointers(spread.getSrc()); })
                   .Case([&](tt::SplatOp splat) {
                     source_.base = markedParameter(splat.getSrc(), kTensorParameter);
                     return bool(source_.base);
                   })
                   .Default(false);
}

bool PointerMatcher::takeStride(Value factor) {
  auto splat = factor.getDefiningOp<tt::SplatOp>();
  Value scalar = splat ? splat.getSrc() : Value();
  if (auto widened = scalar ? scalar.getDefiningOp<arith::ExtSIOp>() : nullptr) {
    scalar = widened.getIn();
  }
  BlockArgument parameter = scalar ? markedParameter(scalar, kSizeParameter) : BlockArgument();
  std::optional<int64_t> constant = parameter ? 0 : splatConstant(factor);
  if (!constant || (hasStride_ && (parameter != source_.strideParameter || *constant != source_.stride))) {
    return false;
  }
  source_.strideParameter = parameter;
  source_.stride = *constant;
  return hasStride_ = true;
}

bool PointerMatcher::takeProduct(arith::MulIOp product, unsigned dim) {
  for (auto [factor, other] :
       {std::pair(product.getRhs(), product.getLhs()), std::pair(product.getLhs(), product.getRhs())}) {
    if (takeStride(factor)) {
      return takeOffset(other, /*isScaled=*/true, dim);
    }
  }
  return false;
}

bool PointerMatcher::takeOffset(Value offset, bool isScaled, unsigned dim) {
  if (std::optional<int64_t> constant = splatConstant(offset)) {
    coordinate(isScaled).constant += *constant;
    return true;
  }
  Operation *op = offset.getDefiningOp();
  return op &&
         llvm::TypeSwitch<Operation *, bool>(op)
             .Case([&](arith::AddIOp add) {
               return takeOffset(add.getLhs(), isScaled, dim) && takeOffset(add.getRhs(), isScaled, dim);
             })
             .Case([&](arith::MulIOp product) { return !isScaled && takeProduct(product, dim); })
             .Case([&](arith::ExtSIOp widened) { return takeOffset(widened.getIn(), isScaled, dim); })
             .Case([&](tt::BroadcastOp spread) { return takeOffset(spread.getSrc(), isScaled, dim); })
             // A row of the tile's columns has its first dimension expanded, and the reverse.
             .Case([&](tt::ExpandDimsOp expand) { return takeOffset(expand.getSrc(), isScaled, 1 - expand.getAxis()); })
             .Case([&](tt::SplatOp splat) {
               coordinate(isScaled).terms.push_back(splat.getSrc());
               return true;
             })
             .Case([&](tt::MakeRangeOp range) {
               coordinate(isScaled).constant += range.getStart();
               ++(isScaled ? numRowCounts_ : numColumnCounts_);
               return dim == (isScaled ? 0u : 1u);
             })
             .Default(false);
}

/// Whether a parameter, or a constant, is known to be a multiple of `bytes` where it counts elements of `elementBytes`.
static bool isMultiple(BlockArgument parameter, int64_t constant, int64_t elementBytes) {
  if (!parameter) {
    return constant > 0 && constant * elementBytes % kAlignment == 0;
  }
  auto function = cast<tt::FuncOp>(parameter.getOwner()->getParentOp());
  auto divisor = function.getArgAttrOfType<IntegerAttr>(parameter.getArgNumber(), "tt.divisibility");
  return divisor && divisor.getInt() * elementBytes % kAlignment == 0;
}

std::optional<TileSource> matchTileSource(Value pointers, ttg::MemDescType buffer) {
  auto type = cast<RankedTensorType>(pointers.getType());
  if (type.getRank() != 2 || buffer.getShape() != type.getShape()) {
    return std::nullopt;
  }
  std::optional<TileSource> source = PointerMatcher().match(pointers);
  // The layout that a tensor map for tiles of that shape writes.
  MLIRContext *context = buffer.getContext();
  auto layout = ttg::NVMMASharedEncodingAttr::get(context, buffer.getShape(), {1, 0},
                                                  ttg::CGAEncodingAttr::getTrivial(context, 2), buffer.getElementType(),
                                                  /*fp4Padded=*/false);
  int64_t elementBytes = buffer.getElementTypeBitWidth() / 8;
  if (!source || buffer.getEncoding() != layout || !isMultiple(source->base, 0, 1) ||
      !isMultiple(source->strideParameter, source->stride, elementBytes)) {
    return std::nullopt;
  }
  return source;
}

Value tileMapOf(const TileSource &source, ttg::MemDescType buffer) {
  auto function = cast<tt::FuncOp>(source.base.getOwner()->getParentOp());
  Builder b(function.getContext());
  Type type =
      tt::TensorDescType::get(RankedTensorType::get(buffer.getShape(), buffer.getElementType(), buffer.getEncoding()));
  int64_t stride = source.strideParameter ? int64_t(source.strideParameter.getArgNumber()) : -1;
  Attribute rows = b.getDenseI64ArrayAttr({int64_t(source.base.getArgNumber()), stride, source.stride});
  for (BlockArgument argument : function.getArguments()) {
    if (argument.getType() == type && function.getArgAttr(argument.getArgNumber(), kRowsOf) == rows) {
      return argument;
    }
  }
  unsigned index = function.getNumArguments();
  LogicalResult inserted =
      function.insertArgument(index, type, b.getDictionaryAttr(b.getNamedAttr(kRowsOf, rows)), function.getLoc());
  assert(succeeded(inserted));
  (void)inserted;
  return function.getArgument(index);
}

} // namespace jitk::passes
