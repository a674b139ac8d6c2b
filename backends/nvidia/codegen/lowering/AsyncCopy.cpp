// cp.async: ttg.async_copy_global_to_local and its groups.

#include "backends/nvidia/codegen/lowering/AccessVector.h"
#include "backends/nvidia/codegen/lowering/BufferAddress.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr unsigned kLeastBytes = 4;

/// Elements that the mask leaves out are zero filled: what the instruction does with a source of no bytes.
static bool isZeroOrAbsent(Value other) {
  return !other || matchPattern(other, m_AnyZeroFloat()) || matchPattern(other, m_Zero());
}

/// Bits of the register number, lowest first, that number elements consecutive in the buffer. The others keep such
/// runs.
static SmallVector<unsigned, 4> vectorBits(const OffsetBases &bases, unsigned elementBits, int64_t limit) {
  SmallVector<unsigned, 4> bits = SharedAccessPlan::of(bases, elementBits, /*matrices=*/false).elementBits;
  bits.truncate(std::min<size_t>(bits.size(), llvm::Log2_64(limit)));
  return bits;
}

static LogicalResult lowerCopy(ttg::AsyncCopyGlobalToLocalOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  auto type = cast<RankedTensorType>(op.getSrc().getType());
  const TensorLayout &tensor = f.layout(type);
  BufferLayout buffer(op.getResult().getType());
  OffsetBases bases = offsetBases(tensor, buffer);
  unsigned elementBytes = buffer.elementBytes();
  if (!isZeroOrAbsent(op.getOther())) {
    return op.emitOpError("fills what its mask leaves out with zero alone: got another value");
  }

  // The attribute is a promise of the pass that made the op; what the addresses show is as good.
  int64_t contiguous = std::max<int64_t>(op.getContiguity(), AccessVector::of(f, op.getSrc(), op.getMask()).length);
  SharedAccessPlan plan;
  plan.elementBits = vectorBits(bases, 8 * elementBytes, contiguous);
  unsigned bytes = plan.numElements() * elementBytes;
  if (bytes < kLeastBytes) {
    return op.emitOpError("needs at least 4 bytes that are contiguous in both memories: got ") << bytes;
  }

  BufferAddress address(f, op.getResult(), buffer, bases.lanes, bases.warps);
  bool through = op.getCache() == tt::CacheModifier::CA || bytes < 16;
  std::string form = ("cp.async." + Twine(through ? "ca." : "cg.") + Twine(bytes)).str();
  Value owner = f.ownsElements(type), size = b.i32(bytes);
  uint32_t skipped = plan.coveredBits() | TensorLayout::freeBits(tensor.registers);
  for (unsigned reg = 0; reg < tensor.numRegisters(); ++reg) {
    if (reg & skipped) {
      continue;
    }
    Value source = f.registers(op.getSrc())[reg];
    Value count = op.getMask() ? b.select(f.registers(op.getMask())[reg], size, b.i32(0)) : size;
    b.inst(form, {owner ? owner : b.boolean(true), address.at(bases.ofRegister(reg)), source, count});
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
