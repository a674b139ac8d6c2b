// tt.gather and tt.histogram: through shared memory, since the data decide which thread needs what.

#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr unsigned kWarpSize = 32;

/// Row-major strides of a shape.
static SmallVector<int32_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int32_t> strides(shape.size());
  int32_t stride = 1;
  for (int dim = int(shape.size()) - 1; dim >= 0; --dim) {
    strides[dim] = stride;
    stride *= int32_t(shape[dim]);
  }
  return strides;
}

static LogicalResult lowerGather(tt::GatherOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  auto source = cast<RankedTensorType>(op.getSrc().getType()),
       indices = cast<RankedTensorType>(op.getIndices().getType());
  const TensorLayout &sourceLayout = f.layout(source), &indexLayout = f.layout(indices);
  if (TensorLayout::movingBits(sourceLayout.blocks, op.getAxis())) {
    return op.emitOpError("across the CTAs of a cluster is not supported");
  }
  SmallVector<int32_t> strides = stridesOf(source.getShape());
  Type element = f.elementType(source);
  int32_t bytes = storedBits(element) / 8;
  Value base = f.sharedAddress(op);

  LinearIndex place = linearIndex(f, sourceLayout, [&](ArrayRef<int32_t> coordinate) {
    int32_t number = 0;
    for (auto [index, stride] : llvm::zip(coordinate, strides)) {
      number += index * stride;
    }
    return number * bytes;
  });
  Value owner = f.ownsElementsInCta(source);
  ArrayRef<Value> held = f.registers(op.getSrc());
  for (unsigned reg = 0; reg < held.size(); ++reg) {
    if (sourceLayout.canonicalRegister(reg) == reg) {
      storeShared(b, b.add(base, place.of(reg, f)), held[reg], owner);
    }
  }
  f.barrier();

  // An element's own coordinates, but for the axis, where the index stands.
  LinearIndex rest = linearIndex(f, indexLayout, [&](ArrayRef<int32_t> coordinate) {
    int32_t number = 0;
    for (auto [dim, index] : llvm::enumerate(coordinate)) {
      number += dim == op.getAxis() ? 0 : index * strides[dim];
    }
    return number * bytes;
  });
  SmallVector<Value> gathered;
  for (auto [reg, index] : llvm::enumerate(f.registers(op.getIndices()))) {
    if (unsigned same = indexLayout.canonicalRegister(reg); same != reg) {
      gathered.push_back(gathered[same]);
      continue;
    }
    Value offset = b.mul(b.resizeUnsigned(index, b.getI32Type()), strides[op.getAxis()] * bytes);
    Value address = b.add(b.add(base, rest.of(reg, f)), offset);
    gathered.push_back(loadShared(b, address, element, 1).front());
  }
  f.set(op, gathered);
  return success();
}

static LogicalResult lowerHistogram(tt::HistogramOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  auto source = cast<RankedTensorType>(op.getSrc().getType()), type = cast<RankedTensorType>(op.getType());
  Type element = f.elementType(type);
  if (!element.isInteger(32)) {
    return op.emitOpError("counts in i32: got ") << element;
  }
  if (TensorLayout::movingBits(f.layout(source).blocks, 0)) {
    return op.emitOpError("across the CTAs of a cluster is not supported");
  }
  int64_t bins = type.getNumElements();
  constexpr int64_t kBytes = 4;
  Value base = f.sharedAddress(op);
  unsigned threads = f.numWarps() * kWarpSize;
  for (int64_t first = 0; first < bins; first += threads) {
    Value bin = b.add(f.thread(), first);
    storeShared(b, b.add(base, b.mul(bin, kBytes)), b.i32(0), b.less(bin, bins));
  }
  f.barrier();

  const TensorLayout &layout = f.layout(source);
  Value owner = f.ownsElementsInCta(source);
  for (auto [reg, value] : llvm::enumerate(f.registers(op.getSrc()))) {
    if (layout.canonicalRegister(reg) != reg) {
      continue;
    }
    // Values without a bin are not counted.
    Value bin = b.resizeUnsigned(value, b.getI32Type());
    Value counted = b.logicalAnd(owner, b.less(bin, bins));
    if (op.getMask()) {
      counted = b.logicalAnd(counted, f.registers(op.getMask())[reg]);
    }
    b.inst("atom.relaxed.cta.shared.add.u32", {counted, b.add(base, b.mul(bin, kBytes)), b.i32(1)});
  }
  f.barrier();

  SmallVector<Value> counts;
  for (ArrayRef<Value> index : f.indices(type)) {
    counts.push_back(loadShared(b, b.add(base, b.mul(index.front(), kBytes)), element, 1).front());
  }
  f.set(op, counts);
  return success();
}

void populateGatherLowerings(LoweringTable &table) {
  table.add(lowerGather);
  table.add(lowerHistogram);
}

} // namespace jitk::nvidia
