// --jitk-infer-buffer-layouts: a shared encoding for each CommonIR buffer that names none.
//
// Buffers that may name the same storage form a group and get one layout. Where all reads and writes of a group are of
// one rank, that layout serves all its members: an allocation of several slots has the layout of a slot.

#include "src/ir/tile/Tile.h"
#include "src/passes/AxisInfo.h"
#include "src/passes/Passes.h"
#include "src/passes/buffers/BufferFlow.h"
#include "src/passes/layouts/SharedLayouts.h"
#include "src/passes/layouts/TargetCapability.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <numeric>

using namespace mlir;

namespace jitk::passes {

#define GEN_PASS_DEF_INFERBUFFERLAYOUTS
#include "src/passes/Passes.h.inc"

using namespace jitk::ir;

namespace {

/// How the storage of a group is read and written.
struct GroupUse {
  SmallVector<int64_t> shape; ///< the smallest that is accessed, along each dimension
  SmallVector<unsigned> order;
  bool isDotOperand = false;
  bool hasMixedRanks = false;
};

class LayoutInference {
public:
  LayoutInference(ModuleOp module, unsigned capability) : module_(module), capability_(capability), axes_(module) {}

  void run();

private:
  void group();
  void visitUse(OpOperand &use, GroupUse &summary);
  void assign(ArrayRef<Value> members);

  ModuleOp module_;
  unsigned capability_;
  AxisInfoAnalysis axes_;
  llvm::EquivalenceClasses<Value> groups_;
};

} // namespace

static SmallVector<unsigned> rowMajor(unsigned rank) {
  SmallVector<unsigned> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

/// Whether `tensor` gets to a dot as its first or second operand, through transpositions and conversions of elements.
static bool feedsDot(Value tensor) {
  return llvm::any_of(tensor.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tt::DotOp>(user)) {
      return use.getOperandNumber() < 2;
    }
    return isa<tt::TransOp, tt::FpToFpOp, arith::ExtFOp, arith::TruncFOp>(user) && feedsDot(user->getResult(0));
  });
}

/// The dimensions by how far `pointers` run contiguously along them; of equals the later first.
static SmallVector<unsigned> orderOf(Value pointers, const AxisInfoAnalysis &axes) {
  SmallVector<unsigned> order = rowMajor(cast<RankedTensorType>(pointers.getType()).getRank());
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(axes.vectorLength(pointers, a), a) > std::pair(axes.vectorLength(pointers, b), b);
  });
  return order;
}

/// The layout that an op names for the buffer that it makes.
static Attribute layoutOf(Value buffer) {
  Operation *definition = buffer.getDefiningOp();
  return definition ? definition->getDiscardableAttr(tile::kGpuLayout) : Attribute();
}

void LayoutInference::group() {
  module_.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands()) {
      if (isa<tile::BufType>(use.get().getType())) {
        groups_.insert(use.get());
        llvm::for_each(buffersReachedBy(use), [&](Value reached) { groups_.unionSets(use.get(), reached); });
      }
    }
    llvm::for_each(op->getResults(), [&](Value result) {
      if (isa<tile::BufType>(result.getType())) {
        groups_.insert(result);
      }
    });
  });
}

void LayoutInference::visitUse(OpOperand &use, GroupUse &summary) {
  Operation *user = use.getOwner();
  ArrayRef<int64_t> shape = cast<tile::BufType>(use.get().getType()).getShape();
  if (!isa<tile::CopyOp, tile::ToTensorOp, tile::StoreTensorOp>(user)) {
    return;
  }
  if (summary.shape.empty()) {
    summary.shape.assign(shape.begin(), shape.end());
  }
  if (summary.shape.size() != shape.size()) {
    summary.hasMixedRanks = true;
    return;
  }
  llvm::transform(llvm::zip_equal(summary.shape, shape), summary.shape.begin(),
                  [](auto sizes) { return std::min(std::get<0>(sizes), std::get<1>(sizes)); });
  if (auto read = dyn_cast<tile::ToTensorOp>(user)) {
    summary.isDotOperand |= feedsDot(read.getResult());
  }
  auto copy = dyn_cast<tile::CopyOp>(user);
  if (copy && summary.order.empty() && isa<RankedTensorType>(copy.getSrc().getType())) {
    summary.order = orderOf(copy.getSrc(), axes_);
  }
}

void LayoutInference::assign(ArrayRef<Value> members) {
  GroupUse summary;
  Attribute given;
  for (Value member : members) {
    given = given ? given : layoutOf(member);
    llvm::for_each(member.getUses(), [&](OpOperand &use) { visitUse(use, summary); });
  }
  for (Value member : members) {
    if (layoutOf(member) || !isa_and_nonnull<tile::AllocOp, tile::SubviewOp>(member.getDefiningOp())) {
      continue;
    }
    auto type = cast<tile::BufType>(member.getType());
    Attribute layout = given;
    if (!layout && (summary.hasMixedRanks || summary.shape.empty())) {
      layout = plainSharedLayout(module_.getContext(), rowMajor(type.getShape().size()));
    } else if (!layout) {
      SmallVector<unsigned> order = summary.order.empty() ? rowMajor(summary.shape.size()) : summary.order;
      layout = summary.isDotOperand ? dotOperandSharedLayout(summary.shape, type.getElementType(), order, capability_)
                                    : stagingSharedLayout(summary.shape, type.getElementType(), order);
    }
    member.getDefiningOp()->setDiscardableAttr(tile::kGpuLayout, layout);
  }
}

void LayoutInference::run() {
  group();
  for (const auto &entry : groups_) {
    if (entry->isLeader()) {
      assign(llvm::to_vector(groups_.members(*entry)));
    }
  }
}

namespace {

struct InferBufferLayoutsPass : impl::InferBufferLayoutsBase<InferBufferLayoutsPass> {
  using InferBufferLayoutsBase::InferBufferLayoutsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool isComplete = true;
    module.walk([&](Operation *op) {
      if (isa<tile::AllocOp, tile::SubviewOp>(op) && !op->getDiscardableAttr(tile::kGpuLayout)) {
        isComplete = false;
        if (requireExplicitLayouts) {
          op->emitOpError() << "is missing the preserved " << tile::kGpuLayout << " attribute";
          signalPassFailure();
        }
      }
    });
    if (isComplete || requireExplicitLayouts) {
      return;
    }
    FailureOr<unsigned> capability = targetCapability(module);
    if (failed(capability)) {
      return signalPassFailure();
    }
    LayoutInference(module, *capability).run();
  }
};

} // namespace
} // namespace jitk::passes
