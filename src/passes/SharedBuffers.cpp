#include "src/passes/SharedBuffers.h"

#include "src/ir/layout/EncodingLayouts.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::passes {

bool isShared(Type type) {
  auto memory = dyn_cast<ttg::MemDescType>(type);
  return memory && isa<ttg::SharedMemorySpaceAttr>(memory.getMemorySpace());
}

int64_t sharedBytes(ttg::MemDescType type) {
  ArrayRef<int64_t> shape = type.getAllocShape();
  size_t placed = cast<ttg::LayoutEncodingTrait>(type.getEncoding()).getRank();
  int64_t copies = 1;
  for (int64_t size : shape.drop_back(std::min(placed, shape.size()))) {
    copies *= size;
  }
  LinearLayout layout = toLinearLayout(shape.take_back(placed), type.getEncoding());
  int64_t elements = copies * layout.getInDimSize("offset");
  if (auto padded = dyn_cast<ttg::PaddedSharedEncodingAttr>(type.getEncoding())) {
    int64_t last = elements - 1;
    for (auto [interval, padding] : llvm::zip(padded.getIntervals(), padded.getPaddings())) {
      elements += last / interval * padding;
    }
  }
  return llvm::divideCeil(elements * std::max<int64_t>(type.getElementTypeBitWidth(), 8), 8);
}

ArrayRef<Value> SharedBuffers::of(Value view) const {
  auto it = buffers_.find(view);
  return it == buffers_.end() ? ArrayRef<Value>() : it->second.getArrayRef();
}

ArrayRef<Operation *> SharedBuffers::carriers(Value buffer) const {
  auto it = carriers_.find(buffer);
  return it == carriers_.end() ? ArrayRef<Operation *>() : ArrayRef<Operation *>(it->second);
}

bool SharedBuffers::flow(Value from, Value to) {
  if (!isShared(to.getType())) {
    return false;
  }
  SmallVector<Value> sources(of(from));
  bool changed = false;
  for (Value source : sources) {
    changed |= buffers_[to].insert(source);
  }
  return changed;
}

bool SharedBuffers::flowThrough(Operation *op) {
  bool changed = false;
  auto flowAll = [&](ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to)) {
      changed |= flow(source, target);
    }
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) {
        flowAll(loop.getInitArgs(), loop.getRegionIterArgs());
        flowAll(loop.getYieldedValues(), loop.getRegionIterArgs());
        flowAll(loop.getRegionIterArgs(), loop.getResults());
      })
      .Case([&](scf::WhileOp loop) {
        flowAll(loop.getInits(), loop.getBeforeArguments());
        flowAll(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
        flowAll(loop.getConditionOp().getArgs(), loop.getAfterArguments());
        flowAll(loop.getConditionOp().getArgs(), loop.getResults());
      })
      .Case([&](scf::IfOp branch) {
        if (branch.getNumResults() > 0) {
          flowAll(branch.thenYield().getOperands(), branch.getResults());
          flowAll(branch.elseYield().getOperands(), branch.getResults());
        }
      })
      .Case([&](ttg::WarpSpecializeOp specialize) {
        for (Region &region : specialize.getPartitionRegions()) {
          flowAll(specialize.getExplicitCaptures(), region.getArguments());
        }
        for (Block &block : specialize.getDefaultRegion()) {
          if (auto yield = dyn_cast<ttg::WarpYieldOp>(block.getTerminator())) {
            flowAll(yield.getValues(), specialize.getResults());
          }
        }
      })
      .Case([&](BranchOpInterface branch) {
        for (unsigned index = 0; index < op->getNumSuccessors(); ++index) {
          flowAll(branch.getSuccessorOperands(index).getForwardedOperands(), op->getSuccessor(index)->getArguments());
        }
      })
      .Case([&](ttg::LocalAllocOp) {})
      .Default([&](Operation *view) {
        for (Value result : view->getResults()) {
          for (Value operand : view->getOperands()) {
            changed |= flow(operand, result);
          }
        }
      });
  return changed;
}

SharedBuffers::SharedBuffers(Operation *function) {
  for (Value argument : cast<FunctionOpInterface>(function).getArguments()) {
    if (isShared(argument.getType())) {
      buffers_[argument].insert(argument);
    }
  }
  function->walk([&](ttg::LocalAllocOp alloc) { buffers_[alloc.getResult()].insert(alloc.getResult()); });

  bool changed = true;
  while (changed) {
    changed = false;
    function->walk<WalkOrder::PreOrder>([&](Operation *op) { changed |= flowThrough(op); });
  }

  function->walk([&](LoopLikeOpInterface loop) {
    for (Region *region : loop.getLoopRegions()) {
      for (Value argument : region->getArguments()) {
        for (Value buffer : of(argument)) {
          if (loop->isProperAncestor(buffer.getParentBlock()->getParentOp()) ||
              loop == buffer.getParentBlock()->getParentOp()) {
            carriers_[buffer].push_back(loop);
          }
        }
      }
    }
  });
}

} // namespace jitk::passes
