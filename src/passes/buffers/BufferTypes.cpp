#include "src/passes/buffers/BufferTypes.h"

#include "src/passes/buffers/BufferFlow.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

static ttg::MemDescType descriptorType(Operation *op, tile::BufType buffer, ArrayRef<int64_t> allocShape) {
  if (buffer.getSpace() != tile::MemorySpace::Shared) {
    op->emitOpError("GPU TileIR conversion currently requires #tile.shared");
    return {};
  }
  Attribute layout = op->getDiscardableAttr(tile::kGpuLayout);
  if (!layout) {
    op->emitOpError() << "is missing the preserved " << tile::kGpuLayout << " attribute";
    return {};
  }
  if (!isa<ttg::SharedEncodingTrait>(layout)) {
    op->emitOpError("requires a preserved TritonGPU shared-memory layout");
    return {};
  }
  auto space = ttg::SharedMemorySpaceAttr::get(op->getContext());
  return ttg::MemDescType::getChecked([op] { return op->emitOpError(); }, buffer.getShape(), buffer.getElementType(),
                                      layout, space, /*mutableMemory=*/true, allocShape);
}

/// The result type of a view of a buffer of type `source`, in the layout that the view carries. A slice keeps the shape
/// of its allocation, since addresses follow from that.
static ttg::MemDescType viewType(tile::SubviewOp view, ttg::MemDescType source) {
  ArrayRef<int64_t> shape = view.getType().getShape();
  bool isSlice = source.getShape().size() == shape.size() || source.isSlice();
  return descriptorType(view, view.getType(), isSlice ? source.getAllocShape().take_back(shape.size()) : shape);
}

LogicalResult BufferTypes::assign(Value buffer, ttg::MemDescType type, Operation *where) {
  auto [known, isNew] = types_.try_emplace(buffer, type);
  if (isNew) {
    work_.push_back(buffer);
    return success();
  }
  if (known->second != type) {
    return where->emitOpError("conflicting descriptor types for the same TileIR buffer: ")
           << known->second << " and " << type;
  }
  return success();
}

LogicalResult BufferTypes::seedAllocations(ModuleOp module) {
  WalkResult result = module.walk([&](tile::AllocOp alloc) {
    auto type = descriptorType(alloc, alloc.getType(), alloc.getType().getShape());
    return type ? WalkResult(assign(alloc, type, alloc)) : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The arguments of functions that are buffers.
static SmallVector<BlockArgument> bufferArguments(ModuleOp module) {
  SmallVector<BlockArgument> arguments;
  for (tt::FuncOp function : module.getOps<tt::FuncOp>()) {
    if (!function.isExternal()) {
      llvm::copy_if(function.getArguments(), std::back_inserter(arguments),
                    [](BlockArgument argument) { return isa<tile::BufType>(argument.getType()); });
    }
  }
  return arguments;
}

LogicalResult BufferTypes::seedArgument(BlockArgument argument) {
  for (Operation *user : argument.getUsers()) {
    auto bridge = dyn_cast<UnrealizedConversionCastOp>(user);
    auto type = bridge && bridge.getNumResults() == 1 ? dyn_cast<ttg::MemDescType>(bridge.getResult(0).getType())
                                                      : ttg::MemDescType();
    if (type && failed(assign(argument, type, bridge))) {
      return failure();
    }
  }
  return success();
}

LogicalResult BufferTypes::seedArguments(ModuleOp module) {
  for (BlockArgument argument : bufferArguments(module)) {
    if (failed(seedArgument(argument))) {
      return failure();
    }
  }
  return success();
}

LogicalResult BufferTypes::propagateThrough(OpOperand &use, ttg::MemDescType type) {
  if (auto view = dyn_cast<tile::SubviewOp>(use.getOwner())) {
    type = viewType(view, type);
  }
  for (Value reached : buffersReachedBy(use)) {
    if (!type || failed(assign(reached, type, use.getOwner()))) {
      return failure();
    }
  }
  return success();
}

LogicalResult BufferTypes::propagate() {
  while (!work_.empty()) {
    Value buffer = work_.pop_back_val();
    ttg::MemDescType type = of(buffer);
    for (OpOperand &use : buffer.getUses()) {
      if (failed(propagateThrough(use, type))) {
        return failure();
      }
    }
  }
  return success();
}

/// Refuses buffers in those parts of a signature that nothing gives a descriptor: results, and a declaration's
/// arguments.
static LogicalResult checkSignature(tt::FuncOp function) {
  auto isBuffer = [](Type type) { return isa<tile::BufType>(type); };
  if (llvm::any_of(function.getResultTypes(), isBuffer)) {
    return function.emitOpError("uses a TileIR buffer without a converted allocation: no function may return a buffer");
  }
  if (function.isExternal() && llvm::any_of(function.getArgumentTypes(), isBuffer)) {
    return function.emitOpError(
        "cannot infer a TritonGPU descriptor type for TileIR block argument: got a declaration");
  }
  return success();
}

FailureOr<BufferTypes> BufferTypes::infer(ModuleOp module) {
  BufferTypes types;
  for (tt::FuncOp function : module.getOps<tt::FuncOp>()) {
    if (failed(checkSignature(function))) {
      return failure();
    }
  }
  // What a function's body says of an argument comes before what its calls say.
  if (failed(types.seedAllocations(module)) || failed(types.seedArguments(module)) || failed(types.propagate())) {
    return failure();
  }
  for (BlockArgument argument : bufferArguments(module)) {
    if (!types.of(argument)) {
      return emitError(argument.getLoc(), "cannot infer a TritonGPU descriptor type for TileIR block argument: got a "
                                          "function argument that no cast and no call gives a layout");
    }
  }
  return types;
}

} // namespace jitk::passes
