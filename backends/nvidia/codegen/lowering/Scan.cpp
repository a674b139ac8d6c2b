// tt.scan. The bits of the index along the axis are registers, lanes and warps in some order, such as
//
//     [registers of a vector][lanes][warps][registers of further repetitions]
//
// Runs of one kind are taken from the lowest bit up. Before and after each run every register holds the inclusive
// prefix within its block, the elements that share the bits not yet taken, and every thread knows its blocks' totals.

#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/Packing.h"
#include "src/passes/SharedScratch.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {
namespace {

/// One value an operand.
using Tuple = SmallVector<Value>;

enum class Holder { Register, Lane, Warp };

/// Consecutive bits of the axis that one input holds: the input's bits as a mask, lowest axis bit first.
struct Run {
  Holder holder;
  uint32_t mask = 0;
  unsigned lastBit = 0; ///< highest axis bit of the run
};

class Scan {
public:
  Scan(tt::ScanOp scan, FunctionLowering &lowering)
      : op(scan), f(lowering), b(lowering.builder()), type(cast<RankedTensorType>(scan.getOperand(0).getType())),
        layout(lowering.layout(type)), axis(scan.getAxis()), reverse(scan.getReverse()) {}

  LogicalResult run();

private:
  FailureOr<SmallVector<Run>> findRuns();
  FailureOr<Tuple> combine(ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
    return f.inlineCombine(op.getCombineOp().front(), lhs, rhs);
  }
  Tuple select(Value condition, ArrayRef<Value> yes, ArrayRef<Value> no);
  SmallVector<Tuple> shuffleAll(ArrayRef<Tuple> tuples, Value lane);
  /// Combines each block's carry, what comes before the block, into the block's prefixes. A null `first` says that
  /// every thread has one; else threads where it holds have none.
  LogicalResult addCarries(const DenseMap<unsigned, Tuple> &carries, Value first);

  // Takes a run; after the `last` one totals are not needed.
  LogicalResult overRegisters(const Run &run);
  LogicalResult overLanes(const Run &run, bool last);
  LogicalResult overWarps(const Run &run, bool last);

  /// The block of a register: its number without the register bits taken so far.
  unsigned blockOf(unsigned reg) const { return reg & ~(taken | TensorLayout::freeBits(layout.registers)); }
  SmallVector<unsigned> blocks() const;

  tt::ScanOp op;
  FunctionLowering &f;
  LoweringBuilder &b;
  RankedTensorType type;
  const TensorLayout &layout;
  unsigned axis;
  bool reverse;

  uint32_t taken = 0;               ///< register bits taken so far
  bool singletons = true;           ///< whether no bit has been taken: prefix and total are the element
  uint32_t takenLanes = 0;          ///< lane bits taken so far
  SmallVector<Tuple> prefixes;      ///< by register; those that repeat an element are left empty
  DenseMap<unsigned, Tuple> totals; ///< by block
};

FailureOr<SmallVector<Run>> Scan::findRuns() {
  if (TensorLayout::movingBits(layout.blocks, axis)) {
    return op.emitOpError("across the CTAs of a cluster is not supported");
  }
  struct AxisBit {
    Holder holder;
    unsigned bit;
  };
  std::map<unsigned, AxisBit> bits;
  auto collect = [&](const TensorLayout::Bases &bases, Holder holder) {
    for (auto [bit, basis] : llvm::enumerate(bases)) {
      if (basis[axis] == 0) {
        continue;
      }
      if (!llvm::isPowerOf2_32(basis[axis]) ||
          !bits.try_emplace(llvm::Log2_32(basis[axis]), AxisBit{holder, unsigned(bit)}).second) {
        return failure();
      }
    }
    return success();
  };
  if (failed(collect(layout.registers, Holder::Register)) || failed(collect(layout.lanes, Holder::Lane)) ||
      failed(collect(layout.warps, Holder::Warp))) {
    return op.emitOpError("along this axis needs a layout whose bits are single coordinates");
  }
  SmallVector<Run> runs;
  for (auto [axisBit, held] : bits) {
    uint32_t mask = 1u << held.bit;
    // A run's bits ascend, so that its number is a masked field of the input.
    if (runs.empty() || runs.back().holder != held.holder || runs.back().mask > mask) {
      runs.push_back({held.holder});
    }
    runs.back().mask |= mask;
    runs.back().lastBit = axisBit;
  }
  if (llvm::count_if(runs, [](const Run &run) { return run.holder == Holder::Warp; }) > 1) {
    return op.emitOpError("along this axis needs a layout whose warps hold one run of bits");
  }
  return runs;
}

Tuple Scan::select(Value condition, ArrayRef<Value> yes, ArrayRef<Value> no) {
  Tuple chosen;
  for (auto [x, y] : llvm::zip(yes, no)) {
    chosen.push_back(b.select(condition, x, y));
  }
  return chosen;
}

SmallVector<Tuple> Scan::shuffleAll(ArrayRef<Tuple> tuples, Value lane) {
  SmallVector<Tuple> shuffled(tuples.size(), Tuple(op.getNumOperands()));
  for (unsigned operand = 0; operand < op.getNumOperands(); ++operand) {
    SmallVector<Value> values = llvm::map_to_vector(tuples, [&](const Tuple &tuple) { return tuple[operand]; });
    for (auto [tuple, value] : llvm::zip(shuffled, shuffle(b, "shfl.sync.idx", values, lane))) {
      tuple[operand] = value;
    }
  }
  return shuffled;
}

SmallVector<unsigned> Scan::blocks() const {
  SmallVector<unsigned> numbers;
  for (unsigned reg = 0; reg < layout.numRegisters(); ++reg) {
    if (blockOf(reg) == reg) {
      numbers.push_back(reg);
    }
  }
  return numbers;
}

LogicalResult Scan::addCarries(const DenseMap<unsigned, Tuple> &carries, Value first) {
  for (auto [reg, prefix] : llvm::enumerate(prefixes)) {
    auto carry = carries.find(blockOf(reg));
    if (prefix.empty() || carry == carries.end()) {
      continue;
    }
    auto combined = combine(carry->second, prefix);
    if (failed(combined)) {
      return failure();
    }
    prefix = first ? select(first, prefix, *combined) : *combined;
  }
  return success();
}

LogicalResult Scan::overRegisters(const Run &run) {
  DenseMap<unsigned, Tuple> carries, newTotals;
  for (unsigned block : blocks()) {
    if (block & run.mask) {
      continue;
    }
    // The blocks that become one, in the order of the scan.
    Tuple total;
    for (uint32_t part = 0;; part = (part - run.mask) & run.mask) {
      unsigned member = block | (reverse ? run.mask ^ part : part);
      if (total.empty()) {
        total = totals[member];
      } else {
        carries[member] = total;
        auto combined = combine(total, totals[member]);
        if (failed(combined)) {
          return failure();
        }
        total = *combined;
        if (singletons) {
          prefixes[member] = total;
        }
      }
      if (part == run.mask) {
        break;
      }
    }
    newTotals[block] = total;
  }
  if (!singletons && failed(addCarries(carries, nullptr))) {
    return failure();
  }
  totals = std::move(newTotals);
  taken |= run.mask;
  return success();
}

LogicalResult Scan::overLanes(const Run &run, bool last) {
  SmallVector<unsigned> numbers = blocks();
  SmallVector<Tuple> inclusive = llvm::map_to_vector(numbers, [&](unsigned block) { return totals[block]; });
  // After the step for a bit, each lane holds the prefix over the lanes that share the run's higher bits.
  uint32_t lower = 0;
  for (uint32_t rest = run.mask; rest; rest &= rest - 1) {
    uint32_t bit = rest & -rest;
    Value source =
        reverse ? b.bitAnd(b.bitOr(f.lane(), bit), ~int64_t(lower)) : b.bitOr(b.bitAnd(f.lane(), ~int64_t(bit)), lower);
    Value joins = b.equal(b.bitAnd(f.lane(), bit), reverse ? 0 : bit);
    for (auto [value, carry] : llvm::zip(inclusive, shuffleAll(inclusive, source))) {
      auto combined = combine(carry, value);
      if (failed(combined)) {
        return failure();
      }
      value = select(joins, *combined, value);
    }
    lower |= bit;
  }

  if (singletons) {
    for (auto [block, value] : llvm::zip(numbers, inclusive)) {
      prefixes[block] = value;
    }
  } else {
    // The prefix of the lane before: its number is one less in the bits of the run.
    int64_t one = run.mask & -run.mask, others = ~int64_t(run.mask);
    Value number = reverse ? b.add(b.bitOr(f.lane(), others), one) : b.add(b.bitAnd(f.lane(), run.mask), -one);
    Value before = b.bitOr(b.bitAnd(number, run.mask), b.bitAnd(f.lane(), others));
    Value first = b.equal(b.bitAnd(f.lane(), run.mask), reverse ? run.mask : 0);
    DenseMap<unsigned, Tuple> carries;
    for (auto [block, carry] : llvm::zip(numbers, shuffleAll(inclusive, before))) {
      carries[block] = carry;
    }
    if (failed(addCarries(carries, first))) {
      return failure();
    }
  }
  takenLanes |= run.mask;
  if (last) {
    return success();
  }
  Value end = reverse ? b.bitAnd(f.lane(), ~int64_t(run.mask)) : b.bitOr(f.lane(), run.mask);
  for (auto [block, total] : llvm::zip(numbers, shuffleAll(inclusive, end))) {
    totals[block] = total;
  }
  return success();
}

LogicalResult Scan::overWarps(const Run &run, bool last) {
  int32_t parts = 1 << llvm::popcount(run.mask);
  // The number of a block among all blocks of the tensor.
  auto blockNumber = [&](ArrayRef<int32_t> coordinate) {
    int32_t number = 0;
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      unsigned shift = dim == axis ? run.lastBit + 1 : 0;
      number = number * int32_t(size >> shift) + (coordinate[dim] >> shift);
    }
    return number;
  };
  int32_t numBlocks = type.getNumElements() >> (run.lastBit + 1);
  LinearIndex blockIndex = linearIndex(f, layout, blockNumber);

  SmallVector<int32_t> partBases(layout.warps.size(), 0);
  int32_t next = 1;
  for (unsigned bit = 0; bit < layout.warps.size(); ++bit) {
    if (run.mask >> bit & 1) {
      partBases[bit] = next;
      next <<= 1;
    }
  }
  Value part = f.applyBases(f.warp(), partBases);

  uint32_t copies = takenLanes | TensorLayout::freeBits(layout.lanes);
  Value stores = copies ? b.equal(b.bitAnd(f.lane(), copies), 0) : Value();
  if (uint32_t copiedWarps = TensorLayout::freeBits(layout.warps)) {
    stores = b.logicalAnd(stores, b.equal(b.bitAnd(f.warp(), copiedWarps), 0));
  }

  SmallVector<Value> bases;
  Value base = f.sharedAddress(op);
  for (Value operand : op.getOperands()) {
    bases.push_back(base);
    int64_t bytes = int64_t(storedBits(f.elementType(operand.getType())) / 8) * numBlocks * parts;
    base = b.add(base, int64_t(llvm::alignTo(bytes, passes::kScratchAlignment)));
  }
  auto address = [&](unsigned operand, Value number) {
    unsigned bytes = storedBits(f.elementType(op.getOperand(operand).getType())) / 8;
    return b.add(bases[operand], b.mul(number, bytes));
  };

  SmallVector<unsigned> numbers = blocks();
  for (unsigned block : numbers) {
    Value number = b.add(blockIndex.of(block, f), b.mul(part, numBlocks));
    for (auto [operand, value] : llvm::enumerate(totals[block])) {
      storeShared(b, address(operand, number), value, stores);
    }
  }
  f.barrier();

  DenseMap<unsigned, Tuple> carries;
  for (unsigned block : numbers) {
    Tuple total, carry;
    for (int32_t step = 0; step < parts; ++step) {
      if (last && step == parts - 1) {
        carry = step == 1 ? total : select(b.equal(part, reverse ? 0 : step), total, carry);
        break;
      }
      int32_t member = reverse ? parts - 1 - step : step;
      Tuple value;
      for (unsigned operand = 0; operand < op.getNumOperands(); ++operand) {
        Type element = f.elementType(op.getOperand(operand).getType());
        Value number = b.add(blockIndex.of(block, f), int64_t(member) * numBlocks);
        value.push_back(loadShared(b, address(operand, number), element, 1).front());
      }
      if (step == 0) {
        total = carry = value;
        continue;
      }
      // What comes before this member is the total so far.
      carry = step == 1 ? total : select(b.equal(part, member), total, carry);
      auto combined = combine(total, value);
      if (failed(combined)) {
        return failure();
      }
      total = *combined;
    }
    carries[block] = carry;
    totals[block] = total;
  }
  return addCarries(carries, b.equal(part, reverse ? parts - 1 : 0));
}

LogicalResult Scan::run() {
  auto runs = findRuns();
  if (failed(runs)) {
    return failure();
  }
  prefixes.resize(layout.numRegisters());
  for (unsigned block : blocks()) {
    for (Value operand : op.getOperands()) {
      prefixes[block].push_back(f.registers(operand)[block]);
    }
    totals[block] = prefixes[block];
  }
  for (const Run &run : *runs) {
    bool last = &run == &runs->back();
    LogicalResult done = run.holder == Holder::Register ? overRegisters(run)
                         : run.holder == Holder::Lane   ? overLanes(run, last)
                                                        : overWarps(run, last);
    if (failed(done)) {
      return failure();
    }
    singletons = false;
  }
  for (auto [operand, result] : llvm::enumerate(op.getResults())) {
    SmallVector<Value> registers;
    for (unsigned reg = 0; reg < layout.numRegisters(); ++reg) {
      registers.push_back(prefixes[layout.canonicalRegister(reg)][operand]);
    }
    f.set(result, registers);
  }
  return success();
}

} // namespace

static LogicalResult lowerScan(tt::ScanOp op, FunctionLowering &f) { return Scan(op, f).run(); }

void populateScanLowerings(LoweringTable &table) { table.add(lowerScan); }

} // namespace jitk::nvidia
