// Groups of asynchronous copies that a loop could issue iterations ahead.

#pragma once

#include "src/ir/ttg/Ttg.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"

namespace jitk::passes {

/// Copies of a loop's body that share one commit and one wait for it, and what they are computed from.
struct CopyGroup {
  llvm::SmallVector<ir::ttg::AsyncCopyGlobalToLocalOp> copies;
  ir::ttg::AsyncCommitGroupOp commit;
  ir::ttg::AsyncWaitOp wait;
};

/// Ops of a loop's body, in their order, from which values of any iteration can be computed: from the induction
/// variable and carried values alone.
struct IterationSlice {
  llvm::SetVector<mlir::Operation *> ops;
  llvm::SetVector<mlir::BlockArgument> carried; ///< carried values that the ops, or the next values of those, read
};

/// The groups whose copies each fill a whole allocation that nothing but this iteration reads, after the wait, from
/// tensors that the loop does not write.
llvm::SmallVector<CopyGroup> findCopyGroups(mlir::scf::ForOp loop);

/// What `sources` are computed from; none where that has effects, reads memory that the loop may write, or is not in
/// the loop's body itself.
std::optional<IterationSlice> sliceOfSources(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Value> sources);

/// The addresses and masks of the group's copies.
llvm::SmallVector<mlir::Value> sourcesOf(const CopyGroup &group);

/// What the next values of `carried` are computed from, which may grow by what they read; none where that is not pure.
std::optional<IterationSlice> sliceOfNextValues(mlir::scf::ForOp loop, llvm::SetVector<mlir::BlockArgument> carried);

} // namespace jitk::passes
