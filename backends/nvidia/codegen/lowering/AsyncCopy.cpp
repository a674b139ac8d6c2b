// cp.async: ttg.async_copy_global_to_local and its groups.

#include "backends/nvidia/codegen/lowering/BufferAddress.h"
#include "src/ir/layout/EncodingLayouts.h"
#include "src/passes/AxisInfo.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr unsigned kLeastBytes = 4, kMostBytes = 16;

/// Elements that the mask leaves out are zero filled: what the instruction does with a source of no bytes.
static bool isZeroOrAbsent(Value other) {
  return !other || matchPattern(other, m_AnyZeroFloat()) || matchPattern(other, m_Zero());
}

/// The dimension along which a buffer's elements follow each other in memory.
static unsigned contiguousDim(ttg::MemDescType type) {
  LinearLayout layout = toLinearLayout(type);
  ArrayRef<int32_t> first = layout.getBasis("offset", 0);
  return llvm::find_if(first, [](int32_t part) { return part != 0; }) - first.begin();
}

/// Elements that one copy may move. The attribute is a promise of the pass that made the op; what the addresses show is
/// as good.
static int64_t contiguity(ttg::AsyncCopyGlobalToLocalOp op, FunctionLowering &f) {
  unsigned dim = contiguousDim(op.getResult().getType());
  int64_t shown = f.axes().vectorLength(op.getSrc(), dim);
  if (op.getMask()) {
    shown = std::min(shown, f.axes().of(op.getMask()).axes[dim].constancy);
  }
  return std::max<int64_t>(op.getContiguity(), shown);
}

static LogicalResult lowerCopy(ttg::AsyncCopyGlobalToLocalOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  auto type = cast<RankedTensorType>(op.getSrc().getType());
  if (!isZeroOrAbsent(op.getOther())) {
    return op.emitOpError("fills what its mask leaves out with zero alone: got another value");
  }
  BufferLayout layout(op.getResult().getType());
  LocalAccessOptions options;
  options.maxVectorBits = std::min<int64_t>(kMostBytes, contiguity(op, f) * layout.elementBytes()) * 8;
  std::optional<LocalAccess> access = planVectorAccess(type, op.getResult().getType(), options);
  if (!access || leavesCopiesIncomplete(*access)) {
    return op.emitOpError("stores to the shared memory of other CTAs");
  }
  unsigned bytes = access->bitsPerStep() / 8;
  if (bytes < kLeastBytes) {
    return op.emitOpError("needs at least 4 bytes that are contiguous in both memories: got ") << bytes;
  }

  BufferAddress address(f, op.getResult(), layout, *access);
  bool through = op.getCache() == tt::CacheModifier::CA || bytes < kMostBytes;
  std::string form = ("cp.async." + Twine(through ? "ca." : "cg.") + Twine(bytes)).str();
  Value owner = f.ownsElementsInCta(type), size = b.i32(bytes);
  for (const LocalAccessStep &step : access->steps) {
    unsigned reg = step.registers.front();
    Value source = f.registers(op.getSrc())[reg];
    Value count = op.getMask() ? b.select(f.registers(op.getMask())[reg], size, b.i32(0)) : size;
    b.inst(form, {owner ? owner : b.boolean(true), address.at(step), source, count});
  }
  f.set(op.getToken(), {});
  return success();
}

static LogicalResult lowerCommit(ttg::AsyncCommitGroupOp op, FunctionLowering &f) {
  f.builder().inst("cp.async.commit_group", {});
  f.set(op.getAsyncToken(), {});
  return success();
}

static LogicalResult lowerWait(ttg::AsyncWaitOp op, FunctionLowering &f) {
  f.builder().inst("cp.async.wait_group", {}, {int64_t(op.getNum())});
  f.set(op.getRetToken(), {});
  return success();
}

void populateAsyncCopyLowerings(LoweringTable &table) {
  table.add(lowerCopy);
  table.add(lowerCommit);
  table.add(lowerWait);
}

} // namespace jitk::nvidia
