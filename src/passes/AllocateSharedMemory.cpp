// --jitk-allocate-shared-memory: see Passes.td.

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"
#include "src/ir/ttng/Ttng.h"
#include "src/passes/Passes.h"
#include "src/passes/RequireLayouts.h"
#include "src/passes/SharedBuffers.h"
#include "src/passes/SharedScratch.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::passes {

#define GEN_PASS_DEF_ALLOCATESHAREDMEMORY
#include "src/passes/Passes.h.inc"

namespace {

/// Alignment of a callee's memory: what the most demanding swizzle needs.
constexpr int64_t kFrameAlignment = 1024;
/// So much memory limits how many CTAs an SM holds no more than their number does (228 KB, 32 CTAs).
constexpr int64_t kFreeBytes = 4096;

struct Buffer {
  Operation *owner = nullptr; ///< the operation that gets `allocation.offset`
  int64_t bytes = 0;
  int64_t alignment = 1;
  unsigned begin = 0, end = 0; ///< first and last position at which the buffer is alive
  int64_t offset = -1;
};

class FunctionAllocator {
public:
  FunctionAllocator(tt::FuncOp function, const DenseMap<Operation *, int64_t> &frames)
      : function_(function), frames_(frames), views_(function) {}

  /// Places the buffers of the function; gives the size of its memory.
  int64_t run();

private:
  void number();
  void collect();
  void extend(Buffer &buffer, Operation *user);
  void extendToWait(Buffer &buffer, Operation *reader);
  bool interfere(const Buffer &a, const Buffer &b) const;
  std::optional<unsigned> sharersAt(const Buffer &buffer, int64_t offset, ArrayRef<Buffer *> placed) const;
  int64_t place();

  tt::FuncOp function_;
  const DenseMap<Operation *, int64_t> &frames_;
  SharedBuffers views_;
  DenseMap<Operation *, std::pair<unsigned, unsigned>> positions_; ///< of an operation: where it starts and ends
  SmallVector<Operation *> waits_;                                 ///< waits for all asynchronous reads, in order
  SmallVector<Buffer> buffers_;
};

void FunctionAllocator::number() {
  unsigned next = 0;
  function_->walk([&](Operation *op, const WalkStage &stage) {
    if (stage.isBeforeAllRegions()) {
      positions_[op].first = next++;
    }
    if (stage.isAfterAllRegions()) {
      positions_[op].second = op->getNumRegions() ? next++ : positions_[op].first;
    }
    auto store = dyn_cast<ttng::TMAStoreWaitOp>(op);
    auto dot = dyn_cast<ttng::WarpGroupDotWaitOp>(op);
    if (stage.isBeforeAllRegions() && ((store && store.getPendings() == 0) || (dot && dot.getPendings() == 0))) {
      waits_.push_back(op);
    }
  });
}

/// The buffer is alive at `user`, and through all of every loop around `user` that the buffer comes into from outside:
/// the next iteration uses it again. Regions of warp specialization run concurrently, so the same holds for them.
void FunctionAllocator::extend(Buffer &buffer, Operation *user) {
  auto include = [&](unsigned begin, unsigned end) {
    buffer.begin = std::min(buffer.begin, begin);
    buffer.end = std::max(buffer.end, end);
  };
  auto [begin, end] = positions_[user];
  // The regions of an operation use the buffer by themselves, through their arguments.
  include(begin, user->getNumRegions() ? begin : end);
  for (Operation *scope = user->getParentOp(); scope != function_; scope = scope->getParentOp()) {
    if (!scope->isProperAncestor(buffer.owner) && isa<LoopLikeOpInterface, ttg::WarpSpecializeOp>(scope)) {
      include(positions_[scope].first, positions_[scope].second);
    }
  }
}

/// The buffer is read until the next wait for all asynchronous reads of that kind.
void FunctionAllocator::extendToWait(Buffer &buffer, Operation *reader) {
  bool store = isa<ttng::AsyncTMACopyLocalToGlobalOp, ttng::AsyncTMAReduceOp, ttng::AsyncTMAScatterOp>(reader);
  auto dot = dyn_cast<ttng::WarpGroupDotOp>(reader);
  bool isProduct = isa<ttng::WarpGroupDotPartsOp>(reader) || (dot && dot.getIsAsync());
  if (!store && !isProduct) {
    return;
  }
  for (Operation *wait : waits_) {
    if (positions_[wait].first > positions_[reader].first && isa<ttng::TMAStoreWaitOp>(wait) == store) {
      extend(buffer, wait);
      return;
    }
  }
}

void FunctionAllocator::collect() {
  DenseMap<Value, size_t> bufferOf;
  auto add = [&](Operation *owner, int64_t bytes, int64_t alignment) {
    Buffer buffer{owner, bytes, alignment};
    std::tie(buffer.begin, buffer.end) = positions_[owner];
    buffers_.push_back(buffer);
  };
  function_->walk([&](Operation *op) {
    if (auto alloc = dyn_cast<ttg::LocalAllocOp>(op)) {
      bufferOf[alloc.getResult()] = buffers_.size();
      add(op, sharedBytes(alloc.getType()), alloc.getAlignmentOrDefault());
      if (!alloc.getSrc() && !alloc.use_empty()) {
        // Nothing is in it yet: its life begins with its first use.
        buffers_.back().begin = std::numeric_limits<unsigned>::max();
        buffers_.back().end = 0;
      }
    } else if (auto call = dyn_cast<tt::CallOp>(op)) {
      if (int64_t bytes = frames_.lookup(SymbolTable::lookupNearestSymbolFrom(op, call.getCalleeAttr()))) {
        add(op, bytes, kFrameAlignment);
      }
    } else if (int64_t bytes = scratchBytes(op)) {
      add(op, bytes, scratchAlignment(op));
    }
  });
  if (function_->walk([](ttg::WarpSpecializeOp) { return WalkResult::interrupt(); }).wasInterrupted()) {
    // Tells the warps of partitions what to run; they read it at any time.
    buffers_.push_back({function_, kScratchAlignment, kScratchAlignment, 0, std::numeric_limits<unsigned>::max()});
  }
  function_->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      for (Value root : views_.of(operand)) {
        auto it = bufferOf.find(root);
        if (it == bufferOf.end()) {
          continue;
        }
        extend(buffers_[it->second], op);
        extendToWait(buffers_[it->second], op);
      }
    }
  });
  for (auto [root, index] : bufferOf) {
    for (Operation *loop : views_.carriers(root)) {
      buffers_[index].begin = std::min(buffers_[index].begin, positions_[loop].first);
      buffers_[index].end = std::max(buffers_[index].end, positions_[loop].second);
    }
  }
}

/// The region of `specialize` that holds `op`.
static Region *regionOf(ttg::WarpSpecializeOp specialize, Operation *op) {
  if (specialize.getDefaultRegion().isAncestor(op->getParentRegion())) {
    return &specialize.getDefaultRegion();
  }
  for (Region &region : specialize.getPartitionRegions()) {
    if (region.isAncestor(op->getParentRegion())) {
      return &region;
    }
  }
  return nullptr;
}

bool FunctionAllocator::interfere(const Buffer &a, const Buffer &b) const {
  if (a.begin <= b.end && b.begin <= a.end) {
    return true;
  }
  auto specialize = a.owner->getParentOfType<ttg::WarpSpecializeOp>();
  if (!specialize || !specialize->isProperAncestor(b.owner)) {
    return false;
  }
  return regionOf(specialize, a.owner) != regionOf(specialize, b.owner);
}

/// How many buffers that are alive at other times have a part of the memory that `buffer` would have at `offset`; none
/// if one that is alive with it does.
std::optional<unsigned> FunctionAllocator::sharersAt(const Buffer &buffer, int64_t offset,
                                                     ArrayRef<Buffer *> placed) const {
  unsigned count = 0;
  for (Buffer *other : placed) {
    if (offset >= other->offset + other->bytes || other->offset >= offset + buffer.bytes) {
      continue;
    }
    if (interfere(buffer, *other)) {
      return std::nullopt;
    }
    ++count;
  }
  return count;
}

/// The largest first. A buffer goes where it shares memory with the fewest buffers of other times, since their accesses
/// need barriers, as long as the memory does not grow for it (beyond what is free of cost anyway); else to the lowest
/// offset.
int64_t FunctionAllocator::place() {
  SmallVector<Buffer *> order = llvm::map_to_vector(buffers_, [](Buffer &buffer) { return &buffer; });
  llvm::sort(order, [](Buffer *a, Buffer *b) { return std::pair(-a->bytes, a) < std::pair(-b->bytes, b); });
  int64_t size = 0;
  for (auto [position, buffer] : llvm::enumerate(order)) {
    ArrayRef<Buffer *> placed = ArrayRef(order).take_front(position);
    SmallVector<int64_t> candidates = {0};
    for (Buffer *other : placed) {
      candidates.push_back(llvm::alignTo(other->offset + other->bytes, buffer->alignment));
    }
    llvm::sort(candidates);
    std::optional<unsigned> fewest;
    for (int64_t offset : candidates) {
      std::optional<unsigned> shared = sharersAt(*buffer, offset, placed);
      bool grows = offset + buffer->bytes > std::max(size, kFreeBytes);
      if (!shared || (fewest && (grows || *shared >= *fewest))) {
        continue;
      }
      fewest = shared;
      buffer->offset = offset;
    }
    size = std::max(size, buffer->offset + buffer->bytes);
  }
  return size;
}

int64_t FunctionAllocator::run() {
  number();
  collect();
  int64_t size = place();
  OpBuilder b(function_);
  for (const Buffer &buffer : buffers_) {
    buffer.owner->setAttr("allocation.offset", b.getI32IntegerAttr(buffer.offset));
  }
  return size;
}

class AllocateSharedMemory : public impl::AllocateSharedMemoryBase<AllocateSharedMemory> {
public:
  void runOnOperation() override {
    // Callees first: a call needs the callee's size.
    ModuleOp module = getOperation();
    if (failed(requireLayouts(module))) {
      return signalPassFailure();
    }
    DenseMap<Operation *, int64_t> frames;
    int64_t size = 0;
    SmallPtrSet<Operation *, 4> active;
    std::function<LogicalResult(tt::FuncOp)> allocate = [&](tt::FuncOp function) -> LogicalResult {
      if (frames.contains(function) || function.isExternal()) {
        return success();
      }
      if (!active.insert(function).second) {
        return function.emitOpError("is recursive");
      }
      WalkResult callees = function.walk([&](tt::CallOp call) {
        auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr());
        return WalkResult(callee ? allocate(callee) : call.emitOpError("has no callee"));
      });
      if (callees.wasInterrupted()) {
        return failure();
      }
      frames[function] = FunctionAllocator(function, frames).run();
      size = std::max(size, frames[function]);
      return success();
    };
    Builder b(module);
    for (tt::FuncOp function : module.getOps<tt::FuncOp>()) {
      if (failed(allocate(function))) {
        return signalPassFailure();
      }
      if (function.isPublic() && !function.isExternal()) {
        ttg::holderOfKernelNumbers(function)->setAttr("ttg.shared", b.getI32IntegerAttr(frames[function]));
      }
    }
    module->setAttr("ttg.shared", b.getI32IntegerAttr(size));
  }
};

} // namespace

} // namespace jitk::passes
