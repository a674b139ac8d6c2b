// ttg.convert_layout: by renaming registers where each element stays in its thread, else through shared memory.

#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static int32_t rowMajorNumber(ArrayRef<int32_t> coordinate, ArrayRef<int64_t> shape) {
  int32_t number = 0;
  for (auto [index, size] : llvm::zip(coordinate, shape)) {
    number = number * int32_t(size) + index;
  }
  return number;
}

/// The register of `source` for each register of `target`; nothing if an element changes its thread.
static std::optional<SmallVector<unsigned>> renameRegisters(const TensorLayout &source, const TensorLayout &target,
                                                            ArrayRef<int64_t> shape) {
  if (source.lanes != target.lanes || source.warps != target.warps || source.blocks != target.blocks) {
    return std::nullopt;
  }
  DenseMap<int32_t, unsigned> holder;
  for (unsigned reg = 0; reg < source.numRegisters(); ++reg) {
    holder.try_emplace(rowMajorNumber(source.registerCoordinate(reg), shape), reg);
  }
  SmallVector<unsigned> registers;
  for (unsigned reg = 0; reg < target.numRegisters(); ++reg) {
    auto it = holder.find(rowMajorNumber(target.registerCoordinate(reg), shape));
    if (it == holder.end()) {
      return std::nullopt;
    }
    registers.push_back(it->second);
  }
  return registers;
}

static LogicalResult lowerConvertLayout(ttg::ConvertLayoutOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  auto sourceType = cast<RankedTensorType>(op.getSrc().getType()), targetType = cast<RankedTensorType>(op.getType());
  const TensorLayout &source = f.layout(sourceType), &target = f.layout(targetType);
  ArrayRef<int64_t> shape = sourceType.getShape();
  ArrayRef<Value> held = f.registers(op.getSrc());
  if (auto registers = renameRegisters(source, target, shape)) {
    f.set(op, llvm::map_to_vector(*registers, [&](unsigned reg) { return held[reg]; }));
    return success();
  }
  if (source.blocks != target.blocks) {
    return op.emitOpError("between the CTAs of a cluster is not supported");
  }
  Type element = f.elementType(sourceType);
  Value base = f.sharedAddress(op);
  auto number = [&](ArrayRef<int32_t> coordinate) {
    return rowMajorNumber(coordinate, shape) * int32_t(storedBits(element) / 8);
  };
  LinearIndex from = linearIndex(f, source, number), to = linearIndex(f, target, number);
  Value owner = f.ownsElements(sourceType);
  for (unsigned reg = 0; reg < source.numRegisters(); ++reg) {
    if (source.canonicalRegister(reg) == reg) {
      storeShared(b, b.add(base, from.of(reg, f)), held[reg], owner);
    }
  }
  f.barrier();
  SmallVector<Value> loaded;
  for (unsigned reg = 0; reg < target.numRegisters(); ++reg) {
    unsigned same = target.canonicalRegister(reg);
    loaded.push_back(same == reg ? loadShared(b, b.add(base, to.of(reg, f)), element, 1).front() : loaded[same]);
  }
  f.set(op, loaded);
  return success();
}

void populateConvertLayoutLowerings(LoweringTable &table) { table.add(lowerConvertLayout); }

} // namespace jitk::nvidia
