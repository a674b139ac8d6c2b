// A loop over tiles whose body has a loop over blocks: the copies of the inner one go on across its end, into the next
// tile.

#pragma once

#include "src/passes/pipelining/CopyGroups.h"

namespace jitk::passes {

struct TileNest {
  mlir::scf::ForOp around;                    ///< the loop over tiles
  llvm::SetVector<mlir::Value> leaves;        ///< what the inner loop reads of its body to find the copies' tiles
  llvm::SetVector<mlir::Operation *> leafOps; ///< of that body, in their order: the leaves follow from the tile alone
};

/// The nest of `loop`, whose copies are tiles of tensors that the kernel does not write, and their coordinates what
/// `slices` compute; none where its bounds differ between tiles, or where coordinates hang on more than the two
/// induction variables.
std::optional<TileNest> matchTileNest(mlir::scf::ForOp loop, llvm::ArrayRef<CopyGroup> groups,
                                      llvm::ArrayRef<IterationSlice> slices);

/// The scalars that the coordinates of the group's tiles are sums of; its copies are tiles.
llvm::SmallVector<mlir::Value> coordinatesOf(const CopyGroup &group);

} // namespace jitk::passes
