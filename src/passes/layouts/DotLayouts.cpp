#include "src/passes/layouts/DotLayouts.h"

#include "src/ir/ttng/Ttng.h"
#include "src/passes/layouts/BufferReads.h"

#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

namespace {

/// The rows of wgmma's tile, and the columns that one instruction takes.
constexpr int64_t kWarpgroupRows = 64;
constexpr int64_t kMinWgmmaColumns = 8, kMaxWgmmaColumns = 256;
constexpr unsigned kWarpsPerWarpgroup = 4;
/// The tile of mma.sync, and the bits of K that one instruction of either kind takes.
constexpr int64_t kMmaRows = 16, kMmaColumns = 8;
constexpr int64_t kInstructionBitsOfK = 256;
/// The K that pairs of 32-bit elements in a thread take.
constexpr int64_t kPairedDepth = 16;
/// Products of fp8 are summed with few bits in the tensor cores: after so many of them the sum moves to f32.
constexpr int64_t kImpreciseProducts = 128;

class DotRewriter {
public:
  DotRewriter(tt::DotOp dot, unsigned capability)
      : dot_(dot), capability_(capability), numWarps_(ttg::lookupNumWarps(dot)), builder_(dot),
        context_(dot.getContext()) {
    auto lhs = cast<RankedTensorType>(dot.getA().getType());
    rows_ = lhs.getShape()[lhs.getRank() - 2];
    depth_ = lhs.getShape().back();
    columns_ = cast<RankedTensorType>(dot.getB().getType()).getShape().back();
    element_ = lhs.getElementType();
  }

  void run();

private:
  void widenFp8();
  bool isOnTensorCores();
  bool isOnWgmma();
  bool isReadableByWgmma(Value operand, bool isRight);
  bool isChained();

  void rewriteForWgmma();
  Value spill(Value operand);
  int64_t impreciseProducts();
  void rewriteForMma();
  SmallVector<unsigned> warpsForMma();
  void rewriteForFma();
  void setResultLayout(Attribute layout);
  Value readTransposed(Value operand);

  tt::DotOp dot_;
  unsigned capability_;
  unsigned numWarps_;
  OpBuilder builder_;
  MLIRContext *context_;
  int64_t rows_, columns_, depth_;
  Type element_;
};

} // namespace

static bool isFp8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// What a conversion to a wider type made `operand` of; else `operand`.
static Value beforeWidening(Value operand) {
  auto widening = operand.getDefiningOp<tt::FpToFpOp>();
  return widening ? widening.getSrc() : operand;
}

static Value transposeBuffer(OpBuilder &builder, Location loc, Value buffer) {
  return ttg::MemDescTransOp::create(builder, loc, buffer, ArrayRef<int32_t>{1, 0});
}

void DotRewriter::run() {
  if (isFp8(element_) && capability_ < 89) {
    widenFp8();
  }
  if (!isOnTensorCores()) {
    rewriteForFma();
  } else if (isOnWgmma()) {
    rewriteForWgmma();
  } else {
    rewriteForMma();
  }
}

void DotRewriter::widenFp8() {
  auto widen = [&](Value operand) -> Value {
    auto type = cast<RankedTensorType>(operand.getType());
    return tt::FpToFpOp::create(builder_, dot_.getLoc(), type.clone(builder_.getF16Type()), operand,
                                tt::RoundingModeAttr());
  };
  dot_.getAMutable().assign(widen(dot_.getA()));
  dot_.getBMutable().assign(widen(dot_.getB()));
  element_ = builder_.getF16Type();
}

bool DotRewriter::isOnTensorCores() {
  auto type = cast<RankedTensorType>(dot_.getType());
  tt::InputPrecision precision = dot_.getInputPrecision();
  bool isExact = element_.isF32() && precision != tt::InputPrecision::TF32 && precision != tt::InputPrecision::TF32x3;
  int64_t bits = element_.getIntOrFloatBitWidth();
  return type.getRank() == 2 && !isExact && bits <= 32 && bits >= 8 && rows_ >= kMmaRows && columns_ >= kMmaColumns &&
         depth_ * bits >= kInstructionBitsOfK;
}

void DotRewriter::setResultLayout(Attribute layout) {
  auto type = cast<RankedTensorType>(dot_.getType());
  dot_.getResult().setType(type.cloneWithEncoding(layout));
}

// --- wgmma -----------------------------------------------------------------------------------------------------------

bool DotRewriter::isReadableByWgmma(Value operand, bool isRight) {
  bool isKOuter = isRight;
  Value buffer = bufferBehind(operand, dot_);
  if (!buffer) {
    return true;
  }
  auto layout = dyn_cast<ttg::NVMMASharedEncodingAttr>(cast<ttg::MemDescType>(buffer.getType()).getEncoding());
  if (!layout || layout.getSwizzlingByteWidth() == 0) {
    return false;
  }
  // The first dimension of a transposed buffer is contiguous. Only 16-bit elements may have K strided.
  bool isTransposed = layout.getTransposed() != isTransposedRead(operand);
  return element_.getIntOrFloatBitWidth() == 16 || isTransposed == isKOuter;
}

bool DotRewriter::isOnWgmma() {
  // An operand of wgmma is one tf32 number, as it lies in memory.
  bool isSplit = element_.isF32() && dot_.getInputPrecision() != tt::InputPrecision::TF32;
  if (capability_ != 90 || isSplit || numWarps_ % kWarpsPerWarpgroup != 0 || rows_ % kWarpgroupRows != 0) {
    return false;
  }
  int64_t warpsAlongN = numWarps_ / std::min<int64_t>(numWarps_, kWarpsPerWarpgroup * (rows_ / kWarpgroupRows));
  return columns_ / warpsAlongN >= kMinWgmmaColumns && isReadableByWgmma(dot_.getA(), /*isRight=*/false) &&
         isReadableByWgmma(dot_.getB(), /*isRight=*/true);
}

Value DotRewriter::spill(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  // B is K x N: elements of other widths than 16 bits need K contiguous.
  SmallVector<unsigned> order =
      element_.getIntOrFloatBitWidth() == 16 ? SmallVector<unsigned>{1, 0} : SmallVector<unsigned>{0, 1};
  auto encoding =
      ttg::NVMMASharedEncodingAttr::get(context_, type.getShape(), order, ttg::CGAEncodingAttr::getTrivial(context_, 2),
                                        type.getElementType(), /*fp4Padded=*/false);
  auto bufferType = ttg::MemDescType::get(type.getShape(), type.getElementType(), encoding,
                                          ttg::SharedMemorySpaceAttr::get(context_), /*mutableMemory=*/false);
  return ttg::LocalAllocOp::create(builder_, dot_.getLoc(), bufferType, operand);
}

int64_t DotRewriter::impreciseProducts() {
  if (!isFp8(element_)) {
    return 0;
  }
  int64_t wanted = dot_.getMaxNumImpreciseAcc() ? dot_.getMaxNumImpreciseAcc() : kImpreciseProducts;
  // A sum that begins at zero and ends in time is not split: a bound above K says so.
  bool startsAtZero = matchPattern(dot_.getC(), m_AnyZeroFloat());
  return startsAtZero && depth_ <= wanted ? 2 * depth_ : wanted;
}

/// The layout of a result of `rows x columns` whose operands have `elementBits`: warpgroups go down the rows, then to
/// the right.
static Attribute wgmmaLayout(MLIRContext *context, int64_t rows, int64_t columns, unsigned numWarps,
                             unsigned elementBits) {
  unsigned warpsAlongM = std::min<int64_t>(numWarps, kWarpsPerWarpgroup * (rows / kWarpgroupRows));
  SmallVector<unsigned> warps = {warpsAlongM, numWarps / warpsAlongM};
  unsigned instructionColumns = std::min<int64_t>(kMaxWgmmaColumns, columns / warps[1]);
  return ttg::NvidiaMmaEncodingAttr::get(
      context, 3, 0, warps, ttg::CGAEncodingAttr::getTrivial(context, 2),
      {unsigned(kWarpgroupRows / kWarpsPerWarpgroup), instructionColumns, unsigned(kInstructionBitsOfK / elementBits)});
}

void DotRewriter::rewriteForWgmma() {
  Location loc = dot_.getLoc();
  setResultLayout(wgmmaLayout(context_, rows_, columns_, numWarps_, element_.getIntOrFloatBitWidth()));

  Value lhs = materializeBuffer(builder_, dot_.getA(), dot_);
  Value rhs = materializeBuffer(builder_, dot_.getB(), dot_);
  auto product = ttng::WarpGroupDotOp::create(builder_, loc, dot_.getType(), lhs ? lhs : dot_.getA(),
                                              rhs ? rhs : spill(dot_.getB()), dot_.getC(), /*useC=*/Value(),
                                              dot_.getInputPrecision(), impreciseProducts(), /*isAsync=*/true);
  auto wait = ttng::WarpGroupDotWaitOp::create(builder_, loc, ValueRange{product.getD()}, /*pendings=*/0);
  dot_.getResult().replaceAllUsesWith(wait->getResult(0));
  dot_.erase();
}

// --- mma.sync --------------------------------------------------------------------------------------------------------

/// Whether the left operand was computed in registers, of which its rows are its warps'.
static bool takesLeftFromRegisters(tt::DotOp dot) { return !bufferBehind(beforeWidening(dot.getA()), dot); }

/// Whether a result that elementwise ops make of `value` becomes the left operand of a dot, or the accumulator of one
/// that has such an operand.
static bool feedsLeftOperand(Value value, SmallVectorImpl<Value> &visited) {
  if (llvm::is_contained(visited, value)) {
    return false;
  }
  visited.push_back(value);
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tt::DotOp, ttng::WarpGroupDotOp>(user)) {
      // A sum that goes on in another product lies where that one has it.
      constexpr unsigned kAccumulator = 2;
      auto next = dyn_cast<tt::DotOp>(user);
      return use.getOperandNumber() == 0 ||
             (use.getOperandNumber() == kAccumulator &&
              ((next && takesLeftFromRegisters(next)) || feedsLeftOperand(user->getResult(0), visited)));
    }
    return user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1 &&
           feedsLeftOperand(user->getResult(0), visited);
  });
}

bool DotRewriter::isChained() {
  SmallVector<Value> visited;
  return takesLeftFromRegisters(dot_) || feedsLeftOperand(dot_.getResult(), visited);
}

SmallVector<unsigned> DotRewriter::warpsForMma() {
  // In a chain a row stays within one warp; else warps go where a warp's tile is repeated most.
  unsigned rows = 1, columns = 1;
  bool chained = isChained();
  while (rows * columns < numWarps_) {
    bool fitsRows = rows_ > kMmaRows * rows, fitsColumns = columns_ > kMmaColumns * columns;
    bool prefersRows = chained || rows_ / (kMmaRows * rows) >= columns_ / (2 * kMmaColumns * columns);
    // Warps that no tile is left for repeat the work of others.
    if (fitsRows && (prefersRows || !fitsColumns)) {
      rows *= 2;
    } else if (fitsColumns) {
      columns *= 2;
    } else {
      rows *= 2;
    }
  }
  return {rows, columns};
}

/// A read of the transposed buffer in place of a transposed read; else `operand` itself.
Value DotRewriter::readTransposed(Value operand) {
  auto transpose = operand.getDefiningOp<tt::TransOp>();
  auto load = transpose ? transpose.getSrc().getDefiningOp<ttg::LocalLoadOp>() : ttg::LocalLoadOp();
  if (!load || !isTransposedRead(operand)) {
    return operand;
  }
  // Stands where the load stands: what fills the buffer next comes after it.
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPoint(load);
  Value buffer = transposeBuffer(builder_, transpose.getLoc(), load.getSrc());
  return ttg::LocalLoadOp::create(builder_, load.getLoc(), transpose.getType(), buffer);
}

void DotRewriter::rewriteForMma() {
  setResultLayout(ttg::NvidiaMmaEncodingAttr::get(context_, 2, 0, warpsForMma(),
                                                  ttg::CGAEncodingAttr::getTrivial(context_, 2),
                                                  {unsigned(kMmaRows), unsigned(kMmaColumns)}));
  for (OpOperand *operand : {&dot_.getAMutable(), &dot_.getBMutable()}) {
    Operation *widening = operand->get().getDefiningOp<tt::FpToFpOp>();
    OpOperand &read = widening ? widening->getOpOperand(0) : *operand;
    read.set(readTransposed(read.get()));
  }
}

// --- without tensor cores --------------------------------------------------------------------------------------------

void DotRewriter::rewriteForFma() {
  auto type = cast<RankedTensorType>(dot_.getType());
  // A square tile a thread reads each operand's element as rarely as registers allow.
  int64_t perThread = std::max<int64_t>(1, rows_ * columns_ / (32 * numWarps_));
  unsigned side = perThread >= 16 ? 4 : perThread >= 4 ? 2 : 1;
  SmallVector<unsigned> size(type.getRank(), 1), order(type.getRank());
  std::iota(order.rbegin(), order.rend(), 0);
  size[order[0]] = std::min<int64_t>(side, columns_);
  size[order[1]] = std::min<int64_t>(side, rows_);
  setResultLayout(ttg::BlockedEncodingAttr::get(context_, type.getShape(), size, order, numWarps_, 32,
                                                ttg::CGAEncodingAttr::getTrivial(context_, type.getRank())));
}

void chooseDotLayouts(tt::FuncOp function, unsigned capability) {
  SmallVector<tt::DotOp> dots;
  function.walk([&](tt::DotOp dot) {
    if (!cast<RankedTensorType>(dot.getType()).getEncoding()) {
      dots.push_back(dot);
    }
  });
  for (tt::DotOp dot : dots) {
    DotRewriter(dot, capability).run();
  }
  auto settle = [](Operation *dot, OpResult result, Type operand) {
    auto type = cast<RankedTensorType>(result.getType());
    if (!type.getEncoding()) {
      result.setType(type.cloneWithEncoding(wgmmaLayout(dot->getContext(), type.getShape()[0], type.getShape()[1],
                                                        ttg::lookupNumWarps(dot),
                                                        cast<ShapedType>(operand).getElementTypeBitWidth())));
    }
  };
  function.walk([&](ttng::WarpGroupDotOp dot) { settle(dot, cast<OpResult>(dot.getResult()), dot.getB().getType()); });
  function.walk([&](ttng::WarpGroupDotPartsOp dot) {
    for (OpResult result : dot->getResults()) {
      settle(dot, result, dot.getA().getType());
    }
  });
}

/// The type whose elements lie together in a fragment's words: that which operands are widened from. Both operands of a
/// product must agree in how they permute K.
static Type fragmentElement(tt::DotOp dot) {
  Type lhs = getElementTypeOrSelf(beforeWidening(dot.getA()).getType());
  Type rhs = getElementTypeOrSelf(beforeWidening(dot.getB()).getType());
  return lhs.getIntOrFloatBitWidth() >= rhs.getIntOrFloatBitWidth() ? lhs : rhs;
}

Attribute dotOperandLayout(OpOperand &operand) {
  constexpr unsigned kAccumulator = 2;
  Operation *dot = operand.getOwner();
  if (auto parts = dyn_cast<ttng::WarpGroupDotPartsOp>(dot)) {
    // Its only tensors are accumulators.
    auto first = parts.getC().getBeginOperandIndex();
    bool isAccumulator = isa<RankedTensorType>(operand.get().getType());
    return isAccumulator
               ? cast<RankedTensorType>(parts.getD()[operand.getOperandNumber() - first].getType()).getEncoding()
               : Attribute();
  }
  auto result = cast<RankedTensorType>(dot->getResult(0).getType());
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  unsigned index = operand.getOperandNumber();
  if (!type || index > kAccumulator) {
    return {};
  }
  if (index == kAccumulator) {
    return result.getEncoding();
  }
  // An operand that was a fragment before keeps its kWidth.
  if (isa_and_nonnull<ttg::DotOperandEncodingAttr>(type.getEncoding())) {
    return type.getEncoding();
  }
  auto product = dyn_cast<tt::DotOp>(dot);
  if (product && type.getElementType().isF32() && product.getInputPrecision() == tt::InputPrecision::TF32x3 &&
      isa<ttg::NvidiaMmaEncodingAttr>(result.getEncoding()) && type.getDimSize(1 - index) >= kPairedDepth) {
    // Neighbours along K lie in one thread, as accumulators have them: those become operands as they are.
    return ttg::DotOperandEncodingAttr::get(dot->getContext(), index, result.getEncoding(), /*kWidth=*/2);
  }
  return ttg::DotOperandEncodingAttr::get(dot->getContext(), index, result.getEncoding(),
                                          product ? fragmentElement(product) : type.getElementType());
}

} // namespace jitk::passes
