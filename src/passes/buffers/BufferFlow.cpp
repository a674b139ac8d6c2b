#include "src/passes/buffers/BufferFlow.h"

#include "src/ir/tile/Tile.h"
#include "src/ir/ttg/Ttg.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

llvm::SmallVector<Value> buffersReachedBy(OpOperand &use) {
  Operation *user = use.getOwner();
  unsigned index = use.getOperandNumber();
  if (auto view = dyn_cast<tile::SubviewOp>(user)) {
    return {view.getResult()};
  }
  if (auto call = dyn_cast<tt::CallOp>(user)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr());
    return callee && !callee.isExternal() ? SmallVector<Value>{callee.getArgument(index)} : SmallVector<Value>();
  }
  if (auto specialize = dyn_cast<ttg::WarpSpecializeOp>(user)) {
    return llvm::map_to_vector(specialize.getPartitionRegions(),
                               [&](Region &partition) -> Value { return partition.getArgument(index); });
  }
  if (auto jump = dyn_cast<BranchOpInterface>(user)) {
    std::optional<BlockArgument> reached = jump.getSuccessorBlockArgument(index);
    return reached ? SmallVector<Value>{*reached} : SmallVector<Value>();
  }
  auto branch = dyn_cast<RegionBranchOpInterface>(user);
  if (!branch && user->hasTrait<OpTrait::IsTerminator>()) {
    branch = dyn_cast<RegionBranchOpInterface>(user->getParentOp());
  }
  if (!branch) {
    return {};
  }
  RegionBranchSuccessorMapping successors;
  branch.getSuccessorOperandInputMapping(successors);
  return successors.lookup(&use);
}

} // namespace jitk::passes
