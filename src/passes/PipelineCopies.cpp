// --jitk-pipeline-copies: asynchronous copies of a loop are issued iterations ahead, into a ring of buffers.
//
// With three stages, and L(i) and C(i) for the copies and the computation of iteration i:
//
//   before:   L(0) wait C(0)   L(1) wait C(1)   L(2) wait C(2)  ...
//   after:    L(0) L(1)  |  wait(0) L(2) C(0)  |  wait(1) L(3) C(1)  |  wait(2) L(4) C(2)  ...
//
// A wait leaves the groups of later iterations in flight. The barrier behind it tells every thread that the copies of
// all of them have landed, and that the slot of the previous iteration may be filled again: there is one an iteration.
// Where a product of the previous iteration may still be in flight there is one slot more, and what is filled is the
// slot that the iteration before that one has read.
//
// Copies past the last iteration are skipped, their groups stay empty, so that the waits count the same throughout.
//
// Where all that is copied are tiles of matrices, and the loop keeps a product in flight, the copy engine (TMA) moves
// them: one thread asks for a tile, and a memory barrier of each slot, full, takes the place of groups and waits.
//
// Where the loop is that over the blocks of a tile, in a loop over tiles, its copies by TMA do not end with the tile:
// those past the last block are the first ones of the next tile, so that they are in flight while this one is stored.
//
// A wait right before the loop, for copies of what the loop reads throughout, moves behind it: the first wait in the
// loop is for them too, so that they and the first copies of the loop are in flight together.

#include "src/ir/ttng/BarrierType.h"
#include "src/ir/ttng/Ttng.h"
#include "src/passes/Passes.h"
#include "src/passes/SharedBuffers.h"
#include "src/passes/layouts/TargetCapability.h"
#include "src/passes/pipelining/CopyGroups.h"
#include "src/passes/pipelining/GlobalWrites.h"
#include "src/passes/pipelining/ProductLoops.h"
#include "src/passes/pipelining/TileNest.h"
#include "src/passes/pipelining/TileSource.h"
#include "src/runtime/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace jitk::passes {

#define GEN_PASS_DEF_PIPELINECOPIES
#include "src/passes/Passes.h.inc"

using namespace jitk::ir;

namespace {

constexpr llvm::StringLiteral kNumStages = "tt.num_stages";

/// A loop, the groups that are issued ahead, and what that needs.
struct PipelinedLoop {
  scf::ForOp loop;
  SmallVector<CopyGroup> groups;
  SmallVector<IterationSlice> sources; ///< of each group
  IterationSlice advance;              ///< the next values of what the sources read of carried values
  int64_t numStages;
  int64_t numSlots; ///< of the rings: one for each stage, and one more where a product reads the slot before
  bool isByTma;     ///< everything that is copied is a tile, which TMA moves
  std::optional<TileNest> nest; ///< with the loop around it, if the copies go on from one of its iterations to the next

  /// The loop that runs once.
  scf::ForOp outermost() { return nest ? nest->around : loop; }
};

/// The iteration whose copies are next.
struct Cursor {
  Value iteration;            ///< of the loop: its induction variable
  SmallVector<Value> carried; ///< what the sources read of its carried values
  Value tile;                 ///< of the loop around it, in a nest
  SmallVector<Value> leaves;  ///< what the sources read of that one's body
};

/// Writes one pipelined loop.
class CopyPipeliner {
public:
  CopyPipeliner(PipelinedLoop plan, unsigned capability)
      : plan_(std::move(plan)), capability_(capability), rewriter_(plan_.loop.getContext()), loc_(plan_.loop.getLoc()) {
  }

  /// Returns the loop that stands for the outermost one of the plan.
  scf::ForOp run();

private:
  void makeRings();
  void makeBarriers();
  void dropBarriers();
  Value barrierAt(OpBuilder &b, unsigned index, Value slot);
  void delayWaitBefore();
  void writePrologue();
  void carryState();
  void rewriteGroup(unsigned index);
  void yieldState();

  /// Skips the copies of group `index` where the iteration is past the end.
  void issue(unsigned index, const Cursor &cursor, Value slot);
  void issueByTma(unsigned index, OpBuilder &b, const IRMapping &map, Value slot);
  /// A map in which the slice's ops can be cloned for another iteration.
  IRMapping atIteration(const Cursor &cursor);
  Value iterationAhead(Value iteration, int64_t count);
  Value isBefore(scf::ForOp loop, Value iteration);

  /// The first iteration of all.
  Cursor firstCursor();
  /// In the loop's body: the iteration whose copies it issues.
  Cursor cursorInLoop();
  Cursor next(const Cursor &cursor);
  SmallVector<Value> advance(const Cursor &cursor);
  /// The same in a nest, where the first block of the next tile follows the last one.
  Cursor nextInNest(const Cursor &cursor);
  /// What the first block of a tile needs, if the tile is there; else `absent`.
  SmallVector<Value> leavesOf(Value tile, ValueRange absent);
  /// Adds values to what a loop carries, whose next ones are to be set; returns those of an iteration.
  ValueRange carry(scf::ForOp &loop, ValueRange inits);
  Value i32(int64_t value) { return arith::ConstantIntOp::create(rewriter_, loc_, value, 32); }

  PipelinedLoop plan_;
  unsigned capability_;
  IRRewriter rewriter_;
  Location loc_;
  DenseMap<Value, Value> rings_; ///< of each allocation
  SmallVector<Value> barriers_;  ///< of each group, full: a row of one for each slot; none without TMA
  Cursor ahead_;                 ///< before the loop the first one that it issues, then that of its iteration; in the
                                 ///< latter the iteration is not carried but where it is a nest
  Value readSlot_, fillSlot_;
  Value phase_; ///< of the barriers, in which the slot to be read gets full
};

} // namespace

void CopyPipeliner::makeRings() {
  rewriter_.setInsertionPoint(plan_.outermost());
  for (CopyGroup &group : plan_.groups) {
    for (ttg::AsyncCopyGlobalToLocalOp copy : group.copies) {
      auto type = copy.getResult().getType();
      SmallVector<int64_t> shape = {plan_.numSlots};
      llvm::append_range(shape, type.getShape());
      auto ringType = ttg::MemDescType::get(shape, type.getElementType(), type.getEncoding(), type.getMemorySpace(),
                                            /*mutableMemory=*/true);
      rings_[copy.getResult()] = ttg::LocalAllocOp::create(rewriter_, loc_, ringType);
    }
  }
}

void CopyPipeliner::makeBarriers() {
  rewriter_.setInsertionPoint(plan_.outermost());
  for (unsigned index = 0; plan_.isByTma && index < plan_.groups.size(); ++index) {
    Type type = ttng::barrierType(rewriter_.getContext(), {plan_.numSlots, 1});
    barriers_.push_back(ttg::LocalAllocOp::create(rewriter_, loc_, type));
    for (int64_t slot = 0; slot < plan_.numSlots; ++slot) {
      ttng::InitBarrierOp::create(rewriter_, loc_, barrierAt(rewriter_, index, i32(slot)), /*count=*/1u);
    }
  }
  if (plan_.isByTma) {
    // Here, not where the first is used: that may be in a branch, and in the loop.
    ttg::LocalBarrierOp::create(rewriter_, loc_);
  }
}

void CopyPipeliner::dropBarriers() {
  rewriter_.setInsertionPointAfter(plan_.outermost());
  for (unsigned index = 0; plan_.isByTma && index < plan_.groups.size(); ++index) {
    for (int64_t slot = 0; slot < plan_.numSlots; ++slot) {
      ttng::InvalBarrierOp::create(rewriter_, loc_, barrierAt(rewriter_, index, i32(slot)));
    }
  }
}

Value CopyPipeliner::barrierAt(OpBuilder &b, unsigned index, Value slot) {
  return ttg::MemDescIndexOp::create(b, loc_, ttng::barrierType(b.getContext(), {1}), barriers_[index], slot);
}

Value CopyPipeliner::iterationAhead(Value iteration, int64_t count) {
  Type type = iteration.getType();
  Value distance = arith::ConstantOp::create(rewriter_, loc_, rewriter_.getIntegerAttr(type, count));
  Value steps = rewriter_.createOrFold<arith::MulIOp>(loc_, plan_.loop.getStep(), distance);
  return rewriter_.createOrFold<arith::AddIOp>(loc_, iteration, steps);
}

Value CopyPipeliner::isBefore(scf::ForOp loop, Value iteration) {
  auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  return rewriter_.createOrFold<arith::CmpIOp>(loc_, predicate, iteration, loop.getUpperBound());
}

IRMapping CopyPipeliner::atIteration(const Cursor &cursor) {
  IRMapping map;
  map.map(plan_.loop.getInductionVar(), cursor.iteration);
  for (auto [argument, value] : llvm::zip_equal(plan_.advance.carried, cursor.carried)) {
    map.map(argument, value);
  }
  if (plan_.nest) {
    map.map(plan_.nest->around.getInductionVar(), cursor.tile);
    for (auto [leaf, value] : llvm::zip_equal(plan_.nest->leaves, cursor.leaves)) {
      map.map(leaf, value);
    }
  }
  return map;
}

// --- which iteration's copies are next -------------------------------------------------------------------------------

Cursor CopyPipeliner::firstCursor() {
  Cursor cursor = {plan_.loop.getLowerBound(), {}, {}, {}};
  for (BlockArgument argument : plan_.advance.carried) {
    cursor.carried.push_back(plan_.loop.getTiedLoopInit(argument)->get());
  }
  if (plan_.nest) {
    cursor.tile = plan_.nest->around.getLowerBound();
    SmallVector<Value> none = llvm::map_to_vector(plan_.nest->leaves, [&](Value leaf) -> Value {
      return arith::ConstantOp::create(rewriter_, loc_, rewriter_.getZeroAttr(leaf.getType()));
    });
    cursor.leaves = leavesOf(cursor.tile, none);
  }
  return cursor;
}

Cursor CopyPipeliner::cursorInLoop() {
  Cursor cursor = ahead_;
  if (!plan_.nest) {
    cursor.iteration = iterationAhead(plan_.loop.getInductionVar(), plan_.numStages - 1);
  }
  return cursor;
}

SmallVector<Value> CopyPipeliner::advance(const Cursor &cursor) {
  IRMapping map = atIteration(cursor);
  for (Operation *op : plan_.advance.ops) {
    rewriter_.clone(*op, map);
  }
  return llvm::map_to_vector(plan_.advance.carried, [&](BlockArgument argument) {
    return map.lookupOrDefault(plan_.loop.getTiedLoopYieldedValue(argument)->get());
  });
}

Cursor CopyPipeliner::next(const Cursor &cursor) {
  return plan_.nest ? nextInNest(cursor) : Cursor{iterationAhead(cursor.iteration, 1), advance(cursor), {}, {}};
}

SmallVector<Value> CopyPipeliner::leavesOf(Value tile, ValueRange absent) {
  if (absent.empty()) {
    return {};
  }
  auto branch = scf::IfOp::create(rewriter_, loc_, TypeRange(absent), isBefore(plan_.nest->around, tile),
                                  /*withElseRegion=*/true);
  OpBuilder inside = branch.getThenBodyBuilder(), outside = branch.getElseBodyBuilder();
  IRMapping map;
  map.map(plan_.nest->around.getInductionVar(), tile);
  for (Operation *op : plan_.nest->leafOps) {
    inside.clone(*op, map);
  }
  scf::YieldOp::create(inside, loc_,
                       llvm::map_to_vector(plan_.nest->leaves, [&](Value leaf) { return map.lookupOrDefault(leaf); }));
  scf::YieldOp::create(outside, loc_, absent);
  return llvm::to_vector(ValueRange(branch.getResults()));
}

Cursor CopyPipeliner::nextInNest(const Cursor &cursor) {
  scf::ForOp around = plan_.nest->around;
  Value iteration = iterationAhead(cursor.iteration, 1);
  // Tiles are counted no further than to the first one that is not there.
  Value isInTile = isBefore(plan_.loop, iteration), isTile = isBefore(around, cursor.tile);
  Value isAtEnd = arith::XOrIOp::create(rewriter_, loc_, isInTile, arith::ConstantIntOp::create(rewriter_, loc_, 1, 1));
  Value entersNext = arith::AndIOp::create(rewriter_, loc_, isAtEnd, isTile);

  SmallVector<Value> here = {iteration, cursor.tile};
  llvm::append_range(here, cursor.leaves);
  auto branch = scf::IfOp::create(rewriter_, loc_, TypeRange(ValueRange(here)), entersNext, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter_);
  rewriter_.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter_, loc_, here);
  rewriter_.setInsertionPointToStart(branch.thenBlock());
  Value tile = arith::AddIOp::create(rewriter_, loc_, cursor.tile, around.getStep());
  SmallVector<Value> there = {plan_.loop.getLowerBound(), tile};
  llvm::append_range(there, leavesOf(tile, cursor.leaves));
  scf::YieldOp::create(rewriter_, loc_, there);
  return {branch.getResult(0), {}, branch.getResult(1), llvm::to_vector(ValueRange(branch.getResults()).drop_front(2))};
}

void CopyPipeliner::issue(unsigned index, const Cursor &cursor, Value slot) {
  Value isInLoop = isBefore(plan_.loop, cursor.iteration);
  if (plan_.nest) {
    isInLoop = arith::AndIOp::create(rewriter_, loc_, isInLoop, isBefore(plan_.nest->around, cursor.tile));
  }
  auto branch = scf::IfOp::create(rewriter_, loc_, isInLoop, /*withElseRegion=*/false);
  OpBuilder before(branch), inside = branch.getThenBodyBuilder();
  IRMapping map = atIteration(cursor);
  // Loads, and what hangs on them, stay behind the condition; all else can be hoisted further.
  DenseSet<Operation *> conditional;
  for (Operation *op : plan_.sources[index].ops) {
    bool isConditional = !isPure(op) || llvm::any_of(op->getOperands(), [&](Value operand) {
      return conditional.contains(operand.getDefiningOp());
    });
    if (isConditional) {
      conditional.insert(op);
    }
    (isConditional ? inside : before).clone(*op, map);
  }
  if (plan_.isByTma) {
    issueByTma(index, inside, map, slot);
    return;
  }
  for (ttg::AsyncCopyGlobalToLocalOp copy : plan_.groups[index].copies) {
    Value ring = rings_[copy.getResult()];
    map.map(copy.getResult(),
            ttg::MemDescIndexOp::create(inside, loc_, copy.getResult().getType(), ring, slot).getResult());
    inside.clone(*copy, map);
  }
  ttg::AsyncCommitGroupOp::create(rewriter_, loc_, ValueRange{});
}

void CopyPipeliner::issueByTma(unsigned index, OpBuilder &b, const IRMapping &map, Value slot) {
  Value barrier = barrierAt(b, index, slot), yes = arith::ConstantIntOp::create(b, loc_, 1, 1);
  int64_t bytes = 0;
  for (ttg::AsyncCopyGlobalToLocalOp copy : plan_.groups[index].copies) {
    bytes += sharedBytes(copy.getResult().getType());
  }
  ttng::BarrierExpectOp::create(b, loc_, barrier, uint32_t(bytes), yes);
  for (ttg::AsyncCopyGlobalToLocalOp copy : plan_.groups[index].copies) {
    ttg::MemDescType type = copy.getResult().getType();
    TileSource tile = *matchTileSource(copy);
    SmallVector<Value> origin = {tile.row.at(b, loc_, map), tile.column.at(b, loc_, map)};
    Value buffer = ttg::MemDescIndexOp::create(b, loc_, type, rings_[copy.getResult()], slot);
    ttng::AsyncTMACopyGlobalToLocalOp::create(b, loc_, tileMapOf(tile, type), origin, barrier, buffer, yes);
  }
}

/// A wait for all copies before the loop, if what stands between it and the loop's first wait does not need it.
static ttg::AsyncWaitOp waitBefore(scf::ForOp loop, const CopyGroup &first) {
  for (Operation *op = &loop.getBody()->front(); op != first.commit; op = op->getNextNode()) {
    if (!isMemoryEffectFree(op) && !isa<ttg::AsyncCopyGlobalToLocalOp, tt::LoadOp>(op)) {
      return {};
    }
  }
  for (Operation *op = loop->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto wait = dyn_cast<ttg::AsyncWaitOp>(op)) {
      return wait.getNum() == 0 && wait->use_empty() ? wait : nullptr;
    }
    if (!isMemoryEffectFree(op) && !isa<ttg::LocalAllocOp, tt::LoadOp>(op)) {
      return {};
    }
  }
  return {};
}

void CopyPipeliner::delayWaitBefore() {
  ttg::AsyncWaitOp wait = waitBefore(plan_.loop, plan_.groups.front());
  if (!wait) {
    return;
  }
  // Still there for a loop that does not run.
  rewriter_.setInsertionPointAfter(plan_.loop);
  ttg::AsyncWaitOp::create(rewriter_, loc_, ValueRange{}, /*num=*/0u);
  rewriter_.eraseOp(wait);
}

void CopyPipeliner::writePrologue() {
  rewriter_.setInsertionPoint(plan_.outermost());
  ahead_ = firstCursor();
  for (int64_t stage = 0; stage + 1 < plan_.numStages; ++stage) {
    if (!plan_.nest) {
      ahead_.iteration = iterationAhead(plan_.loop.getLowerBound(), stage);
    }
    Value slot = i32(stage);
    for (unsigned index = 0; index < plan_.groups.size(); ++index) {
      issue(index, ahead_, slot);
    }
    ahead_ = next(ahead_);
  }
}

ValueRange CopyPipeliner::carry(scf::ForOp &loop, ValueRange inits) {
  unsigned first = loop.getNumRegionIterArgs();
  auto replaced = loop.replaceWithAdditionalYields(rewriter_, inits, /*replaceInitOperandUsesInLoop=*/false,
                                                   [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
                                                     return SmallVector<Value>(added.begin(), added.end());
                                                   });
  loop = cast<scf::ForOp>(*replaced);
  return ValueRange(loop.getRegionIterArgs()).drop_front(first);
}

/// Sets what a loop yields last.
static void setLastYields(scf::ForOp loop, ValueRange values) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [offset, value] : llvm::enumerate(values)) {
    yield->setOperand(yield->getNumOperands() - values.size() + offset, value);
  }
}

void CopyPipeliner::carryState() {
  SmallVector<Value> inits = {i32(0), i32(plan_.numStages - 1)};
  if (plan_.isByTma) {
    inits.push_back(i32(0));
  }
  if (plan_.nest) {
    llvm::append_values(inits, ahead_.iteration, ahead_.tile);
    llvm::append_range(inits, ahead_.leaves);
    inits = llvm::to_vector(carry(plan_.nest->around, inits));
  }
  llvm::append_range(inits, ahead_.carried);
  SmallVector<unsigned> numbers =
      llvm::map_to_vector(plan_.advance.carried, [](BlockArgument argument) { return argument.getArgNumber(); });
  // The yields are set once the body is written.
  ValueRange added = carry(plan_.loop, inits);
  plan_.advance.carried.clear();
  for (unsigned number : numbers) {
    plan_.advance.carried.insert(plan_.loop.getBody()->getArgument(number));
  }
  if (plan_.nest) {
    setLastYields(plan_.nest->around, ValueRange(plan_.loop.getResults()).take_back(added.size()));
  }
  readSlot_ = added[0];
  fillSlot_ = added[1];
  added = added.drop_front(2);
  if (plan_.isByTma) {
    phase_ = added.front();
    added = added.drop_front();
  }
  if (plan_.nest) {
    ahead_ = {added[0], {}, added[1], llvm::to_vector(added.drop_front(2))};
  } else {
    ahead_.carried = llvm::to_vector(added);
  }
}

void CopyPipeliner::rewriteGroup(unsigned index) {
  CopyGroup &group = plan_.groups[index];
  rewriter_.setInsertionPoint(group.commit);
  if (plan_.isByTma) {
    ttng::WaitBarrierOp::create(rewriter_, loc_, barrierAt(rewriter_, index, readSlot_), phase_);
  } else {
    // All groups of the iterations between, and those of this one that stand before.
    int64_t inFlight = int64_t(plan_.groups.size()) * (plan_.numStages - 1) - 1;
    ttg::AsyncWaitOp::create(rewriter_, loc_, ValueRange{}, uint32_t(inFlight));
    if (capability_ >= 90) {
      ttng::FenceAsyncSharedOp::create(rewriter_, loc_, /*bCluster=*/false);
    }
  }
  ttg::LocalBarrierOp::create(rewriter_, loc_);
  issue(index, cursorInLoop(), fillSlot_);
  for (ttg::AsyncCopyGlobalToLocalOp copy : group.copies) {
    Value buffer = copy.getResult();
    Value slot = ttg::MemDescIndexOp::create(rewriter_, loc_, copy.getResult().getType(), rings_[buffer], readSlot_);
    rewriter_.replaceUsesWithIf(
        buffer, slot, [&](OpOperand &use) { return plan_.loop->isAncestor(use.getOwner()) && use.getOwner() != copy; });
  }
}

void CopyPipeliner::yieldState() {
  auto yield = cast<scf::YieldOp>(plan_.loop.getBody()->getTerminator());
  rewriter_.setInsertionPoint(yield);
  auto nextSlot = [&](Value slot) -> Value {
    Value stepped = arith::AddIOp::create(rewriter_, loc_, slot, i32(1));
    Value isPast = arith::CmpIOp::create(rewriter_, loc_, arith::CmpIPredicate::sge, stepped, i32(plan_.numSlots));
    return arith::SelectOp::create(rewriter_, loc_, isPast, i32(0), stepped);
  };
  SmallVector<Value> values = {nextSlot(readSlot_), nextSlot(fillSlot_)};
  if (plan_.isByTma) {
    // A barrier's next phase begins where the ring does.
    Value isFirst = arith::CmpIOp::create(rewriter_, loc_, arith::CmpIPredicate::eq, values.front(), i32(0));
    Value flipped = arith::XOrIOp::create(rewriter_, loc_, phase_, i32(1));
    values.push_back(arith::SelectOp::create(rewriter_, loc_, isFirst, flipped, phase_));
  }
  Cursor following = next(cursorInLoop());
  if (plan_.nest) {
    llvm::append_values(values, following.iteration, following.tile);
    llvm::append_range(values, following.leaves);
  }
  llvm::append_range(values, following.carried);
  setLastYields(plan_.loop, values);
}

scf::ForOp CopyPipeliner::run() {
  makeRings();
  makeBarriers();
  if (!plan_.isByTma) {
    delayWaitBefore();
  }
  writePrologue();
  carryState();
  for (unsigned index = 0; index < plan_.groups.size(); ++index) {
    rewriteGroup(index);
  }
  yieldState();
  for (CopyGroup &group : plan_.groups) {
    rewriter_.eraseOp(group.wait);
    rewriter_.eraseOp(group.commit);
    for (ttg::AsyncCopyGlobalToLocalOp copy : group.copies) {
      auto alloc = copy.getResult().getDefiningOp<ttg::LocalAllocOp>();
      rewriter_.eraseOp(copy);
      if (alloc->use_empty()) {
        rewriter_.eraseOp(alloc);
      }
    }
  }
  dropBarriers();
  plan_.loop->removeAttr(kNumStages);
  return plan_.outermost();
}

// --- which loops -----------------------------------------------------------------------------------------------------

/// Whether the buffer holds data while `loop` runs that is not the loop's own to replace.
static bool isAliveIn(scf::ForOp loop, ttg::LocalAllocOp alloc) {
  bool before = false, after = false;
  SmallVector<Value> work = {alloc};
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (auto view = dyn_cast<ViewLikeOpInterface>(user)) {
        work.push_back(view.getViewDest());
        continue;
      }
      Operation *there = loop->getBlock()->findAncestorOpInBlock(*user);
      if (!there || there == loop) {
        return true;
      }
      (there->isBeforeInBlock(loop) ? before : after) = true;
    }
  }
  return before && after;
}

/// What the loop stores: matrices change through shared memory, one at a time, into the order of global memory.
static int64_t bytesOfStores(scf::ForOp loop) {
  int64_t most = 0;
  loop->walk([&](tt::StoreOp store) {
    auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
    if (type && type.getRank() > 1 && type.getElementType().isIntOrFloat()) {
      most = std::max<int64_t>(most, llvm::divideCeil(type.getNumElements() * type.getElementTypeBitWidth(), 8));
    }
  });
  return most;
}

/// The most slots, up to `wanted`, whose rings fit beside the buffers that are alive in the loop and its stores.
static int64_t slotsThatFit(PipelinedLoop &plan, int64_t wanted, unsigned capability) {
  DenseSet<Value> replaced;
  int64_t perSlot = 0, others = 0;
  for (const CopyGroup &group : plan.groups) {
    for (ttg::AsyncCopyGlobalToLocalOp copy : group.copies) {
      replaced.insert(copy.getResult());
      perSlot += sharedBytes(copy.getResult().getType());
    }
  }
  scf::ForOp loop = plan.outermost();
  loop->getParentOfType<tt::FuncOp>().walk([&](ttg::LocalAllocOp alloc) {
    others += !replaced.contains(alloc) && isAliveIn(loop, alloc) ? sharedBytes(alloc.getType()) : 0;
  });
  return std::min(wanted, (int64_t(sharedMemoryLimit(capability)) - others - bytesOfStores(loop)) / perSlot);
}

/// Whether everything that is copied is a tile of a matrix, and none that the kernel itself writes: no barrier of its
/// threads tells TMA, which reads through a proxy of its own.
static bool movesTiles(ArrayRef<CopyGroup> groups) {
  GlobalWrites writes(groups.front().commit->getParentOfType<tt::FuncOp>());
  return llvm::all_of(groups, [&](const CopyGroup &group) {
    return llvm::all_of(group.copies, [&](ttg::AsyncCopyGlobalToLocalOp copy) {
      return matchTileSource(copy).has_value() && !writes.mayReach(copy.getSrc());
    });
  });
}

static std::optional<PipelinedLoop> planLoop(scf::ForOp loop, int64_t wanted, unsigned capability) {
  PipelinedLoop plan = {loop, {}, {}, {}, 0, 0, false, {}};
  for (CopyGroup &group : findCopyGroups(loop)) {
    if (std::optional<IterationSlice> sources = sliceOfSources(loop, sourcesOf(group))) {
      plan.groups.push_back(std::move(group));
      plan.sources.push_back(std::move(*sources));
    }
  }
  if (plan.groups.empty()) {
    return std::nullopt;
  }
  int64_t spare = keepsProductInFlight(loop, capability) ? 1 : 0;
  plan.isByTma = spare > 0 && movesTiles(plan.groups);
  llvm::SetVector<BlockArgument> carried;
  for (auto [group, sources] : llvm::zip_equal(plan.groups, plan.sources)) {
    if (plan.isByTma) {
      sources = *sliceOfSources(loop, coordinatesOf(group));
    }
    carried.insert_range(sources.carried);
  }
  std::optional<IterationSlice> next = sliceOfNextValues(loop, std::move(carried));
  if (!next) {
    return std::nullopt;
  }
  plan.advance = std::move(*next);
  if (plan.isByTma) {
    plan.nest = matchTileNest(loop, plan.groups, plan.sources);
  }
  plan.numSlots = slotsThatFit(plan, wanted + spare, capability);
  plan.numStages = plan.numSlots > 2 ? plan.numSlots - spare : plan.numSlots;
  return plan.numStages >= 2 ? std::optional(std::move(plan)) : std::nullopt;
}

namespace {

struct PipelineCopiesPass : impl::PipelineCopiesBase<PipelineCopiesPass> {
  using PipelineCopiesBase::PipelineCopiesBase;

  void runOnOperation() override {
    if (numStages < 1) {
      getOperation()->emitError("num-stages must be 1 or more: got ") << int64_t(numStages);
      return signalPassFailure();
    }
    if (mostStages < 0) {
      getOperation()->emitError("most-stages must be 0 or more: got ") << int64_t(mostStages);
      return signalPassFailure();
    }
    FailureOr<unsigned> capability = targetCapability(getOperation());
    if (failed(capability)) {
      return signalPassFailure();
    }
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      Attribute given = loop->getAttr(kNumStages);
      auto stated = dyn_cast_if_present<IntegerAttr>(given);
      if (given && !stated) {
        loop.emitError(kNumStages) << " must be an integer: got " << given;
        return signalPassFailure();
      }
      int64_t wanted = stated ? stated.getInt() : int64_t(numStages);
      wanted = mostStages > 0 ? std::min(wanted, int64_t(mostStages)) : wanted;
      if (std::optional<PipelinedLoop> plan = wanted < 2 ? std::nullopt : planLoop(loop, wanted, *capability)) {
        auto around = plan->nest ? llvm::find(loops, plan->nest->around) : loops.end();
        CopyPipeliner pipeliner(std::move(*plan), *capability);
        scf::ForOp outermost = pipeliner.run();
        if (around != loops.end()) {
          *around = outermost;
        }
      }
    }
  }
};

} // namespace
} // namespace jitk::passes
