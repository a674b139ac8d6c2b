#include "src/passes/SharedScratch.h"

#include "src/ir/layout/EncodingLayouts.h"
#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"
#include "src/ir/ttng/Ttng.h"
#include "src/passes/LayoutConversion.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::passes {

constexpr int64_t kTensorMapBytes = 128;

/// Bytes that an element takes in shared memory.
static int64_t elementBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<tt::PointerType>(element) ? 8 : std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
}

/// How the warps share a dimension.
struct WarpShare {
  unsigned bits = 0;  ///< bits of the warp number that move the dimension
  int64_t extent = 1; ///< the elements along it that the highest of them leads over
};

static WarpShare warpsAlong(const LinearLayout &layout, unsigned dim) {
  WarpShare share;
  std::string name = "dim" + std::to_string(dim);
  for (int bit = 0; bit < layout.getInDimSizeLog2("warp"); ++bit) {
    if (int64_t step = layout.getBasis("warp", bit, name)) {
      ++share.bits;
      share.extent = std::max(share.extent, 2 * step);
    }
  }
  return share;
}

/// One value of each operand for each of `count` slots.
static int64_t slotBytes(OperandRange operands, int64_t count) {
  int64_t bytes = 0;
  for (Value operand : operands) {
    bytes += llvm::alignTo(elementBytes(operand.getType()) * count, kScratchAlignment);
  }
  return bytes;
}

/// A partial result of each warp along the axis, for each element of the result.
static int64_t reduceBytes(tt::ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getSrcs().front().getType());
  WarpShare warps = warpsAlong(toLinearLayout(type), op.getAxis());
  int64_t results = type.getNumElements() / type.getDimSize(op.getAxis());
  return warps.bits == 0 ? 0 : slotBytes(op.getSrcs(), results << warps.bits);
}

/// The total of each warp along the axis, for each block of elements that the warps together hold.
static int64_t scanBytes(tt::ScanOp op) {
  auto type = cast<RankedTensorType>(op.getSrcs().front().getType());
  WarpShare warps = warpsAlong(toLinearLayout(type), op.getAxis());
  return warps.bits == 0 ? 0 : slotBytes(op.getSrcs(), (type.getNumElements() / warps.extent) << warps.bits);
}

/// An atomic's old values, where a thread other than the one that executes it needs them.
static int64_t atomicBytes(Operation *op) {
  Value result = op->getResult(0);
  if (result.use_empty()) {
    return 0;
  }
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type) {
    return elementBytes(result.getType());
  }
  LinearLayout layout = toLinearLayout(type);
  for (StringRef input : {"lane", "warp"}) {
    for (int bit = 0; bit < layout.getInDimSizeLog2(input); ++bit) {
      if (llvm::all_of(layout.getBasis(input, bit), [](int32_t part) { return part == 0; })) {
        return elementBytes(type) * type.getNumElements();
      }
    }
  }
  return 0;
}

/// Eight bytes for each register of each capture; a memory descriptor has two.
static int64_t captureBytes(ttg::WarpSpecializeOp op) {
  int64_t registers = 0;
  for (Type type : op.getExplicitCaptures().getTypes()) {
    registers += isa<ttg::MemDescType>(type) ? 2 : 1;
  }
  return 8 * registers;
}

int64_t scratchBytes(Operation *op) {
  if (auto reduce = dyn_cast<tt::ReduceOp>(op)) {
    return reduceBytes(reduce);
  }
  if (auto scan = dyn_cast<tt::ScanOp>(op)) {
    return scanBytes(scan);
  }
  if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op)) {
    return atomicBytes(op);
  }
  if (auto gather = dyn_cast<tt::GatherOp>(op)) {
    return elementBytes(gather.getSrc().getType()) * cast<RankedTensorType>(gather.getSrc().getType()).getNumElements();
  }
  if (auto histogram = dyn_cast<tt::HistogramOp>(op)) {
    return elementBytes(histogram.getType()) * cast<RankedTensorType>(histogram.getType()).getNumElements();
  }
  if (auto convert = dyn_cast<ttg::ConvertLayoutOp>(op)) {
    return planConversion(convert).sharedBytes();
  }
  if (isa<ttng::TensormapCreateOp>(op)) {
    return kTensorMapBytes;
  }
  if (auto specialize = dyn_cast<ttg::WarpSpecializeOp>(op)) {
    return captureBytes(specialize);
  }
  return 0;
}

int64_t scratchAlignment(Operation *op) {
  return isa<ttng::TensormapCreateOp>(op) ? kTensorMapBytes : kScratchAlignment;
}

bool synchronizesScratch(Operation *op) {
  if (auto convert = dyn_cast<ttg::ConvertLayoutOp>(op)) {
    return !planConversion(convert).isWithinWarp;
  }
  return !isa<ttng::TensormapCreateOp>(op);
}

} // namespace jitk::passes
