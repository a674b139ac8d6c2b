#include "src/passes/pipelining/TileSource.h"

#include "src/passes/TileMaps.h"
#include "src/passes/pipelining/Signs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
  auto function = argument && argument.getOwner()->isEntryBlock()
                      ? dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp())
                      : nullptr;
  return function && function.getArgAttr(argument.getArgNumber(), mark) ? argument : nullptr;
}

/// Whether it is known to be 1 or more wherever the kernel runs.
bool isPositive(const TileSource::Size &size) {
  return size.parameter ? bool(markedParameter(size.parameter, kPositiveParameter)) : size.constant > 0;
}

std::optional<int64_t> splatConstant(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) ? std::optional(constant.getSExtValue()) : std::nullopt;
}

/// Takes pointers apart, from the last offset to the base.
class PointerMatcher {
public:
  std::optional<TileSource> match(Value pointers, Value mask) {
    bool isTile = takePointers(pointers) && numRowCounts_ == 1 && numColumnCounts_ == 1 && hasStride_;
    bool isMap = isTile && (!mask || takeMask(mask)) && beginsWithinRows();
    return isMap ? std::optional(std::move(source_)) : std::nullopt;
  }

private:
  bool takePointers(Value pointers);
  /// Takes the mask of the tile's rows, or columns, that are less than a size; or of both.
  bool takeMask(Value mask);
  /// The same of a vector along a dimension, whose other one may be there with size 1.
  bool takeEnd(Value vector, unsigned dim);
  /// Adds an offset. `isScaled`: it counts rows, of `stride` elements each. `dim` is the dimension of the tile along
  /// which a tensor of one dimension runs.
  bool takeOffset(Value offset, bool isScaled, unsigned dim);
  bool takeProduct(arith::MulIOp product, unsigned dim);
  bool takeStride(Value factor);
  /// Whether the tile begins at column 0 or right of it: left of it lies the end of the row above, which a pointer
  /// reaches, and TMA does not. Rows above the first are taken as those that nobody reads.
  bool beginsWithinRows() const;
  /// Adds to a coordinate a scalar, which may be null, and a constant, both of the sum of 32 bits at hand.
  bool add(Value term, int64_t constant, bool isScaled);

  TileSource source_;
  /// Sums of 32 bits are numbered as they are found, for what 64 bits add up of two of them may not fit a coordinate.
  int numSums_ = 1, rowSum_ = 0, columnSum_ = 0; ///< and those that the coordinates are; 0: none so far
  bool hasStride_ = false;
  int numRowCounts_ = 0, numColumnCounts_ = 0; ///< how often the rows, and the columns, of the tile are counted
};

} // namespace

bool PointerMatcher::takePointers(Value pointers) {
  Operation *op = pointers.getDefiningOp();
  return op && llvm::TypeSwitch<Operation *, bool>(op)
                   .Case([&](tt::AddPtrOp add) {
                     auto type = dyn_cast<RankedTensorType>(add.getOffset().getType());
                     ++numSums_; // addresses add up 64 bits
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

/// The size that all elements of a tensor are.
static std::optional<TileSource::Size> sizeOf(Value tensor) {
  auto splat = tensor.getDefiningOp<tt::SplatOp>();
  Value scalar = splat ? splat.getSrc() : Value();
  if (auto widened = scalar ? scalar.getDefiningOp<arith::ExtSIOp>() : nullptr) {
    scalar = widened.getIn();
  }
  if (BlockArgument parameter = scalar ? markedParameter(scalar, kSizeParameter) : BlockArgument()) {
    return TileSource::Size{parameter, 0};
  }
  std::optional<int64_t> constant = splatConstant(tensor);
  return constant ? std::optional(TileSource::Size{BlockArgument(), *constant}) : std::nullopt;
}

bool PointerMatcher::takeStride(Value factor) {
  std::optional<TileSource::Size> size = sizeOf(factor);
  if (!size || (hasStride_ && *size != source_.stride)) {
    return false;
  }
  source_.stride = *size;
  return hasStride_ = true;
}

bool PointerMatcher::takeMask(Value mask) {
  Operation *op = mask.getDefiningOp();
  return op && llvm::TypeSwitch<Operation *, bool>(op)
                   .Case([&](arith::AndIOp both) { return takeMask(both.getLhs()) && takeMask(both.getRhs()); })
                   .Case([&](tt::BroadcastOp spread) { return takeMask(spread.getSrc()); })
                   .Case([&](tt::ExpandDimsOp expand) { return takeEnd(expand.getSrc(), 1 - expand.getAxis()); })
                   .Case([&](arith::CmpIOp comparison) {
                     auto type = cast<RankedTensorType>(comparison.getType());
                     bool isOfOne = type.getRank() == 2 && (type.getDimSize(0) == 1) != (type.getDimSize(1) == 1);
                     return isOfOne && takeEnd(mask, type.getDimSize(0) == 1 ? 1 : 0);
                   })
                   .Default(false);
}

bool PointerMatcher::takeEnd(Value vector, unsigned dim) {
  auto comparison = vector.getDefiningOp<arith::CmpIOp>();
  bool isLess = comparison && comparison.getPredicate() == arith::CmpIPredicate::slt;
  std::optional<TileSource::Size> end = isLess ? sizeOf(comparison.getRhs()) : std::nullopt;
  std::optional<TileSource::Size> &known = dim == 0 ? source_.numRows : source_.numColumns;
  if (!end || !isPositive(*end) || known) {
    return false;
  }
  known = end;
  PointerMatcher compared;
  // Of the numbers compared, a product counts rows, too.
  bool isCount = compared.takeOffset(comparison.getLhs(), /*isScaled=*/dim == 0, dim) && !compared.hasStride_ &&
                 (dim == 0 ? compared.numRowCounts_ : compared.numColumnCounts_) == 1;
  auto sorted = [](const TileSource::Coordinate &coordinate) {
    SmallVector<Value> terms = coordinate.terms;
    llvm::sort(terms, [](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); });
    return std::pair(terms, coordinate.constant);
  };
  auto along = [&](const TileSource &source) { return sorted(dim == 0 ? source.row : source.column); };
  return isCount && along(compared.source_) == along(source_);
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

bool PointerMatcher::add(Value term, int64_t constant, bool isScaled) {
  TileSource::Coordinate &coordinate = isScaled ? source_.row : source_.column;
  int &sum = isScaled ? rowSum_ : columnSum_;
  if (!term && constant == 0) {
    return true;
  }
  if (term) {
    coordinate.terms.push_back(term);
  }
  coordinate.constant += constant;
  bool isOneSum = sum == 0 || sum == numSums_;
  sum = numSums_;
  return isOneSum && llvm::isInt<32>(coordinate.constant);
}

bool PointerMatcher::beginsWithinRows() const {
  return source_.row.constant >= 0 && source_.column.constant >= 0 && llvm::all_of(source_.column.terms, isNotNegative);
}

/// The scalar of 32 bits that is spread to `splat`, or widened first; null if it has other bits.
static Value spreadI32(tt::SplatOp splat) {
  Value scalar = splat.getSrc();
  if (auto widened = scalar.getDefiningOp<arith::ExtSIOp>(); widened && !scalar.getType().isInteger(32)) {
    scalar = widened.getIn();
  }
  return scalar.getType().isInteger(32) ? scalar : Value();
}

bool PointerMatcher::takeOffset(Value offset, bool isScaled, unsigned dim) {
  if (!getElementTypeOrSelf(offset.getType()).isInteger(32)) {
    ++numSums_;
  }
  if (std::optional<int64_t> constant = splatConstant(offset)) {
    return add({}, *constant, isScaled);
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
               Value term = spreadI32(splat);
               return term && add(term, 0, isScaled);
             })
             .Case([&](tt::MakeRangeOp range) {
               ++(isScaled ? numRowCounts_ : numColumnCounts_);
               return dim == (isScaled ? 0u : 1u) && add({}, range.getStart(), isScaled);
             })
             .Default(false);
}

/// Whether a size is known to be a multiple of `bytes` where it counts elements of `elementBytes`.
static bool isMultiple(const TileSource::Size &size, int64_t elementBytes) {
  if (!size.parameter) {
    return size.constant > 0 && size.constant * elementBytes % kAlignment == 0;
  }
  auto function = cast<tt::FuncOp>(size.parameter.getOwner()->getParentOp());
  auto divisor = function.getArgAttrOfType<IntegerAttr>(size.parameter.getArgNumber(), "tt.divisibility");
  return divisor && divisor.getInt() * elementBytes % kAlignment == 0;
}

/// Whether `value` is the parameter, or the multiples of a constant that it has room for: positive only if it is.
static bool isWithin(Value value, BlockArgument parameter) {
  if (auto product = value.getDefiningOp<arith::MulIOp>()) {
    auto quotient = product.getLhs().getDefiningOp<arith::DivSIOp>();
    std::optional<int64_t> factor = splatConstant(product.getRhs());
    return quotient && factor && *factor > 0 && splatConstant(quotient.getRhs()) == factor &&
           isWithin(quotient.getLhs(), parameter);
  }
  auto widened = value.getDefiningOp<arith::ExtSIOp>();
  return widened ? isWithin(widened.getIn(), parameter) : value == parameter;
}

/// Whether it is known to be 1 or more wherever the body of the loop runs.
static bool isPositiveIn(scf::ForOp loop, const TileSource::Size &size) {
  std::optional<int64_t> begin = splatConstant(loop.getLowerBound());
  bool isNotWithout = size.parameter && !loop.getUnsignedCmp() && begin && *begin >= 0 &&
                      isWithin(loop.getUpperBound(), size.parameter);
  return isNotWithout || isPositive(size);
}

ttg::MemDescType tileBufferType(ArrayRef<int64_t> shape, Type elementType) {
  MLIRContext *context = elementType.getContext();
  auto layout = ttg::NVMMASharedEncodingAttr::get(context, shape, {1, 0}, ttg::CGAEncodingAttr::getTrivial(context, 2),
                                                  elementType, /*fp4Padded=*/false);
  return ttg::MemDescType::get(shape, elementType, layout, ttg::SharedMemorySpaceAttr::get(context),
                               /*mutableMemory=*/true);
}

std::optional<TileSource> matchTile(Value pointers, Value mask, ttg::MemDescType buffer, scf::ForOp loop) {
  auto type = cast<RankedTensorType>(pointers.getType());
  if (type.getRank() != 2 || buffer.getRank() != 2 || buffer.getDimSize(0) != type.getDimSize(0) ||
      type.getDimSize(1) % buffer.getDimSize(1) != 0) {
    return std::nullopt;
  }
  std::optional<TileSource> source = PointerMatcher().match(pointers, mask);
  int64_t elementBytes = buffer.getElementTypeBitWidth() / 8;
  bool hasRows = source && (loop ? isPositiveIn(loop, source->stride) : isPositive(source->stride));
  if (!hasRows || buffer.getEncoding() != tileBufferType(buffer.getShape(), buffer.getElementType()).getEncoding() ||
      !isMultiple({source->base, 0}, 1) || !isMultiple(source->stride, elementBytes)) {
    return std::nullopt;
  }
  return source;
}

std::optional<TileSource> matchTileSource(ttg::AsyncCopyGlobalToLocalOp copy) {
  auto type = cast<RankedTensorType>(copy.getSrc().getType());
  ttg::MemDescType buffer = copy.getResult().getType();
  auto loop = copy->getParentOfType<scf::ForOp>();
  bool isWhole = loop && buffer.getShape() == type.getShape();
  return isWhole ? matchTile(copy.getSrc(), copy.getMask(), buffer, loop) : std::nullopt;
}

Value tileMapOf(const TileSource &source, ttg::MemDescType buffer) {
  auto function = cast<tt::FuncOp>(source.base.getOwner()->getParentOp());
  Builder b(function.getContext());
  Type type =
      tt::TensorDescType::get(RankedTensorType::get(buffer.getShape(), buffer.getElementType(), buffer.getEncoding()));
  auto numberOf = [](const TileSource::Size &size) {
    return size.parameter ? int64_t(size.parameter.getArgNumber()) : -1;
  };
  const TileSource::Size kNoEnd = {BlockArgument(), kEndless};
  TileSource::Size lastRow = source.numRows.value_or(kNoEnd), lastColumn = source.numColumns.value_or(kNoEnd);
  Attribute rows =
      b.getDenseI64ArrayAttr({int64_t(source.base.getArgNumber()), numberOf(source.stride), source.stride.constant,
                              numberOf(lastRow), lastRow.constant, numberOf(lastColumn), lastColumn.constant});
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
