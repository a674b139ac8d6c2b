// --jitk-insert-barriers: see Passes.td.
//
// The state at a point is what threads may have done to shared memory since they last met. It flows through the
// structured control flow to a fixed point; a barrier is inserted as soon as an access conflicts with the state. A
// larger state can only ask for more barriers, so none of them is wrong once the state has grown.

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"
#include "src/ir/ttng/Ttng.h"
#include "src/passes/Passes.h"
#include "src/passes/RingIndex.h"
#include "src/passes/SharedBuffers.h"
#include "src/passes/SharedScratch.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::passes {

#define GEN_PASS_DEF_INSERTBARRIERS
#include "src/passes/Passes.h.inc"

namespace {

/// Which part of a buffer an access touches: one slot of its first dimension, or all of it.
struct Slot {
  enum class Kind { Whole, Constant, Ring } kind = Kind::Whole;
  int64_t index = 0; ///< Constant: the slot. Ring: its offset in the present iteration
  int64_t size = 0;  ///< Ring: the number of slots
  Operation *loop = nullptr;
  Operation *start = nullptr; ///< Ring: the loop with which it begins to count

  bool operator==(const Slot &other) const = default;
  bool mayEqual(const Slot &other) const {
    bool comparable =
        kind == other.kind && kind != Kind::Whole && size == other.size && loop == other.loop && start == other.start;
    return !comparable || index == other.index;
  }
};

/// Bytes of shared memory.
struct Place {
  Value buffer; ///< null for scratch memory
  int64_t begin = 0, end = 0;
  Slot slot = {};

  Place(Value memory, int64_t first, int64_t last) : buffer(memory), begin(first), end(last) {}
  bool operator==(const Place &other) const {
    return std::tie(buffer, begin, end, slot) == std::tie(other.buffer, other.begin, other.end, other.slot);
  }
  bool overlaps(const Place &other) const {
    if (buffer && buffer == other.buffer) {
      return slot.mayEqual(other.slot);
    }
    return begin < other.end && other.begin < end;
  }
};

struct Write {
  Place place;
  bool needsBarrier = true;    ///< other threads do not see it yet
  bool needsFence = false;     ///< asynchronous units do not see it yet
  bool bySingleThread = false; ///< initialises or invalidates a memory barrier

  bool operator==(const Write &other) const {
    return place == other.place && needsBarrier == other.needsBarrier && needsFence == other.needsFence &&
           bySingleThread == other.bySingleThread;
  }
};

/// An access that goes on after its operation, until a wait.
struct Pending {
  enum class Kind { CopyWrite, DotRead, BulkRead } kind;
  Operation *op; ///< what issued it
  Place place;
  bool old = false; ///< on some path more may have been issued after it than the list says: no wait leaves it for sure

  bool operator==(const Pending &other) const {
    return std::tie(kind, op, place, old) == std::tie(other.kind, other.op, other.place, other.old);
  }
};

template <typename T> void addOnce(SmallVectorImpl<T> &list, const T &entry) {
  if (!llvm::is_contained(list, entry)) {
    list.push_back(entry);
  }
}

/// Of two paths that join, what both did last stays in flight as either knows; the order of anything before is lost.
void forgetOrder(SmallVectorImpl<Pending> &list, SmallVectorImpl<Pending> &other) {
  for (auto kind : {Pending::Kind::CopyWrite, Pending::Kind::DotRead, Pending::Kind::BulkRead}) {
    auto isOfKind = [&](const Pending &entry) { return entry.kind == kind; };
    auto entries = llvm::make_filter_range(llvm::reverse(list), isOfKind);
    auto others = llvm::make_filter_range(llvm::reverse(other), isOfKind);
    auto entry = entries.begin();
    auto opposite = others.begin();
    while (entry != entries.end() && opposite != others.end() && *entry == *opposite) {
      ++entry;
      ++opposite;
    }
    for (Pending &rest : llvm::make_range(entry, entries.end())) {
      rest.old = true;
    }
    for (Pending &rest : llvm::make_range(opposite, others.end())) {
      rest.old = true;
    }
  }
}

struct State {
  SmallVector<Place> reads;    ///< since the last barrier
  SmallVector<Place> unfenced; ///< read by threads since the last proxy fence
  SmallVector<Write> writes;
  SmallVector<Pending> pending;

  bool operator==(const State &other) const = default;

  void join(const State &other) {
    for (const Place &place : other.reads) {
      addOnce(reads, place);
    }
    for (const Place &place : other.unfenced) {
      addOnce(unfenced, place);
    }
    for (const Write &write : other.writes) {
      addOnce(writes, write);
    }
    SmallVector<Pending> both = std::move(pending), others = other.pending;
    forgetOrder(both, others);
    both.append(others);
    pending.clear();
    for (const Pending &entry : both) {
      addOnce(pending, entry);
    }
  }

  /// Applies `update` to every place.
  void forEachPlace(llvm::function_ref<void(Place &)> update) {
    for (Place &place : llvm::concat<Place>(reads, unfenced)) {
      update(place);
    }
    for (Write &write : writes) {
      update(write.place);
    }
    for (Pending &entry : pending) {
      update(entry.place);
    }
  }

  void meet() {
    reads.clear();
    llvm::erase_if(writes, [](const Write &write) { return !write.needsFence; });
    for (Write &write : writes) {
      write.needsBarrier = false;
    }
  }

  void fence() {
    unfenced.clear();
    llvm::erase_if(writes, [](const Write &write) { return !write.needsBarrier; });
    for (Write &write : writes) {
      write.needsFence = false;
    }
  }

  /// The next iteration of `loop` begins: what was slot k is now slot k - 1.
  void crossBackEdge(Operation *loop) {
    forEachPlace([&](Place &place) {
      if (place.slot.kind == Slot::Kind::Ring && place.slot.loop == loop) {
        place.slot.index = (place.slot.index + place.slot.size - 1) % place.slot.size;
      }
    });
    for (Pending &entry : pending) {
      entry.old = true;
    }
  }

  /// Outside of `loop` its iterations are not known.
  void leave(Operation *loop) {
    forEachPlace([&](Place &place) {
      if (place.slot.loop == loop) {
        place.slot = {};
      }
    });
    State merged;
    merged.pending = pending;
    merged.join(*this);
    *this = std::move(merged);
  }
};

/// How an operation touches a place.
struct Access {
  enum class Kind {
    Read,       ///< by threads
    Write,      ///< by threads
    AsyncRead,  ///< by an asynchronous unit
    AsyncWrite, ///< by an asynchronous unit, whose completion a memory barrier orders
    BarrierUse, ///< of a memory barrier
    BarrierSet, ///< initialises or invalidates a memory barrier, in one thread
  } kind;
  Place place;
};

class BarrierInsertion {
public:
  explicit BarrierInsertion(tt::FuncOp function) : function_(function), views_(function) {}

  void run();

private:
  /// What an operation does, by itself. Computed once.
  struct Behaviour {
    SmallVector<Access, 2> accesses;
    std::optional<Place> scratch;
    bool synchronizes = false; ///< all warps meet between the writes and the reads of the scratch
  };

  void placesOf(Value view, SmallVectorImpl<Place> &places);
  SmallVector<Access, 2> accessesOf(Operation *op);
  const Behaviour &behaviourOf(Operation *op);

  /// Whether the function has no conflict with the barriers it has, but for those in `left_`.
  bool isOrdered();
  bool isOrderedWithout(ArrayRef<Operation *> ops);

  void order(Operation *op, State &state, bool fenced);
  void require(Operation *op, ArrayRef<Access> accesses, State &state);
  void record(Operation *op, ArrayRef<Access> accesses, State &state);
  void complete(Pending::Kind kind, unsigned stillPending, State &state);

  void visit(Operation *op, State &state);
  void visitLoop(scf::ForOp loop, State &state);
  void visitWhile(scf::WhileOp loop, State &state);
  void visitIf(scf::IfOp branch, State &state);
  void visitSpecialize(ttg::WarpSpecializeOp specialize, State &state);
  void visitCall(tt::CallOp call, State &state);
  /// Turns the state before the region into the state after it.
  void analyze(Region &region, State &state);
  void analyze(Block &block, State &state);

  tt::FuncOp function_;
  SharedBuffers views_;
  DenseMap<Operation *, Behaviour> behaviours_;
  bool checking_ = false; ///< nothing is inserted: what would be is a conflict
  bool conflict_ = false;
  SmallVector<std::pair<Operation *, Operation *>> inserted_; ///< barriers, each with the fence before it or null
  llvm::SmallPtrSet<Operation *, 4> left_;                    ///< operations taken not to be there
};

static int64_t offsetOf(Operation *op) {
  auto offset = op->getAttrOfType<IntegerAttr>("allocation.offset");
  return offset ? offset.getInt() : -1;
}

/// The place of a whole buffer. Memory that a caller owns overlaps nothing of this function's.
static Place placeOfBuffer(Value buffer) {
  Operation *alloc = buffer.getDefiningOp();
  int64_t begin = alloc ? offsetOf(alloc) : -1;
  if (begin < 0) {
    return Place(buffer, 0, 0);
  }
  return Place(buffer, begin, begin + sharedBytes(cast<ttg::MemDescType>(buffer.getType())));
}

static Slot slotOf(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant))) {
    return {Slot::Kind::Constant, constant.getSExtValue()};
  }
  if (auto ring = RingIndex::match(index)) {
    return {Slot::Kind::Ring, ring->offset, ring->size, ring->loop, ring->start};
  }
  return {};
}

void BarrierInsertion::placesOf(Value view, SmallVectorImpl<Place> &places) {
  Slot slot;
  for (Value source = view;;) {
    Operation *op = source.getDefiningOp();
    if (auto alloc = dyn_cast_or_null<ttg::LocalAllocOp>(op)) {
      Place place = placeOfBuffer(source);
      place.slot = slot;
      places.push_back(place);
      return;
    }
    if (auto index = dyn_cast_or_null<ttg::MemDescIndexOp>(op)) {
      slot = slotOf(index.getIndex());
      source = index.getSrc();
    } else if (auto viewLike = dyn_cast_or_null<ViewLikeOpInterface>(op)) {
      source = viewLike.getViewSource();
    } else if (auto wait = dyn_cast_or_null<ttng::WarpGroupDotWaitOp>(op)) {
      source = wait.getInputs()[cast<OpResult>(source).getResultNumber()];
    } else if (auto argument = dyn_cast<BlockArgument>(source);
               argument && isa<ttg::WarpSpecializePartitionsOp>(argument.getOwner()->getParentOp())) {
      auto specialize = argument.getOwner()->getParentOp()->getParentOfType<ttg::WarpSpecializeOp>();
      source = specialize.getExplicitCaptures()[argument.getArgNumber()];
    } else {
      break;
    }
  }
  for (Value buffer : views_.of(view)) {
    places.push_back(placeOfBuffer(buffer));
  }
}

const BarrierInsertion::Behaviour &BarrierInsertion::behaviourOf(Operation *op) {
  auto [it, isNew] = behaviours_.try_emplace(op);
  if (isNew) {
    Behaviour behaviour;
    int64_t bytes = isa<ttg::LocalAllocOp, tt::CallOp>(op) ? 0 : scratchBytes(op);
    int64_t begin = offsetOf(op);
    if (bytes && begin >= 0) {
      behaviour.scratch = Place(nullptr, begin, begin + bytes);
      behaviour.synchronizes = synchronizesScratch(op);
    } else {
      behaviour.accesses = accessesOf(op);
    }
    it->second = std::move(behaviour);
  }
  return it->second;
}

SmallVector<Access, 2> BarrierInsertion::accessesOf(Operation *op) {
  SmallVector<Access, 2> accesses;
  auto add = [&](Access::Kind kind, Value view) {
    if (!isShared(view.getType())) {
      return;
    }
    SmallVector<Place> places;
    placesOf(view, places);
    for (const Place &place : places) {
      accesses.push_back({kind, place});
    }
  };
  using Kind = Access::Kind;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ttg::LocalAllocOp alloc) {
        if (alloc.getSrc()) {
          add(Kind::Write, alloc.getResult());
        }
      })
      .Case([&](ttg::LocalLoadOp load) { add(Kind::Read, load.getSrc()); })
      .Case([&](ttg::LocalStoreOp store) { add(Kind::Write, store.getDst()); })
      .Case([&](ttng::RemoteShmemStoreOp store) { add(Kind::Write, store.getDst()); })
      .Case([&](ttg::AsyncCopyGlobalToLocalOp copy) { add(Kind::Write, copy.getResult()); })
      .Case([&](ttng::WarpGroupDotOp dot) {
        add(Kind::AsyncRead, dot.getA());
        add(Kind::AsyncRead, dot.getB());
      })
      .Case([&](ttng::WarpGroupDotPartsOp dot) {
        add(Kind::AsyncRead, dot.getA());
        llvm::for_each(dot.getB(), [&](Value part) { add(Kind::AsyncRead, part); });
      })
      .Case([&](ttng::AsyncTMACopyGlobalToLocalOp copy) {
        add(Kind::BarrierUse, copy.getBarrier());
        add(Kind::AsyncWrite, copy.getResult());
      })
      .Case([&](ttng::AsyncTMAGatherOp gather) {
        add(Kind::BarrierUse, gather.getBarrier());
        add(Kind::AsyncWrite, gather.getResult());
      })
      .Case([&](ttng::AsyncTMACopyLocalToGlobalOp copy) { add(Kind::AsyncRead, copy.getSrc()); })
      .Case([&](ttng::AsyncTMAReduceOp reduce) { add(Kind::AsyncRead, reduce.getSrc()); })
      .Case([&](ttng::AsyncTMAScatterOp scatter) { add(Kind::AsyncRead, scatter.getSrc()); })
      .Case([&](ttng::InitBarrierOp init) { add(Kind::BarrierSet, init.getAlloc()); })
      .Case([&](ttng::InvalBarrierOp inval) { add(Kind::BarrierSet, inval.getAlloc()); })
      .Case([&](ttng::BarrierExpectOp expect) { add(Kind::BarrierUse, expect.getAlloc()); })
      .Case([&](ttng::WaitBarrierOp wait) { add(Kind::BarrierUse, wait.getAlloc()); })
      .Case([&](ttng::ArriveBarrierOp arrive) { add(Kind::BarrierUse, arrive.getAlloc()); })
      .Case([&](ttng::AsyncCopyMbarrierArriveOp arrive) { add(Kind::BarrierUse, arrive.getBarrier()); });
  return accesses;
}

/// Makes all threads meet before `op`.
void BarrierInsertion::order(Operation *op, State &state, bool fenced) {
  if (checking_) {
    conflict_ = true;
    return;
  }
  OpBuilder b(op);
  Operation *fence = nullptr;
  if (fenced) {
    fence = ttng::FenceAsyncSharedOp::create(b, op->getLoc(), /*bCluster=*/false);
    state.fence();
  }
  inserted_.emplace_back(gpu::BarrierOp::create(b, op->getLoc()), fence);
  state.meet();
}

void BarrierInsertion::require(Operation *op, ArrayRef<Access> accesses, State &state) {
  using Kind = Access::Kind;
  bool barrier = false, fence = false;
  auto overlapsAny = [](ArrayRef<Place> places, const Access &access) {
    return llvm::any_of(places, [&](const Place &place) { return place.overlaps(access.place); });
  };
  for (const Access &access : accesses) {
    bool async = access.kind == Kind::AsyncRead || access.kind == Kind::AsyncWrite;
    bool writes = access.kind == Kind::Write || access.kind == Kind::AsyncWrite || access.kind == Kind::BarrierSet;
    barrier |= writes && overlapsAny(state.reads, access);
    fence |= access.kind == Access::Kind::AsyncWrite && overlapsAny(state.unfenced, access);
    for (const Write &write : state.writes) {
      if (!write.place.overlaps(access.place) || (write.bySingleThread && access.kind == Kind::BarrierSet)) {
        continue;
      }
      barrier |= write.needsBarrier;
      fence |= async && write.needsFence;
    }
  }
  // An arrival tells others that this group is done with a buffer, whichever it is; one of each warp, or each
  // thread, tells it of that warp or thread alone.
  if (auto arrive = dyn_cast<ttng::ArriveBarrierOp>(op); arrive && !arrive.getPerWarp() && !arrive.getPerThread()) {
    barrier |=
        !state.reads.empty() || llvm::any_of(state.writes, [](const Write &write) { return write.needsBarrier; });
  }
  if (barrier || fence) {
    order(op, state, fence);
  }
}

void BarrierInsertion::record(Operation *op, ArrayRef<Access> accesses, State &state) {
  using Kind = Access::Kind;
  for (const Access &access : accesses) {
    switch (access.kind) {
    case Kind::Read:
      addOnce(state.reads, access.place);
      addOnce(state.unfenced, access.place);
      break;
    case Kind::Write:
      if (isa<ttg::AsyncCopyGlobalToLocalOp>(op)) {
        addOnce(state.pending, {Pending::Kind::CopyWrite, op, access.place});
      } else {
        addOnce(state.writes, {access.place, /*needsBarrier=*/true, /*needsFence=*/true});
      }
      break;
    case Kind::AsyncRead:
      if (auto dot = dyn_cast<ttng::WarpGroupDotOp>(op); dot || isa<ttng::WarpGroupDotPartsOp>(op)) {
        if (!dot || dot.getIsAsync()) {
          addOnce(state.pending, {Pending::Kind::DotRead, op, access.place});
        } else {
          addOnce(state.reads, access.place);
        }
      } else {
        addOnce(state.pending, {Pending::Kind::BulkRead, op, access.place});
      }
      break;
    case Kind::AsyncWrite:
      break;
    case Kind::BarrierUse:
      // One thread's use of a memory barrier is done before whatever makes another thread reuse its bytes.
      if (isa<ttng::WaitBarrierOp>(op)) {
        addOnce(state.reads, access.place);
      }
      break;
    case Kind::BarrierSet:
      addOnce(state.writes, {access.place, /*needsBarrier=*/true, /*needsFence=*/false, /*bySingleThread=*/true});
      break;
    }
  }
}

/// A wait leaves the last `stillPending` operations of its kind in flight. What may be complete has to be ordered like
/// a thread's own accesses; what may still be in flight stays.
void BarrierInsertion::complete(Pending::Kind kind, unsigned stillPending, State &state) {
  llvm::SmallSetVector<Operation *, 4> inFlight;
  for (const Pending &entry : llvm::reverse(state.pending)) {
    if (entry.kind == kind && !entry.old && inFlight.size() < stillPending) {
      inFlight.insert(entry.op);
    }
  }
  bool older = inFlight.size() < stillPending;
  SmallVector<Pending> kept;
  for (const Pending &entry : state.pending) {
    bool certain = entry.kind == kind && !entry.old && inFlight.contains(entry.op);
    if (entry.kind != kind || certain || older) {
      kept.push_back(entry);
    }
    if (entry.kind != kind || certain) {
      continue;
    }
    if (kind == Pending::Kind::CopyWrite) {
      addOnce(state.writes, Write{entry.place, /*needsBarrier=*/true, /*needsFence=*/true});
    } else {
      addOnce(state.reads, entry.place);
    }
  }
  state.pending = std::move(kept);
}

void BarrierInsertion::visitLoop(scf::ForOp loop, State &state) {
  // The state at the start of the body grows until the body gives back nothing new.
  State before = state;
  while (true) {
    State end = before;
    analyze(loop.getRegion(), end);
    State next = end;
    next.crossBackEdge(loop);
    State joined = before;
    joined.join(next);
    if (joined == before) {
      state.join(end);
      state.leave(loop);
      return;
    }
    before = std::move(joined);
  }
}

void BarrierInsertion::visitWhile(scf::WhileOp loop, State &state) {
  State before = state;
  while (true) {
    State exit = before;
    analyze(loop.getBefore(), exit);
    State end = exit;
    analyze(loop.getAfter(), end);
    end.crossBackEdge(loop);
    State joined = before;
    joined.join(end);
    if (joined == before) {
      state = std::move(exit);
      return;
    }
    before = std::move(joined);
  }
}

void BarrierInsertion::visitIf(scf::IfOp branch, State &state) {
  State other = state;
  analyze(branch.getThenRegion(), state);
  if (!branch.getElseRegion().empty()) {
    analyze(branch.getElseRegion(), other);
  }
  state.join(other);
}

void BarrierInsertion::visitSpecialize(ttg::WarpSpecializeOp specialize, State &state) {
  // All warps meet where the regions begin, after the captures are written, and where they end. Within, memory barriers
  // order one region's accesses against another's.
  if (const std::optional<Place> &captures = behaviourOf(specialize).scratch) {
    require(specialize, Access{Access::Kind::Write, *captures}, state);
  }
  state.meet();
  for (Region &region : specialize.getPartitionRegions()) {
    State own;
    own.writes = state.writes;
    own.unfenced = state.unfenced;
    analyze(region, own);
  }
  analyze(specialize.getDefaultRegion(), state);
  state.meet();
}

void BarrierInsertion::visitCall(tt::CallOp call, State &state) {
  SmallVector<Place> places;
  if (auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr())) {
    if (int64_t begin = offsetOf(call); begin >= 0) {
      // The callee's size is not known here; it ends before anything that is alive across the call.
      places.emplace_back(nullptr, begin, std::numeric_limits<int64_t>::max());
    }
  }
  for (Value operand : call.getArgOperands()) {
    if (isShared(operand.getType())) {
      placesOf(operand, places);
    }
  }
  if (places.empty()) {
    return;
  }
  if (!state.reads.empty() || !state.writes.empty() || !state.unfenced.empty()) {
    bool fenced =
        !state.unfenced.empty() || llvm::any_of(state.writes, [](const Write &write) { return write.needsFence; });
    order(call, state, fenced);
  }
  for (const Place &place : places) {
    addOnce(state.reads, place);
    addOnce(state.unfenced, place);
    addOnce(state.writes, {place, /*needsBarrier=*/true, /*needsFence=*/true});
  }
}

void BarrierInsertion::visit(Operation *op, State &state) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return visitLoop(loop, state);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    return visitWhile(loop, state);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    return visitIf(branch, state);
  }
  if (auto specialize = dyn_cast<ttg::WarpSpecializeOp>(op)) {
    return visitSpecialize(specialize, state);
  }
  if (auto call = dyn_cast<tt::CallOp>(op)) {
    return visitCall(call, state);
  }
  if (isa<gpu::BarrierOp, ttg::LocalBarrierOp>(op)) {
    return state.meet();
  }
  if (isa<ttng::FenceAsyncSharedOp>(op)) {
    return state.fence();
  }
  if (auto wait = dyn_cast<ttg::AsyncWaitOp>(op)) {
    // Its number counts groups, of which an operation may have any part.
    return complete(Pending::Kind::CopyWrite, wait.getNum() ? ~0u : 0, state);
  }
  if (auto wait = dyn_cast<ttng::WarpGroupDotWaitOp>(op)) {
    return complete(Pending::Kind::DotRead, wait.getPendings(), state);
  }
  if (auto wait = dyn_cast<ttng::TMAStoreWaitOp>(op)) {
    return complete(Pending::Kind::BulkRead, wait.getPendings(), state);
  }
  const Behaviour &behaviour = behaviourOf(op);
  if (behaviour.scratch) {
    require(op, {{Access::Kind::Write, *behaviour.scratch}}, state);
    if (behaviour.synchronizes) {
      state.meet();
    }
    // The making of a tensor map fences its own writes.
    Write write{*behaviour.scratch, !behaviour.synchronizes, /*needsFence=*/!isa<ttng::TensormapCreateOp>(op)};
    if (write.needsBarrier || write.needsFence) {
      addOnce(state.writes, write);
    }
    addOnce(state.reads, *behaviour.scratch);
    return;
  }
  require(op, behaviour.accesses, state);
  record(op, behaviour.accesses, state);
}

void BarrierInsertion::analyze(Block &block, State &state) {
  // Barriers are inserted before the operation at hand.
  for (Operation &op : block) {
    if (conflict_) {
      return;
    }
    if (!left_.contains(&op)) {
      visit(&op, state);
    }
  }
}

void BarrierInsertion::analyze(Region &region, State &state) {
  if (region.hasOneBlock()) {
    return analyze(region.front(), state);
  }
  DenseMap<Block *, State> before;
  before[&region.front()] = state;
  SmallVector<Block *> work = {&region.front()};
  llvm::SmallPtrSet<Block *, 8> visited;
  State after;
  while (!work.empty()) {
    Block *block = work.pop_back_val();
    visited.insert(block);
    State end = before[block];
    analyze(*block, end);
    if (block->getNumSuccessors() == 0) {
      after.join(end);
    }
    for (Block *successor : block->getSuccessors()) {
      State joined = before[successor];
      joined.join(end);
      if (!(joined == before[successor]) || !visited.contains(successor)) {
        before[successor] = std::move(joined);
        work.push_back(successor);
      }
    }
  }
  state = std::move(after);
}

bool BarrierInsertion::isOrdered() {
  checking_ = true;
  conflict_ = false;
  State state;
  analyze(function_.getBody(), state);
  return !conflict_;
}

bool BarrierInsertion::isOrderedWithout(ArrayRef<Operation *> ops) {
  left_.insert(ops.begin(), ops.end());
  if (isOrdered()) {
    return true;
  }
  for (Operation *op : ops) {
    left_.erase(op);
  }
  return false;
}

void BarrierInsertion::run() {
  State state;
  analyze(function_.getBody(), state);
  for (auto [barrier, fence] : inserted_) {
    SmallVector<Operation *, 2> both = {barrier};
    if (fence) {
      both.push_back(fence);
    }
    if (!isOrderedWithout(both) && fence) {
      isOrderedWithout(fence);
    }
  }
  for (Operation *op : left_) {
    op->erase();
  }
}

class InsertBarriers : public impl::InsertBarriersBase<InsertBarriers> {
public:
  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      if (!function.isExternal()) {
        BarrierInsertion(function).run();
      }
    }
  }
};

} // namespace
} // namespace jitk::passes
