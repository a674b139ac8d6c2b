#include "src/passes/pipelining/TileNest.h"

#include "src/passes/pipelining/GlobalWrites.h"
#include "src/passes/pipelining/TileSource.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

SmallVector<Value> coordinatesOf(const CopyGroup &group) {
  SmallVector<Value> terms;
  for (ttg::AsyncCopyGlobalToLocalOp copy : group.copies) {
    TileSource tile = *matchTileSource(copy);
    llvm::append_range(terms, tile.row.terms);
    llvm::append_range(terms, tile.column.terms);
  }
  return terms;
}

/// Whether the loop has the same iterations whichever one of `around` it is in.
static bool hasFixedBounds(scf::ForOp loop, scf::ForOp around) {
  return llvm::all_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
                      [&](Value bound) { return around.isDefinedOutsideOfLoop(bound); });
}

/// Whether an iteration of the loop may wait for others to write what it then reads.
static bool mayAcquire(scf::ForOp loop) {
  auto acquires = [](tt::MemSemantic order) {
    return order == tt::MemSemantic::ACQUIRE || order == tt::MemSemantic::ACQUIRE_RELEASE;
  };
  WalkResult visited = loop.walk([&](Operation *op) {
    bool isAcquiring =
        llvm::TypeSwitch<Operation *, bool>(op)
            .Case<tt::AtomicRMWOp, tt::AtomicCASOp>([&](auto atomic) { return acquires(atomic.getSem()); })
            .Case([](tt::LoadOp load) { return load.getIsVolatile(); })
            .Default(false);
    return isAcquiring ? WalkResult::interrupt() : WalkResult::advance();
  });
  return visited.wasInterrupted();
}

std::optional<TileNest> matchTileNest(scf::ForOp loop, ArrayRef<CopyGroup> groups, ArrayRef<IterationSlice> slices) {
  auto around = dyn_cast<scf::ForOp>(loop->getParentOp());
  if (!around || !hasFixedBounds(loop, around) || mayAcquire(around)) {
    return std::nullopt;
  }
  TileNest nest = {around, {}, {}};
  auto addLeaf = [&](Value value) {
    Block *block = value.getParentBlock();
    if (block == around.getBody() && value != around.getInductionVar()) {
      nest.leaves.insert(value);
    }
  };
  for (auto [group, slice] : llvm::zip_equal(groups, slices)) {
    // What is loaded in another tile's stead must be the same there.
    bool isOfTile = llvm::all_of(slice.ops, isMemoryEffectFree) || GlobalWrites(around).isEmpty();
    if (!slice.carried.empty() || !isOfTile) {
      return std::nullopt;
    }
    llvm::for_each(coordinatesOf(group), addLeaf);
    for (Operation *op : slice.ops) {
      llvm::for_each(op->getOperands(), addLeaf);
    }
  }
  // Where there is no tile, they are zeros.
  if (!llvm::all_of(nest.leaves, [](Value leaf) { return leaf.getType().isIntOrIndex(); })) {
    return std::nullopt;
  }
  std::optional<IterationSlice> ofTile = sliceOfSources(around, nest.leaves.getArrayRef());
  if (!ofTile || !ofTile->carried.empty()) {
    return std::nullopt;
  }
  nest.leafOps = std::move(ofTile->ops);
  return nest;
}

} // namespace jitk::passes
