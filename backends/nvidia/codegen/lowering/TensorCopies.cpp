// Bulk tensor copies (TMA): ttng.async_tma_copy_*, async_tma_reduce, async_tma_store_wait.
//
// One elected lane of the group's first warp issues all boxes of a copy: bulk groups belong to the thread that issued
// them, and so few instructions gain nothing from more warps. A block is cut into boxes because a box has at most 256
// elements in a dimension and, in a swizzled buffer, one swizzle pattern in the innermost.

#include "backends/nvidia/codegen/lowering/BufferAddress.h"
#include "src/ir/ptx/Instructions.h"
#include "src/ir/ttng/Ttng.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr int64_t kMostBoxElements = 256;

namespace {
/// The boxes of a block in shared memory.
class TensorBoxes {
public:
  explicit TensorBoxes(ttg::MemDescType type) : shape_(type.getShape()), layout_(type) {
    box_.assign(shape_.begin(), shape_.end());
    for (int64_t &extent : box_) {
      extent = std::min(extent, kMostBoxElements);
    }
    auto encoding = dyn_cast<ttg::NVMMASharedEncodingAttr>(type.getEncoding());
    if (encoding && encoding.getSwizzlingByteWidth() != 0) {
      int64_t pattern = encoding.getSwizzlingByteWidth() * 8 / encoding.getElementBitWidth();
      box_.back() = std::min(box_.back(), pattern);
    }
  }

  const BufferLayout &layout() const { return layout_; }

  /// The coordinates of the first element of each box, outermost dimension slowest.
  SmallVector<SmallVector<int32_t, 5>> origins() const {
    SmallVector<SmallVector<int32_t, 5>> result = {SmallVector<int32_t, 5>(shape_.size(), 0)};
    for (auto [dim, extent] : llvm::enumerate(shape_)) {
      SmallVector<SmallVector<int32_t, 5>> extended;
      for (const SmallVector<int32_t, 5> &origin : result) {
        for (int64_t at = 0; at < extent; at += box_[dim]) {
          extended.push_back(origin);
          extended.back()[dim] = int32_t(at);
        }
      }
      result = std::move(extended);
    }
    return result;
  }

private:
  ArrayRef<int64_t> shape_;
  SmallVector<int64_t> box_;
  BufferLayout layout_;
};
} // namespace

/// True in the thread that issues copies. Every lane of every warp has to execute the election.
static Value issuer(FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Value elected = b.instValue("elect.sync");
  return b.logicalAnd(elected, b.equal(f.warp(), 0));
}

/// The coordinates of a box as the instruction wants them: innermost first.
static SmallVector<Value> boxCoordinates(FunctionLowering &f, OperandRange coordinates, ArrayRef<int32_t> origin) {
  SmallVector<Value> result;
  for (auto [index, coordinate] : llvm::enumerate(llvm::reverse(coordinates))) {
    // A block of fewer dimensions than the descriptor lacks the outer ones.
    int64_t moved = index < origin.size() ? origin[origin.size() - 1 - index] : 0;
    result.push_back(f.builder().add(f.scalar(coordinate), moved));
  }
  return result;
}

static LogicalResult lowerLoad(ttng::AsyncTMACopyGlobalToLocalOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  TensorBoxes boxes(op.getResult().getType());
  BufferAddress address(f, op.getResult(), boxes.layout());
  Value barrier = viewAddress(f, op.getBarrier()), map = f.scalar(op.getDesc());
  Value predicate = b.logicalAnd(f.scalar(op.getPred()), issuer(f));
  std::string form = ("cp.async.bulk.tensor." + Twine(op.getCoord().size()) + "d.shared.global").str();
  for (const auto &origin : boxes.origins()) {
    SmallVector<Value> operands = {predicate, address.at(boxes.layout().offset(origin)), map};
    llvm::append_range(operands, boxCoordinates(f, op.getCoord(), origin));
    operands.push_back(barrier);
    b.inst(form, operands);
  }
  return success();
}

/// Emits `form` for each box, from shared to global memory, as one bulk group.
static void issueStores(FunctionLowering &f, StringRef form, Value descriptor, OperandRange coordinates, Value source) {
  LoweringBuilder &b = f.builder();
  TensorBoxes boxes(cast<ttg::MemDescType>(source.getType()));
  BufferAddress address(f, source, boxes.layout());
  Value predicate = issuer(f), map = f.scalar(descriptor);
  for (const auto &origin : boxes.origins()) {
    SmallVector<Value> operands = {predicate, map};
    llvm::append_range(operands, boxCoordinates(f, coordinates, origin));
    operands.push_back(address.at(boxes.layout().offset(origin)));
    b.inst(form, operands);
  }
  // In the other threads the group is empty.
  b.inst("cp.async.bulk.commit_group", {});
}

static LogicalResult lowerStore(ttng::AsyncTMACopyLocalToGlobalOp op, FunctionLowering &f) {
  std::string form = ("cp.async.bulk.tensor." + Twine(op.getCoord().size()) + "d.global.shared").str();
  issueStores(f, form, op.getDesc(), op.getCoord(), op.getSrc());
  return success();
}

static LogicalResult lowerReduce(ttng::AsyncTMAReduceOp op, FunctionLowering &f) {
  std::string form = ("cp.reduce.async.bulk.tensor." + Twine(op.getCoord().size()) + "d." +
                      tt::stringifyDescriptorReduceKind(op.getKind()))
                         .str();
  if (!ptx::lookupInstruction(form)) {
    return op.emitOpError("has no instruction: ") << form;
  }
  issueStores(f, form, op.getDesc(), op.getCoord(), op.getSrc());
  return success();
}

static LogicalResult lowerStoreWait(ttng::TMAStoreWaitOp op, FunctionLowering &f) {
  f.builder().inst("cp.async.bulk.wait_group.read", {}, {int64_t(op.getPendings())});
  return success();
}

void populateTensorCopyLowerings(LoweringTable &table) {
  table.add(lowerLoad);
  table.add(lowerStore);
  table.add(lowerReduce);
  table.add(lowerStoreWait);
}

} // namespace jitk::nvidia
