// ttg.convert_layout, as its plan says: by renaming registers, by shuffles, or through shared memory.

#include "backends/nvidia/codegen/lowering/AccessSteps.h"
#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/Packing.h"
#include "src/passes/LayoutConversion.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

/// Whether an odd number of the masked bits of lane and warp are set.
static Value oddBits(FunctionLowering &f, const RegisterExchange &exchange) {
  LoweringBuilder &b = f.builder();
  auto masked = [&](uint32_t mask, llvm::function_ref<Value()> input) -> Value {
    return mask ? b.bitAnd(input(), mask) : Value();
  };
  Value lane = masked(exchange.laneMask, [&] { return f.lane(); });
  Value warp = masked(exchange.warpMask, [&] { return f.warp(); });
  if (llvm::popcount(exchange.laneMask) + llvm::popcount(exchange.warpMask) == 1) {
    Value bit = lane ? lane : warp;
    return b.compare(LLVM::ICmpPredicate::ne, bit, b.i32(0));
  }
  auto count = [&](Value bits) -> Value { return LLVM::CtPopOp::create(b, b.loc(), bits); };
  Value bits = lane && warp ? b.bitXor(count(lane), count(warp)) : count(lane ? lane : warp);
  return b.equal(b.bitAnd(bits, 1), 1);
}

static void exchangeRegisters(FunctionLowering &f, ArrayRef<RegisterExchange> exchanges, SmallVector<Value> &values) {
  for (const RegisterExchange &exchange : exchanges) {
    Value taken = oddBits(f, exchange);
    SmallVector<Value> old = values;
    for (unsigned reg = 0; reg < values.size(); ++reg) {
      values[reg] = f.builder().select(taken, old[reg ^ exchange.registerXor], old[reg]);
    }
  }
}

static SmallVector<Value> convertByShuffles(FunctionLowering &f, const ShufflePlan &plan, SmallVector<Value> values,
                                            unsigned numTargets) {
  LoweringBuilder &b = f.builder();
  exchangeRegisters(f, plan.before, values);

  bool butterfly = plan.isButterfly();
  Value origin;
  if (!butterfly) {
    SmallVector<int32_t> laneBases(plan.laneBases.begin(), plan.laneBases.end());
    SmallVector<int32_t> warpBases(plan.warpBases.begin(), plan.warpBases.end());
    origin = f.applyBases(f.lane(), laneBases);
    if (llvm::any_of(warpBases, [](int32_t basis) { return basis != 0; })) {
      origin = b.bitXor(origin, f.applyBases(f.warp(), warpBases));
    }
  }
  SmallVector<Value> received(numTargets);
  for (size_t first = 0; first < plan.rounds.size();) {
    // Rounds of one distance travel together.
    size_t end = first + 1;
    while (end < plan.rounds.size() && plan.rounds[end].laneXor == plan.rounds[first].laneXor) {
      ++end;
    }
    ArrayRef<ShuffleRound> rounds = ArrayRef(plan.rounds).slice(first, end - first);
    SmallVector<Value> sent =
        llvm::map_to_vector(rounds, [&](const ShuffleRound &round) { return values[round.source]; });
    if (!plan.isMove(rounds.front())) {
      int64_t distance = rounds.front().laneXor;
      sent = butterfly ? shuffle(b, "shfl.sync.bfly", sent, b.i32(distance))
                       : shuffle(b, "shfl.sync.idx", sent, b.bitXor(origin, distance));
    }
    for (auto [round, value] : llvm::zip_equal(rounds, sent)) {
      for (unsigned target : round.targets) {
        received[target] = value;
      }
    }
    first = end;
  }
  exchangeRegisters(f, plan.after, received);
  return received;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

namespace {
/// Byte addresses of the steps of one side.
class ScratchAddress {
public:
  ScratchAddress(FunctionLowering &lowering, Value base, const LocalAccess &access)
      : f(lowering), bytes(int32_t(access.elementBits / 8)) {
    SmallVector<int32_t> bases;
    for (ArrayRef<int32_t> part : {ArrayRef(access.laneBases), ArrayRef(access.warpBases)}) {
      for (int32_t basis : part) {
        bases.push_back(basis * bytes);
      }
    }
    start = base;
    thread = f.applyBases(f.thread(), bases);
  }

  Value operator()(const LocalAccessStep &step) {
    LoweringBuilder &b = f.builder();
    Value &address = known[step.xorOffset];
    if (!address) {
      address = b.add(start, b.bitXor(thread, int64_t(step.xorOffset) * bytes));
    }
    return b.add(address, int64_t(step.addOffset) * bytes);
  }

private:
  FunctionLowering &f;
  int32_t bytes;
  Value start, thread;
  DenseMap<int32_t, Value> known;
};
} // namespace

static SmallVector<Value> convertThroughMemory(FunctionLowering &f, Operation *op, const ConversionPlan &plan,
                                               ArrayRef<Value> values, Type element, unsigned numTargets) {
  LoweringBuilder &b = f.builder();
  Value base = f.sharedAddress(op);
  ScratchAddress storeAddress(f, base, plan.shared.store), loadAddress(f, base, plan.shared.load);
  auto barrier = [&] {
    if (plan.isWithinWarp) {
      b.inst("bar.warp.sync", {});
    } else {
      f.barrier();
    }
  };
  SmallVector<Value> loaded(numTargets);
  for (auto [number, repetition] : llvm::enumerate(plan.shared.repetitions)) {
    if (number > 0) {
      barrier();
    }
    storeSteps(f, plan.shared.store, storeAddress, values, repetition.storeXor);
    barrier();
    loadSteps(b, plan.shared.load, loadAddress, element, loaded, repetition.loadXor);
  }
  copyRegisters(plan.shared.load, loaded);
  return loaded;
}

static LogicalResult lowerConvertLayout(ttg::ConvertLayoutOp op, FunctionLowering &f) {
  ConversionPlan plan = passes::planConversion(op);
  ArrayRef<Value> values = f.registers(op.getSrc());
  unsigned numTargets = f.numRegisters(op.getType());
  switch (plan.kind) {
  case ConversionKind::Registers:
    f.set(op, llvm::map_to_vector(plan.sourceRegisters, [&](unsigned reg) { return values[reg]; }));
    return success();
  case ConversionKind::Shuffles:
    f.set(op, convertByShuffles(f, plan.shuffles, SmallVector<Value>(values), numTargets));
    return success();
  case ConversionKind::Shared:
    f.set(op, convertThroughMemory(f, op, plan, values, f.elementType(op.getType()), numTargets));
    return success();
  case ConversionKind::Cluster:
    return op.emitOpError("between the CTAs of a cluster is not supported");
  }
  return failure();
}

void populateConvertLayoutLowerings(LoweringTable &table) { table.add(lowerConvertLayout); }

} // namespace jitk::nvidia
