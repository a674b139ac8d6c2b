// --convert-common-ir-to-ttgir: the buffers and copies of CommonIR become those of TTGIR.
//
// A map from buffers to descriptors, filled and used in phases; the first phase that reports an error is the last one.
// Buffers that are block arguments or results of control flow stand behind a cast until all else is converted, then
// take their descriptor's type in place.

#include "src/passes/Passes.h"
#include "src/passes/buffers/AsyncWidth.h"
#include "src/passes/buffers/BufferTypes.h"
#include "src/passes/buffers/MergeCopyWaits.h"
#include "src/passes/buffers/SlotLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace jitk::passes {

#define GEN_PASS_DEF_CONVERTCOMMONIRTOTTGIR
#include "src/passes/Passes.h.inc"

using namespace jitk::ir;

namespace {

class CommonIrConversion {
public:
  CommonIrConversion(ModuleOp module, bool enableAsyncCopy)
      : module_(module), builder_(module.getContext()), axes_(module), enableAsyncCopy_(enableAsyncCopy) {}

  LogicalResult run();

private:
  void convertAllocations();
  void adoptCarriedBuffers();
  void adopt(Value buffer);
  LogicalResult convertViews();
  LogicalResult convertElement(tile::SubviewOp view, Value source);
  LogicalResult convertSlice(tile::SubviewOp view, Value source);
  LogicalResult convertBridges();
  LogicalResult convertUsers();
  LogicalResult convertUser(Operation *op);
  LogicalResult convertCopy(tile::CopyOp copy);
  void convertCopyIn(tile::CopyOp copy, Value buffer);
  void convertCopyOut(tile::CopyOp copy, Value buffer);
  LogicalResult remapOperands();
  LogicalResult eraseConverted();
  void settleTypes();
  LogicalResult checkResidue();

  template <typename Op> SmallVector<Op> collect();
  /// The descriptor of `buffer`; reports its absence at `user`.
  FailureOr<Value> descriptorOf(Value buffer, Operation *user);
  void convertTo(Operation *op, Value result);

  ModuleOp module_;
  OpBuilder builder_;
  AxisInfoAnalysis axes_;
  bool enableAsyncCopy_;
  BufferTypes types_;
  DenseMap<Value, Value> descriptors_;
  SmallVector<UnrealizedConversionCastOp> adopted_;
  SmallVector<ttg::AsyncCopyGlobalToLocalOp> copies_;
  llvm::SetVector<Operation *> converted_;
};

} // namespace

static bool isBuffer(Type type) { return isa<tile::BufType>(type); }

template <typename Op> SmallVector<Op> CommonIrConversion::collect() {
  SmallVector<Op> ops;
  // Pre-order: a view comes after the loop that carries its source.
  module_.walk<WalkOrder::PreOrder>([&](Op op) { ops.push_back(op); });
  return ops;
}

FailureOr<Value> CommonIrConversion::descriptorOf(Value buffer, Operation *user) {
  if (Value descriptor = descriptors_.lookup(buffer)) {
    return descriptor;
  }
  return user->emitOpError("uses a TileIR buffer without a converted allocation");
}

void CommonIrConversion::convertTo(Operation *op, Value result) {
  descriptors_[op->getResult(0)] = result;
  converted_.insert(op);
}

LogicalResult CommonIrConversion::run() {
  FailureOr<BufferTypes> types = BufferTypes::infer(module_);
  if (failed(types)) {
    return failure();
  }
  types_ = std::move(*types);
  convertAllocations();
  adoptCarriedBuffers();
  if (failed(convertViews()) || failed(convertBridges()) || failed(convertUsers()) || failed(remapOperands()) ||
      failed(eraseConverted())) {
    return failure();
  }
  settleTypes();
  mergeCopyWaits(copies_);
  return checkResidue();
}

// --- buffers and views -----------------------------------------------------------------------------------------------

void CommonIrConversion::convertAllocations() {
  for (tile::AllocOp alloc : collect<tile::AllocOp>()) {
    builder_.setInsertionPoint(alloc);
    convertTo(alloc, ttg::LocalAllocOp::create(builder_, alloc.getLoc(), types_.of(alloc)));
  }
}

void CommonIrConversion::adopt(Value buffer) {
  ttg::MemDescType type = isBuffer(buffer.getType()) ? types_.of(buffer) : ttg::MemDescType();
  if (!type) {
    return;
  }
  builder_.setInsertionPointAfterValue(buffer);
  adopted_.push_back(
      UnrealizedConversionCastOp::create(builder_, buffer.getLoc(), TypeRange{type}, ValueRange{buffer}));
  descriptors_[buffer] = adopted_.back().getResult(0);
}

void CommonIrConversion::adoptCarriedBuffers() {
  module_.walk([&](Operation *op) {
    if (isa<RegionBranchOpInterface>(op)) {
      llvm::for_each(op->getResults(), [&](Value result) { adopt(result); });
    }
    for (Region &region : op->getRegions()) {
      for (Block &block : region) {
        llvm::for_each(block.getArguments(), [&](Value argument) { adopt(argument); });
      }
    }
  });
}

/// The value of an offset that is known, also behind a cast between index and integer.
static std::optional<int64_t> knownOffset(Value offset) {
  if (auto cast = offset.getDefiningOp<arith::IndexCastOp>()) {
    offset = cast.getIn();
  }
  APInt value;
  return matchPattern(offset, m_ConstantInt(&value)) ? std::optional(value.getSExtValue()) : std::nullopt;
}

static LogicalResult checkOffset(tile::SubviewOp view, int64_t offset, int64_t last) {
  if (offset < 0 || offset > last || offset > INT32_MAX) {
    return view.emitOpError("tile.subview offset is outside the source buffer: wanted 0 to ")
           << last << ", got " << offset;
  }
  return success();
}

LogicalResult CommonIrConversion::convertElement(tile::SubviewOp view, Value source) {
  Value offset = view.getOffsets().front();
  Location loc = view.getLoc();
  if (!isSequenceOfSlots(cast<ttg::MemDescType>(source.getType()), types_.of(view))) {
    return view.emitOpError("the layout of a slot must be that of the source without its first dimension: got ")
           << types_.of(view).getEncoding();
  }
  if (std::optional<int64_t> known = knownOffset(offset)) {
    if (failed(checkOffset(view, *known, view.getSrc().getType().getShape().front() - 1))) {
      return failure();
    }
    offset = arith::ConstantIntOp::create(builder_, loc, *known, 32);
  } else if (offset.getType().isIndex()) {
    offset = arith::IndexCastOp::create(builder_, loc, builder_.getI32Type(), offset);
  }
  convertTo(view, ttg::MemDescIndexOp::create(builder_, loc, types_.of(view), source, offset));
  return success();
}

LogicalResult CommonIrConversion::convertSlice(tile::SubviewOp view, Value source) {
  SmallVector<int32_t> offsets;
  for (auto [offset, from, size] :
       llvm::zip_equal(view.getOffsets(), view.getSrc().getType().getShape(), view.getType().getShape())) {
    std::optional<int64_t> known = knownOffset(offset);
    if (!known) {
      return view.emitOpError("same-rank tile.subview currently requires static offsets");
    }
    if (failed(checkOffset(view, *known, from - size))) {
      return failure();
    }
    offsets.push_back(*known);
  }
  convertTo(view, ttg::MemDescSubsliceOp::create(builder_, view.getLoc(), types_.of(view), source,
                                                 builder_.getDenseI32ArrayAttr(offsets)));
  return success();
}

LogicalResult CommonIrConversion::convertViews() {
  for (tile::SubviewOp view : collect<tile::SubviewOp>()) {
    FailureOr<Value> source = descriptorOf(view.getSrc(), view);
    if (failed(source)) {
      return failure();
    }
    builder_.setInsertionPoint(view);
    bool isElement = view.getType().getShape().size() < view.getSrc().getType().getShape().size();
    if (failed(isElement ? convertElement(view, *source) : convertSlice(view, *source))) {
      return failure();
    }
  }
  return success();
}

LogicalResult CommonIrConversion::convertBridges() {
  for (UnrealizedConversionCastOp bridge : collect<UnrealizedConversionCastOp>()) {
    bool isBridge = bridge.getNumOperands() == 1 && isBuffer(bridge.getOperand(0).getType()) &&
                    bridge.getNumResults() == 1 && isa<ttg::MemDescType>(bridge.getResult(0).getType());
    if (!isBridge || llvm::is_contained(adopted_, bridge)) {
      continue;
    }
    FailureOr<Value> descriptor = descriptorOf(bridge.getOperand(0), bridge);
    if (failed(descriptor)) {
      return failure();
    }
    if (descriptor->getType() != bridge.getResult(0).getType()) {
      return bridge.emitOpError("CommonIR buffer bridge descriptor type does not match the converted buffer: wanted ")
             << descriptor->getType() << ", got " << bridge.getResult(0).getType();
    }
    bridge.getResult(0).replaceAllUsesWith(*descriptor);
    converted_.insert(bridge);
  }
  return success();
}

// --- users -----------------------------------------------------------------------------------------------------------

/// Whether the copy moves elements in their order, as they are.
static bool isPlain(tile::CopyOp copy) {
  bool isNd = !copy.getSrcLayout() || *copy.getSrcLayout() == tile::Layout::ND;
  return isNd && !copy.getEngine() && !copy.getTranspose() && !copy.getDstNzLayout();
}

/// Checks that `pointers` is a tensor of pointers to global memory, the whole of `buffer`.
static LogicalResult checkPointers(tile::CopyOp copy, Value pointers, tile::BufType buffer) {
  auto tensor = dyn_cast<RankedTensorType>(pointers.getType());
  auto pointer = tensor ? dyn_cast<tt::PointerType>(tensor.getElementType()) : tt::PointerType();
  if (tensor && !pointer && pointers == copy.getDst()) {
    return copy.emitOpError("cannot determine tile.copy destination value type: got ") << tensor;
  }
  if (!pointer || pointer.getAddressSpace() != 1) {
    return copy.emitOpError("GPU tile.copy requires a tensor of global pointers: got ") << pointers.getType();
  }
  if (tensor.getShape() != buffer.getShape() || pointer.getPointeeType() != buffer.getElementType()) {
    return copy.emitOpError("requires a full-buffer tensor with matching shape and element type: wanted ")
           << buffer << ", got " << tensor;
  }
  return success();
}

LogicalResult CommonIrConversion::convertCopy(tile::CopyOp copy) {
  if (!isPlain(copy)) {
    return copy.emitOpError(
        "GPU tile.copy supports only plain ND copies without engine, transpose or NZ layout attributes");
  }
  bool copiesIn = isBuffer(copy.getDst().getType()) && !isBuffer(copy.getSrc().getType());
  Value buffer = copiesIn ? copy.getDst() : copy.getSrc();
  Value pointers = copiesIn ? copy.getSrc() : copy.getDst();
  auto bufferType = dyn_cast<tile::BufType>(buffer.getType());
  if (!bufferType) {
    return copy.emitOpError("unsupported operands for GPU tile.copy conversion: wanted a buffer on one side");
  }
  if (failed(checkPointers(copy, pointers, bufferType))) {
    return failure();
  }
  FailureOr<Value> descriptor = descriptorOf(buffer, copy);
  if (failed(descriptor)) {
    return failure();
  }
  builder_.setInsertionPoint(copy);
  copiesIn ? convertCopyIn(copy, *descriptor) : convertCopyOut(copy, *descriptor);
  converted_.insert(copy);
  return success();
}

void CommonIrConversion::convertCopyIn(tile::CopyOp copy, Value buffer) {
  Location loc = copy.getLoc();
  Value pointers = copy.getSrc();
  auto type = cast<ttg::MemDescType>(buffer.getType());
  if (!enableAsyncCopy_ || !canCopyAsync(axes_, pointers, /*mask=*/Value(), type)) {
    Value loaded = tt::LoadOp::create(builder_, loc, pointers);
    ttg::LocalStoreOp::create(builder_, loc, loaded, buffer);
    return;
  }
  copies_.push_back(ttg::AsyncCopyGlobalToLocalOp::create(builder_, loc, pointers, buffer));
  auto commit = ttg::AsyncCommitGroupOp::create(builder_, loc, ValueRange{copies_.back().getToken()});
  ttg::AsyncWaitOp::create(builder_, loc, ValueRange{commit.getAsyncToken()}, /*num=*/0u);
}

void CommonIrConversion::convertCopyOut(tile::CopyOp copy, Value buffer) {
  Location loc = copy.getLoc();
  Value loaded = ttg::LocalLoadOp::create(builder_, loc, tt::getPointeeType(copy.getDst().getType()), buffer);
  tt::StoreOp::create(builder_, loc, copy.getDst(), loaded);
}

LogicalResult CommonIrConversion::convertUser(Operation *op) {
  if (auto copy = dyn_cast<tile::CopyOp>(op)) {
    return convertCopy(copy);
  }
  if (isa<tile::SetFlagOp, tile::WaitFlagOp, tile::PipeBarrierOp>(op)) {
    return op->emitOpError(
        "GPU CommonIR conversion does not support tile engine/event synchronization; use the existing "
        "GPU synchronization path");
  }
  if (!isa<tile::ToTensorOp, tile::StoreTensorOp>(op)) {
    return success();
  }
  builder_.setInsertionPoint(op);
  FailureOr<Value> descriptor = descriptorOf(op->getOperands().back(), op);
  if (failed(descriptor)) {
    return failure();
  }
  if (auto read = dyn_cast<tile::ToTensorOp>(op)) {
    read.getResult().replaceAllUsesWith(ttg::LocalLoadOp::create(builder_, op->getLoc(), read.getType(), *descriptor));
  } else if (isa<RankedTensorType>(op->getOperand(0).getType())) {
    ttg::LocalStoreOp::create(builder_, op->getLoc(), op->getOperand(0), *descriptor);
  } else {
    return op->emitOpError("requires a full-buffer tensor with matching shape and element type: got ")
           << op->getOperand(0).getType();
  }
  converted_.insert(op);
  return success();
}

LogicalResult CommonIrConversion::convertUsers() {
  for (Operation *op : collect<Operation *>()) {
    if (failed(convertUser(op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult CommonIrConversion::remapOperands() {
  for (Operation *op : collect<Operation *>()) {
    // What is left of the dialect, and casts to other types, are the residue's to report.
    if (converted_.contains(op) || isa<UnrealizedConversionCastOp>(op) ||
        isa_and_present<tile::TileDialect>(op->getDialect())) {
      continue;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isBuffer(operand.get().getType())) {
        continue;
      }
      FailureOr<Value> descriptor = descriptorOf(operand.get(), op);
      if (failed(descriptor)) {
        return failure();
      }
      operand.set(*descriptor);
    }
    for (Value result : op->getResults()) {
      if (isBuffer(result.getType()) && failed(descriptorOf(result, op))) {
        return failure();
      }
    }
  }
  return success();
}

// --- the end ---------------------------------------------------------------------------------------------------------

LogicalResult CommonIrConversion::eraseConverted() {
  for (Operation *op : llvm::reverse(converted_.getArrayRef())) {
    if (!op->use_empty()) {
      return op->emitOpError("still has users after GPU TileIR conversion");
    }
    op->erase();
  }
  return success();
}

void CommonIrConversion::settleTypes() {
  for (UnrealizedConversionCastOp cast : adopted_) {
    Value value = cast.getOperand(0);
    cast.getResult(0).replaceAllUsesWith(value);
    value.setType(cast.getResult(0).getType());
    cast.erase();
  }
  for (tt::FuncOp function : module_.getOps<tt::FuncOp>()) {
    if (!function.isExternal()) {
      function.setFunctionType(
          FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), function.getResultTypes()));
    }
  }
}

LogicalResult CommonIrConversion::checkResidue() {
  for (Operation *op : collect<Operation *>()) {
    if (isa_and_present<tile::TileDialect>(op->getDialect())) {
      return op->emitOpError("was not eliminated by GPU TileIR conversion");
    }
    if (isa<UnrealizedConversionCastOp>(op) &&
        (llvm::any_of(op->getOperandTypes(), isBuffer) || llvm::any_of(op->getResultTypes(), isBuffer))) {
      return op->emitOpError("CommonIR buffer bridge was not eliminated");
    }
  }
  return success();
}

namespace {

struct ConvertCommonIrToTtgirPass : impl::ConvertCommonIrToTtgirBase<ConvertCommonIrToTtgirPass> {
  using ConvertCommonIrToTtgirBase::ConvertCommonIrToTtgirBase;

  void runOnOperation() override {
    if (failed(CommonIrConversion(getOperation(), enableAsyncCopy).run())) {
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace jitk::passes
