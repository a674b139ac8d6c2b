// tt.reduce: within each thread, then across the lanes of a warp by butterflies, then across warps through shared
// memory. A result is held by every thread that its layout gives it to, so nothing is broadcast afterwards.

#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/Packing.h"
#include "src/passes/SharedScratch.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {
namespace {

/// One value an operand.
using Tuple = SmallVector<Value>;

class Reduction {
public:
  Reduction(tt::ReduceOp reduce, FunctionLowering &lowering)
      : op(reduce), f(lowering), b(lowering.builder()), type(cast<RankedTensorType>(reduce.getOperand(0).getType())),
        layout(lowering.layout(type)), axis(reduce.getAxis()) {}

  LogicalResult run();

private:
  FailureOr<Tuple> combine(ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
    return f.inlineCombine(op.getCombineOp().front(), lhs, rhs);
  }
  LogicalResult combineAll(SmallVector<Tuple> &into, ArrayRef<Tuple> others);
  LogicalResult withinThreads();
  LogicalResult acrossLanes();
  LogicalResult acrossWarps();
  void setResults();
  /// Row-major number of the element of the result at a coordinate of the source.
  int32_t resultNumber(ArrayRef<int32_t> coordinate) const;

  tt::ReduceOp op;
  FunctionLowering &f;
  LoweringBuilder &b;
  RankedTensorType type;
  const TensorLayout &layout;
  unsigned axis;
  /// The registers whose values become one partial result: first register of each group, and the partial results.
  SmallVector<unsigned> groups;
  SmallVector<Tuple> partial;
};

int32_t Reduction::resultNumber(ArrayRef<int32_t> coordinate) const {
  int32_t number = 0;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (dim != axis) {
      number = number * int32_t(size) + coordinate[dim];
    }
  }
  return number;
}

LogicalResult Reduction::combineAll(SmallVector<Tuple> &into, ArrayRef<Tuple> others) {
  for (auto [value, other] : llvm::zip(into, others)) {
    auto combined = combine(value, other);
    if (failed(combined)) {
      return failure();
    }
    value = *combined;
  }
  return success();
}

LogicalResult Reduction::withinThreads() {
  uint32_t moving = TensorLayout::movingBits(layout.registers, axis);
  uint32_t skipped = TensorLayout::freeBits(layout.registers);
  for (unsigned group = 0; group < layout.numRegisters(); ++group) {
    if (group & (moving | skipped)) {
      continue;
    }
    // Pairs of neighbours, then pairs of pairs: a short dependence chain.
    SmallVector<Tuple> values;
    for (uint32_t part = 0;; part = (part - moving) & moving) {
      Tuple value;
      for (Value operand : op.getOperands()) {
        value.push_back(f.registers(operand)[group | part]);
      }
      values.push_back(value);
      if (part == moving) {
        break;
      }
    }
    while (values.size() > 1) {
      SmallVector<Tuple> halved;
      for (size_t pair = 0; pair < values.size(); pair += 2) {
        auto combined = combine(values[pair], values[pair + 1]);
        if (failed(combined)) {
          return failure();
        }
        halved.push_back(*combined);
      }
      values = std::move(halved);
    }
    groups.push_back(group);
    partial.push_back(values.front());
  }
  return success();
}

LogicalResult Reduction::acrossLanes() {
  uint32_t moving = TensorLayout::movingBits(layout.lanes, axis);
  for (; moving; moving &= moving - 1) {
    SmallVector<Tuple> others = partial;
    for (unsigned operand = 0; operand < op.getNumOperands(); ++operand) {
      SmallVector<Value> values = llvm::map_to_vector(partial, [&](const Tuple &value) { return value[operand]; });
      values = shuffle(b, "shfl.sync.bfly", values, b.i32(moving & -moving));
      for (auto [other, value] : llvm::zip(others, values)) {
        other[operand] = value;
      }
    }
    if (failed(combineAll(partial, others))) {
      return failure();
    }
  }
  return success();
}

LogicalResult Reduction::acrossWarps() {
  uint32_t moving = TensorLayout::movingBits(layout.warps, axis);
  if (!moving) {
    return success();
  }
  int32_t parts = 1 << llvm::popcount(moving);
  int32_t numResults = 1;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    numResults *= dim == axis ? 1 : int32_t(size);
  }
  // The parts of one result lie side by side where a warp stores only one result an instruction, so that they are
  // loaded together; else the results of one part do, so that the lanes of a store do not collide in the banks.
  uint32_t free = TensorLayout::freeBits(layout.lanes) | TensorLayout::movingBits(layout.lanes, axis);
  bool partsInside = free == llvm::maskTrailingOnes<uint32_t>(layout.lanes.size());
  int32_t partStride = partsInside ? 1 : numResults, resultStride = partsInside ? parts : 1;

  // The number of the executing warp among the warps along the axis.
  SmallVector<int32_t> partBases(layout.warps.size(), 0);
  int32_t next = 1;
  for (unsigned bit = 0; bit < layout.warps.size(); ++bit) {
    if (moving >> bit & 1) {
      partBases[bit] = next;
      next <<= 1;
    }
  }
  Value part = f.applyBases(f.warp(), partBases);
  LinearIndex result = linearIndex(f, layout, [&](ArrayRef<int32_t> c) { return resultNumber(c) * resultStride; });

  // One lane and one warp of those that hold the same partial result store it.
  Value stores = b.equal(b.bitAnd(f.lane(), free), 0);
  if (uint32_t copies = TensorLayout::freeBits(layout.warps)) {
    stores = b.logicalAnd(stores, b.equal(b.bitAnd(f.warp(), copies), 0));
  }

  Value base = f.sharedAddress(op);
  SmallVector<Value> bases;
  for (Value operand : op.getOperands()) {
    bases.push_back(base);
    int64_t bytes = int64_t(storedBits(f.elementType(operand.getType())) / 8) * numResults * parts;
    base = b.add(base, int64_t(llvm::alignTo(bytes, passes::kScratchAlignment)));
  }
  auto address = [&](unsigned operand, Value number) {
    unsigned bytes = storedBits(f.elementType(op.getOperand(operand).getType())) / 8;
    return b.add(bases[operand], b.mul(number, bytes));
  };
  for (auto [group, value] : llvm::zip(groups, partial)) {
    Value number = b.add(result.of(group, f), b.mul(part, partStride));
    for (unsigned operand = 0; operand < op.getNumOperands(); ++operand) {
      storeShared(b, address(operand, number), value[operand], stores);
    }
  }
  f.barrier();

  for (auto [group, value] : llvm::zip(groups, partial)) {
    SmallVector<Tuple> values(parts, Tuple(op.getNumOperands()));
    for (unsigned operand = 0; operand < op.getNumOperands(); ++operand) {
      Type element = f.elementType(op.getOperand(operand).getType());
      unsigned together = partsInside ? std::min(unsigned(parts), 128 / storedBits(element)) : 1;
      for (int32_t first = 0; first < parts; first += together) {
        Value number = b.add(result.of(group, f), int64_t(first) * partStride);
        SmallVector<Value> loaded = loadShared(b, address(operand, number), element, together);
        for (unsigned k = 0; k < together; ++k) {
          values[first + k][operand] = loaded[k];
        }
      }
    }
    value = values.front();
    for (ArrayRef<Value> other : llvm::drop_begin(values)) {
      auto combined = combine(value, other);
      if (failed(combined)) {
        return failure();
      }
      value = *combined;
    }
  }
  return success();
}

void Reduction::setResults() {
  for (auto [operand, result] : llvm::enumerate(op.getResults())) {
    auto tensor = dyn_cast<RankedTensorType>(result.getType());
    if (!tensor) {
      f.set(result, partial.front()[operand]);
      continue;
    }
    DenseMap<int32_t, unsigned> holder;
    for (auto [position, group] : llvm::enumerate(groups)) {
      holder[resultNumber(layout.registerCoordinate(group))] = position;
    }
    const TensorLayout &target = f.layout(tensor);
    SmallVector<Value> registers;
    for (unsigned reg = 0; reg < target.numRegisters(); ++reg) {
      int32_t number = 0;
      for (auto [index, size] : llvm::zip(target.registerCoordinate(reg), tensor.getShape())) {
        number = number * int32_t(size) + index;
      }
      registers.push_back(partial[holder.lookup(number)][operand]);
    }
    f.set(result, registers);
  }
}

LogicalResult Reduction::run() {
  if (TensorLayout::movingBits(layout.blocks, axis)) {
    return op.emitOpError("across the CTAs of a cluster is not supported");
  }
  if (failed(withinThreads()) || failed(acrossLanes()) || failed(acrossWarps())) {
    return failure();
  }
  setResults();
  return success();
}

} // namespace

static LogicalResult lowerReduce(tt::ReduceOp op, FunctionLowering &f) { return Reduction(op, f).run(); }

void populateReduceLowerings(LoweringTable &table) { table.add(lowerReduce); }

} // namespace jitk::nvidia
