#include "src/passes/pipelining/CopyGroups.h"

#include "src/passes/pipelining/GlobalWrites.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

// --- who reads a buffer ----------------------------------------------------------------------------------------------

/// The ops that read or write `buffer`, through views or not; none where it flows elsewhere.
static std::optional<SmallVector<Operation *>> accessesOf(Value buffer) {
  SmallVector<Operation *> accesses;
  SmallVector<Value> work = {buffer};
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (auto view = dyn_cast<ViewLikeOpInterface>(user)) {
        work.push_back(view.getViewDest());
      } else if (isa<ttg::LocalLoadOp, ttg::LocalStoreOp, ttg::AsyncCopyGlobalToLocalOp>(user)) {
        accesses.push_back(user);
      } else {
        return std::nullopt;
      }
    }
  }
  return accesses;
}

/// Whether `op` writes all of `buffer`: what the mask of a copy leaves out is filled.
static bool overwrites(Operation *op, Value buffer) {
  if (auto copy = dyn_cast<ttg::AsyncCopyGlobalToLocalOp>(op)) {
    return copy.getResult() == buffer;
  }
  auto store = dyn_cast<ttg::LocalStoreOp>(op);
  return store && store.getDst() == buffer;
}

/// Whether `access`, outside of `loop`, comes behind one of `writes` that the loop does not come behind in turn.
static bool isShieldedFrom(scf::ForOp loop, Operation *access, ArrayRef<Operation *> writes) {
  return llvm::any_of(writes, [&](Operation *write) {
    Operation *behind = write->getBlock()->findAncestorOpInBlock(*access);
    Operation *loopThere = write->getBlock()->findAncestorOpInBlock(*loop);
    bool isBehind = behind && (write == behind || write->isBeforeInBlock(behind));
    return isBehind && !(loopThere && write->isBeforeInBlock(loopThere));
  });
}

/// Whether what an iteration copies into its destination is read in that iteration alone, after `wait`.
static bool isPrivateToIteration(scf::ForOp loop, ttg::AsyncCopyGlobalToLocalOp copy, Operation *wait) {
  auto alloc = copy.getResult().getDefiningOp<ttg::LocalAllocOp>();
  if (!alloc || alloc.getSrc() || loop->isAncestor(alloc)) {
    return false;
  }
  std::optional<SmallVector<Operation *>> accesses = accessesOf(alloc);
  if (!accesses) {
    return false;
  }
  SmallVector<Operation *> writes =
      llvm::filter_to_vector(*accesses, [&](Operation *op) { return !loop->isAncestor(op) && overwrites(op, alloc); });
  return llvm::all_of(*accesses, [&](Operation *access) {
    if (!loop->isAncestor(access)) {
      return isShieldedFrom(loop, access, writes);
    }
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*access);
    return access == copy || wait->isBeforeInBlock(inBody);
  });
}

// --- groups ----------------------------------------------------------------------------------------------------------

static std::optional<CopyGroup> matchGroup(ttg::AsyncWaitOp wait) {
  if (wait.getNum() != 0 || wait.getAsyncToken().size() != 1 || !wait->use_empty()) {
    return std::nullopt;
  }
  auto commit = wait.getAsyncToken().front().getDefiningOp<ttg::AsyncCommitGroupOp>();
  if (!commit || commit->getNextNode() != wait || !commit->hasOneUse()) {
    return std::nullopt;
  }
  CopyGroup group = {{}, commit, wait};
  for (Value token : commit.getInputTokens()) {
    auto copy = token.getDefiningOp<ttg::AsyncCopyGlobalToLocalOp>();
    if (!copy || !token.hasOneUse() || copy->getBlock() != wait->getBlock()) {
      return std::nullopt;
    }
    group.copies.push_back(copy);
  }
  return group.copies.empty() ? std::nullopt : std::optional(group);
}

SmallVector<CopyGroup> findCopyGroups(scf::ForOp loop) {
  SmallVector<CopyGroup> groups;
  DenseSet<Value> filled;
  GlobalWrites writes(loop);
  for (auto wait : loop.getBody()->getOps<ttg::AsyncWaitOp>()) {
    std::optional<CopyGroup> group = matchGroup(wait);
    bool isPrivate = group && llvm::all_of(group->copies, [&](ttg::AsyncCopyGlobalToLocalOp copy) {
                       return isPrivateToIteration(loop, copy, wait) && !writes.mayReach(copy.getSrc()) &&
                              filled.insert(copy.getResult()).second;
                     });
    if (isPrivate) {
      groups.push_back(*group);
    }
  }
  return groups;
}

// --- slices ----------------------------------------------------------------------------------------------------------

/// What a slice may hold besides pure ops.
struct SliceRules {
  bool mayLoad = false; ///< reads of global memory
  bool mayTrap = false; ///< divisions: the slice runs only where the original did
};

/// Adds what `value` is computed from in the body.
static bool collect(scf::ForOp loop, Value value, SliceRules rules, IterationSlice &slice) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == loop.getBody() && argument != loop.getInductionVar()) {
      slice.carried.insert(argument);
    }
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!loop->isAncestor(op) || slice.ops.contains(op)) {
    return true;
  }
  auto load = dyn_cast<tt::LoadOp>(op);
  bool isKnown =
      isPure(op) || (rules.mayTrap && isMemoryEffectFree(op)) || (rules.mayLoad && load && !load.getIsVolatile());
  if (op->getBlock() != loop.getBody() || op->getNumRegions() != 0 || !isKnown) {
    return false;
  }
  bool areKnown = llvm::all_of(op->getOperands(), [&](Value operand) { return collect(loop, operand, rules, slice); });
  slice.ops.insert(op);
  return areKnown;
}

std::optional<IterationSlice> sliceOfSources(scf::ForOp loop, ArrayRef<Value> sources) {
  IterationSlice slice;
  SliceRules rules = {.mayLoad = GlobalWrites(loop).isEmpty(), .mayTrap = true};
  bool areKnown = llvm::all_of(sources, [&](Value source) { return collect(loop, source, rules, slice); });
  return areKnown ? std::optional(std::move(slice)) : std::nullopt;
}

SmallVector<Value> sourcesOf(const CopyGroup &group) {
  SmallVector<Value> sources;
  for (ttg::AsyncCopyGlobalToLocalOp copy : group.copies) {
    for (Value given : {Value(copy.getSrc()), Value(copy.getMask()), Value(copy.getOther())}) {
      if (given) {
        sources.push_back(given);
      }
    }
  }
  return sources;
}

std::optional<IterationSlice> sliceOfNextValues(scf::ForOp loop, llvm::SetVector<BlockArgument> carried) {
  IterationSlice slice;
  slice.carried = std::move(carried);
  for (size_t i = 0; i < slice.carried.size(); ++i) {
    Value next = loop.getTiedLoopYieldedValue(slice.carried[i])->get();
    if (!collect(loop, next, SliceRules(), slice)) {
      return std::nullopt;
    }
  }
  return slice;
}

} // namespace jitk::passes
