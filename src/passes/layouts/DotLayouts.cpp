#include "src/passes/layouts/DotLayouts.h"

#include "src/ir/ttng/Ttng.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

namespace {

struct DotShape {
  int64_t m, n, k;
};

/// Rewrites one dot.
class DotRewriter {
public:
  DotRewriter(tt::DotOp dot, const DotTarget &target)
      : dot_(dot), target_(target), builder_(dot), context_(dot.getContext()) {
    auto lhs = cast<RankedTensorType>(dot.getA().getType());
    auto rhs = cast<RankedTensorType>(dot.getB().getType());
    shape_ = {lhs.getShape()[0], rhs.getShape()[1], lhs.getShape()[1]};
    element_ = lhs.getElementType();
  }

  LogicalResult run();

private:
  bool usesWgmma();
  bool feedsAnotherDot();
  void widenFp8();
  void rewriteForWgmma();
  void rewriteForMma();
  SmallVector<unsigned> warpsForMma();
  /// The buffer behind `operand`, as the instruction can read it; null if it comes from registers.
  Value bufferOf(Value operand);
  Value spill(Value operand);
  Value loadFragment(Value operand, unsigned index, Attribute mma);

  tt::DotOp dot_;
  const DotTarget &target_;
  OpBuilder builder_;
  MLIRContext *context_;
  DotShape shape_;
  Type element_;
};

} // namespace

static bool isFp8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// Swaps the two dimensions of a buffer.
static Value transposeBuffer(OpBuilder &builder, Location loc, Value buffer) {
  return ttg::MemDescTransOp::create(builder, loc, buffer, ArrayRef<int32_t>{1, 0});
}

/// The encodings that wgmma reads.
static bool isNvmmaShared(Value buffer) {
  return isa<ttg::NVMMASharedEncodingAttr>(cast<ttg::MemDescType>(buffer.getType()).getEncoding());
}

/// Whether nothing between the load and `user` may write shared memory: then the user may read the buffer itself.
static bool isUnchangedUntil(ttg::LocalLoadOp load, Operation *user) {
  if (load->getBlock() != user->getBlock()) {
    return false;
  }
  for (Operation *op = load->getNextNode(); op != user; op = op->getNextNode()) {
    if (!isMemoryEffectFree(op) && !isa<ttg::LocalLoadOp, tt::LoadOp>(op)) {
      return false;
    }
  }
  return true;
}

Value DotRewriter::bufferOf(Value operand) {
  if (auto load = operand.getDefiningOp<ttg::LocalLoadOp>(); load && isUnchangedUntil(load, dot_)) {
    return load.getSrc();
  }
  if (auto transpose = operand.getDefiningOp<tt::TransOp>()) {
    if (auto load = transpose.getSrc().getDefiningOp<ttg::LocalLoadOp>(); load && isUnchangedUntil(load, dot_)) {
      OpBuilder::InsertionGuard guard(builder_);
      builder_.setInsertionPoint(load);
      return transposeBuffer(builder_, transpose.getLoc(), load.getSrc());
    }
  }
  return {};
}

bool DotRewriter::usesWgmma() {
  if (target_.capability != 90 || target_.numWarps % 4 != 0 || shape_.m < 64 || shape_.n % 8 != 0) {
    return false;
  }
  int64_t widthOfK = 256 / element_.getIntOrFloatBitWidth();
  if (shape_.k % widthOfK != 0 || element_.isF32()) {
    return false;
  }
  // Buffers must have a layout that the instruction's descriptors can say; fp8 must have K contiguous in both.
  auto readable = [&](Value operand, bool kIsRows) {
    Value buffer = bufferOf(operand);
    if (!buffer) {
      return !isFp8(element_) || !kIsRows;
    }
    if (!isNvmmaShared(buffer)) {
      return false;
    }
    bool transposed =
        cast<ttg::NVMMASharedEncodingAttr>(cast<ttg::MemDescType>(buffer.getType()).getEncoding()).getTransposed();
    return !isFp8(element_) || transposed == kIsRows;
  };
  return readable(dot_.getA(), false) && readable(dot_.getB(), true);
}

bool DotRewriter::feedsAnotherDot() {
  // Follows the result through elementwise operations to the left operand of a dot.
  SmallVector<Value> work = {dot_.getResult()};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second) {
      continue;
    }
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<tt::DotOp, ttng::WarpGroupDotOp>(user) && use.getOperandNumber() == 0 && user != dot_) {
        return true;
      }
      if (user->hasTrait<OpTrait::Elementwise>() || isa<ttg::ConvertLayoutOp>(user)) {
        llvm::append_range(work, user->getResults());
      }
    }
  }
  return false;
}

SmallVector<unsigned> DotRewriter::warpsForMma() {
  // A chain keeps a row within one warp; else warps go where a warp's tile of 16 x 16 is repeated most.
  unsigned rows = 1, columns = 1;
  bool chain = feedsAnotherDot() || !bufferOf(dot_.getA());
  while (rows * columns < target_.numWarps) {
    bool moreRows = shape_.m > 16 * rows && (chain || shape_.m / (16 * rows) >= shape_.n / (16 * columns));
    if (moreRows || shape_.n <= 8 * columns) {
      rows *= 2;
    } else {
      columns *= 2;
    }
  }
  return {rows, columns};
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

Value DotRewriter::loadFragment(Value operand, unsigned index, Attribute mma) {
  auto type = cast<RankedTensorType>(operand.getType());
  // A conversion between the buffer and the dot happens in the fragment's layout.
  if (auto widened = operand.getDefiningOp<tt::FpToFpOp>()) {
    Value source = loadFragment(widened.getSrc(), index, mma);
    auto encoding = cast<RankedTensorType>(source.getType()).getEncoding();
    if (!encoding) {
      return operand;
    }
    return tt::FpToFpOp::create(builder_, dot_.getLoc(),
                                RankedTensorType::get(type.getShape(), type.getElementType(), encoding), source,
                                widened.getRoundingAttr());
  }
  Value buffer = bufferOf(operand);
  if (!buffer) {
    return operand;
  }
  auto encoding = ttg::DotOperandEncodingAttr::get(context_, index, mma, element_);
  auto fragment = RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
  // Stands where the load stood: what fills the buffer next comes after it.
  OpBuilder::InsertionGuard guard(builder_);
  Operation *definition = operand.getDefiningOp();
  builder_.setInsertionPointAfter(definition);
  return ttg::LocalLoadOp::create(builder_, dot_.getLoc(), fragment, buffer);
}

void DotRewriter::rewriteForMma() {
  auto mma = ttg::NvidiaMmaEncodingAttr::get(context_, 2, 0, warpsForMma(),
                                             ttg::CGAEncodingAttr::getTrivial(context_, 2), {16, 8});
  dot_.getAMutable().assign(loadFragment(dot_.getA(), 0, mma));
  dot_.getBMutable().assign(loadFragment(dot_.getB(), 1, mma));
  auto result = cast<RankedTensorType>(dot_.getType());
  dot_.getResult().setType(RankedTensorType::get(result.getShape(), result.getElementType(), mma));
}

Value DotRewriter::spill(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  auto encoding = ttg::NVMMASharedEncodingAttr::get(context_, type.getShape(), {1, 0},
                                                    ttg::CGAEncodingAttr::getTrivial(context_, 2),
                                                    type.getElementType(), /*fp4Padded=*/false);
  auto bufferType = ttg::MemDescType::get(type.getShape(), type.getElementType(), encoding,
                                          ttg::SharedMemorySpaceAttr::get(context_), /*mutableMemory=*/false);
  return ttg::LocalAllocOp::create(builder_, dot_.getLoc(), bufferType, operand);
}

void DotRewriter::rewriteForWgmma() {
  Location loc = dot_.getLoc();
  unsigned rows = std::min<unsigned>(target_.numWarps, 4 * std::max<int64_t>(1, shape_.m / 64));
  SmallVector<unsigned> warps = {rows, target_.numWarps / rows};
  unsigned columns = std::min<int64_t>(256, shape_.n / warps[1]);
  auto mma = ttg::NvidiaMmaEncodingAttr::get(context_, 3, 0, warps, ttg::CGAEncodingAttr::getTrivial(context_, 2),
                                             {16, columns, 256 / element_.getIntOrFloatBitWidth()});
  auto type = cast<RankedTensorType>(dot_.getType());
  auto resultType = RankedTensorType::get(type.getShape(), type.getElementType(), mma);

  Value lhs = bufferOf(dot_.getA());
  Value rhs = bufferOf(dot_.getB());
  if (!rhs) {
    rhs = spill(dot_.getB());
  }
  // Buffers are filled by ordinary stores and cp.async; the tensor cores read through the asynchronous proxy.
  ttng::FenceAsyncSharedOp::create(builder_, loc, /*bCluster=*/false);
  // The accumulator gets its encoding when the caller assigns layouts; until then the types differ.
  OperationState state(loc, ttng::WarpGroupDotOp::getOperationName());
  ttng::WarpGroupDotOp::build(builder_, state, resultType, lhs ? lhs : dot_.getA(), rhs, dot_.getC(), Value(),
                              tt::InputPrecision::IEEE, isFp8(element_) ? 128u : 0u, /*isAsync=*/true);
  Operation *product = builder_.create(state);
  SmallVector<Value> waited = {product->getResult(0), rhs};
  if (lhs) {
    waited.push_back(lhs);
  }
  auto wait = ttng::WarpGroupDotWaitOp::create(builder_, loc, waited, /*pendings=*/0);
  dot_.getResult().replaceAllUsesWith(wait->getResult(0));
  dot_.erase();
}

LogicalResult DotRewriter::run() {
  if (isFp8(element_) && target_.capability < 89) {
    widenFp8();
  }
  if (usesWgmma()) {
    rewriteForWgmma();
    return success();
  }
  int64_t widthOfK = 256 / element_.getIntOrFloatBitWidth();
  if (shape_.m < 16 || shape_.n < 8 || shape_.k < widthOfK) {
    return dot_.emitOpError() << "is smaller than the tensor core's tile of 16x8x" << widthOfK << ": got " << shape_.m
                              << "x" << shape_.n << "x" << shape_.k;
  }
  rewriteForMma();
  return success();
}

/// Erases the loads and views that fragments and buffers replaced.
static void eraseUnusedReads(tt::FuncOp function) {
  SmallVector<Operation *> reads;
  function.walk([&](Operation *op) {
    if (isa<ttg::LocalLoadOp, tt::TransOp, tt::FpToFpOp>(op)) {
      reads.push_back(op);
    }
  });
  for (Operation *op : llvm::reverse(reads)) {
    if (op->use_empty()) {
      op->erase();
    }
  }
}

LogicalResult chooseDotLayouts(tt::FuncOp function, const DotTarget &target) {
  SmallVector<tt::DotOp> dots;
  function.walk([&](tt::DotOp dot) {
    if (!cast<RankedTensorType>(dot.getType()).getEncoding()) {
      dots.push_back(dot);
    }
  });
  for (tt::DotOp dot : dots) {
    if (failed(DotRewriter(dot, target).run())) {
      return failure();
    }
  }
  eraseUnusedReads(function);
  return success();
}

Attribute dotOperandLayout(Operation *dot, unsigned index) {
  auto result = cast<RankedTensorType>(dot->getResult(0).getType());
  auto operand = dyn_cast<RankedTensorType>(dot->getOperand(index).getType());
  if (!operand) {
    return {};
  }
  if (index == 2) {
    return result.getEncoding();
  }
  // A fragment that is loaded as one keeps its kWidth.
  if (auto encoding = dyn_cast_or_null<ttg::DotOperandEncodingAttr>(operand.getEncoding())) {
    return encoding;
  }
  return ttg::DotOperandEncodingAttr::get(dot->getContext(), index, result.getEncoding(), operand.getElementType());
}

} // namespace jitk::passes
