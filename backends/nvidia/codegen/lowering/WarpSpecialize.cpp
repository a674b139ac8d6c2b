// ttg.warp_specialize: warps beyond those of the kernel wait for regions to run. Where the operation is the only one of
// its kernel and runs once, all warps come together to begin, and again if the kernel goes on:
//
//     kernel's warps                              other warps
//     --------------                              -----------
//     captures                         -------->
//     meet                                          meet
//     default region                                run the partition of this warp, if any
//     meet, registers back, go on                   meet, return
//     or: return                                    or: return
//
// Else the others wait in a loop:
//                                                 loop:
//     captures and the region's number  -------->
//     meet                                          meet
//     default region                                run the partition of this warp, if any
//     meet, registers back                          meet, registers back, loop
//     ...
//     at the return: number = none, meet            meet, return
//
// Where CTAs of a cluster are programs of their own, those of all CTAs meet beside the two meetings around the regions.
// All warps meet at named barrier 1; barrier 2 is the kernel's warps', each partition has one of the next. The number
// lies in shared memory at the function's `allocation.offset`, the captures at the operation's.
//
// Registers change back when all warps have met: a warp that has nothing to run, or is done, would otherwise take again
// those that it gave up, for which another one, late to begin, then waits without end.
//
// Where a partition begins at warp 0 the operation runs once, and the kernel's warps run that partition together with
// others.

#include "backends/nvidia/codegen/lowering/WarpSpecialize.h"

#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr unsigned kGroupWarps = 4, kCaptureBytes = 8;
constexpr int64_t kMeetingBarrier = 1;
constexpr unsigned kFirstPartitionBarrier = kKernelBarrier + 1;
/// Pure operations that are repeated in a partition rather than passed through shared memory.
constexpr unsigned kMostRepeated = 16;

static void meet(LoweringBuilder &b) { b.inst("barrier.sync", {}, {kMeetingBarrier}); }

/// Moves between what each thread starts with and what the region has.
static void changeRegisters(LoweringBuilder &b, int32_t from, int32_t to) {
  if (from != to) {
    b.inst(to > from ? "setmaxnreg.inc" : "setmaxnreg.dec", {}, {to});
  }
}

/// Whether the kernel has one operation alone and runs it once.
static bool runsOnce(ArrayRef<ttg::WarpSpecializeOp> ops) {
  Block *block = ops.front()->getBlock();
  return ops.size() == 1 && block->isEntryBlock() && isa<tt::FuncOp>(block->getParentOp());
}

/// Whether the warps that have run the regions of `op` are done: nobody waits for them.
static bool endsKernel(ttg::WarpSpecializeOp op, FunctionLowering &f) {
  return runsOnce(f.specializations()) && isa<tt::ReturnOp>(op->getNextNode());
}

/// All warps of all CTAs of the cluster meet where each CTA is a program of its own: before the regions may reach into
/// another CTA, whose barriers are set up then, and before a CTA may end, or go on, that another one reaches into.
static void meetCluster(FunctionLowering &f, StringRef arrival = "barrier.cluster.arrive") {
  if (f.target().clusterSize > f.target().numCtas) {
    f.builder().inst(arrival, {});
    f.builder().inst("barrier.cluster.wait", {});
  }
}

/// The same before the regions. Where the kernel begins with them nothing is to be seen but barriers, which have a
/// fence of their own (`fence.mbarrier_init`): more order would be a barrier of all the GPU's memory.
static void meetClusterFirst(FunctionLowering &f) {
  meetCluster(f, runsOnce(f.specializations()) ? "barrier.cluster.arrive.relaxed" : "barrier.cluster.arrive");
}

/// The registers of a thread at the start of the kernel; 0 if they never change.
static int32_t initialRegisters(Operation *op) {
  return int32_t(ttg::lookupKernelNumber(op->getParentOfType<tt::FuncOp>(), "ttg.maxnreg").value_or(0));
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

/// The operations that compute `value` from arguments of the kernel and constants, in order, added to `chain`; false if
/// one of them may not be repeated.
static bool collectRepeatable(Value value, llvm::SetVector<Operation *> &chain) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    return argument.getOwner()->isEntryBlock() && isa<tt::FuncOp>(argument.getOwner()->getParentOp());
  }
  if (chain.contains(op)) {
    return true;
  }
  auto alloc = dyn_cast<ttg::LocalAllocOp>(op);
  bool address = alloc && !alloc.getSrc();
  bool scalar = llvm::none_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
  if ((!address && !isPure(op)) || !scalar || op->getNumRegions() || chain.size() >= kMostRepeated ||
      !llvm::all_of(op->getOperands(), [&](Value operand) { return collectRepeatable(operand, chain); })) {
    return false;
  }
  chain.insert(op);
  return true;
}

/// Emits the operations of `chain` again and gives the registers of `value`; those known before stay in force.
static FailureOr<SmallVector<Value>> repeat(FunctionLowering &f, ArrayRef<Operation *> chain, Value value) {
  SmallVector<std::pair<Value, ArrayRef<Value>>> known;
  for (Operation *op : chain) {
    for (Value result : op->getResults()) {
      known.emplace_back(result, f.registers(result));
    }
    if (failed(LoweringTable::get().lower(op, f))) {
      return failure();
    }
  }
  SmallVector<Value> repeated(f.registers(value));
  for (auto [result, registers] : known) {
    f.set(result, registers);
  }
  return repeated;
}

/// Byte offset of a capture's first register in the operation's shared memory.
static int64_t captureOffset(FunctionLowering &f, ttg::WarpSpecializeOp op, unsigned capture) {
  int64_t registers = 0;
  for (Type type : op.getExplicitCaptures().take_front(capture).getTypes()) {
    registers += f.numRegisters(type);
  }
  return registers * kCaptureBytes;
}

static void storeCaptures(FunctionLowering &f, ttg::WarpSpecializeOp op) {
  LoweringBuilder &b = f.builder();
  Value first = b.equal(f.thread(), 0);
  for (auto [index, capture] : llvm::enumerate(op.getExplicitCaptures())) {
    llvm::SetVector<Operation *> chain;
    if (collectRepeatable(capture, chain)) {
      continue;
    }
    Value address = b.add(f.sharedAddress(op), captureOffset(f, op, index));
    for (auto [position, reg] : llvm::enumerate(f.registers(capture))) {
      storeShared(b, b.add(address, int64_t(position) * kCaptureBytes), reg, first);
    }
  }
}

static LogicalResult loadCaptures(FunctionLowering &f, ttg::WarpSpecializeOp op, Region &partition) {
  LoweringBuilder &b = f.builder();
  for (auto [index, capture] : llvm::enumerate(op.getExplicitCaptures())) {
    llvm::SetVector<Operation *> chain;
    if (collectRepeatable(capture, chain)) {
      FailureOr<SmallVector<Value>> repeated = repeat(f, chain.getArrayRef(), capture);
      if (failed(repeated)) {
        return failure();
      }
      f.set(partition.getArgument(index), *repeated);
      continue;
    }
    Value address = b.add(f.sharedAddress(op), captureOffset(f, op, index));
    SmallVector<Value> loaded;
    for (auto [position, type] : llvm::enumerate(f.registerTypes(capture.getType()))) {
      loaded.push_back(loadShared(b, b.add(address, int64_t(position) * kCaptureBytes), type, 1).front());
    }
    f.set(partition.getArgument(index), loaded);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The warps of partitions
//===----------------------------------------------------------------------===//

namespace {
/// Whole warpgroups and the partitions on them.
struct Crew {
  unsigned firstWarp, numWarps;
  int32_t registers; ///< of a thread, while the partitions run
  SmallVector<unsigned> partitions;
};

/// Emits what the warps run that are not the kernel's.
class Workers {
public:
  Workers(FunctionLowering &lowering, ArrayRef<ttg::WarpSpecializeOp> specializations)
      : f(lowering), b(lowering.builder()), ops(specializations) {}

  /// Emits into `entry`, which the workers' warps enter with their number in the CTA.
  LogicalResult run(Block *entry, Value warp);
  LogicalResult runOnce(Block *entry, Value warp);
  /// Emits the partitions of `op` into `dispatch`, up to where all warps have met, and stands there.
  LogicalResult runCrews(ttg::WarpSpecializeOp op, Block *dispatch, Value warp);

private:
  LogicalResult runCrew(ttg::WarpSpecializeOp op, const Crew &crew, Value warp, Block *back);
  LogicalResult runPartition(ttg::WarpSpecializeOp op, unsigned partition, Block *prologue);
  void branchBack();

  FunctionLowering &f;
  LoweringBuilder &b;
  ArrayRef<ttg::WarpSpecializeOp> ops;
  Block *loop = nullptr;
};
} // namespace

LogicalResult Workers::run(Block *entry, Value warp) {
  loop = entry;
  Block *leave = f.appendBlock();
  SmallVector<Block *> dispatches;
  SmallVector<int32_t> numbers;
  for (unsigned number = 0; number < ops.size(); ++number) {
    dispatches.push_back(f.appendBlock());
    numbers.push_back(number);
  }
  b.setInsertionPointToEnd(loop);
  meet(b);
  Value number = loadShared(b, f.workNumberAddress(), b.getI32Type(), 1).front();
  LLVM::SwitchOp::create(b, b.loc(), number, leave, ValueRange(), numbers, dispatches,
                         SmallVector<ValueRange>(dispatches.size()));
  b.setInsertionPointToEnd(leave);
  LLVM::ReturnOp::create(b, b.loc(), ValueRange());
  for (auto [op, dispatch] : llvm::zip(ops, dispatches)) {
    if (failed(runCrews(op, dispatch, warp))) {
      return failure();
    }
    branchBack();
  }
  return success();
}

LogicalResult Workers::runOnce(Block *entry, Value warp) {
  b.setInsertionPointToEnd(entry);
  meet(b);
  if (failed(runCrews(ops.front(), entry, warp))) {
    return failure();
  }
  LLVM::ReturnOp::create(b, b.loc(), ValueRange());
  return success();
}

/// Waits for more to run.
void Workers::branchBack() {
  auto branch = LLVM::BrOp::create(b, b.loc(), ValueRange(), loop);
  // What one partition computes must not be hoisted to where all of them pass.
  auto licm = LLVM::LoopLICMAttr::get(b.getContext(), /*disable=*/b.getBoolAttr(true), /*versioningDisable=*/nullptr);
  branch.setLoopAnnotationAttr(LLVM::LoopAnnotationAttr::get(
      b.getContext(), /*disableNonforced=*/nullptr, /*vectorize=*/nullptr, /*interleave=*/nullptr, /*unroll=*/nullptr,
      /*unrollAndJam=*/nullptr, licm, /*distribute=*/nullptr, /*pipeline=*/nullptr, /*peeled=*/nullptr,
      /*unswitch=*/nullptr, /*mustProgress=*/nullptr, /*isVectorized=*/nullptr, /*startLoc=*/FusedLoc(),
      /*endLoc=*/FusedLoc(), /*parallelAccesses=*/{}));
}

/// The partitions of `op` by the warpgroups that they are on: registers change by warpgroup.
static SmallVector<Crew> crewsOf(ttg::WarpSpecializeOp op, int32_t initial) {
  SmallVector<Crew> crews;
  auto registers = op.getActualRegisters();
  for (auto [partition, start] : llvm::enumerate(*op.getWarpGroupStartIds())) {
    unsigned first = unsigned(start) / kGroupWarps * kGroupWarps;
    Crew *crew = llvm::find_if(crews, [&](const Crew &known) { return known.firstWarp == first; });
    if (crew == crews.end()) {
      unsigned numWarps = llvm::alignTo(op.getPartitionWarps(partition), kGroupWarps);
      crews.push_back({first, numWarps, registers ? (*registers)[partition + 1] : initial, {}});
      crew = &crews.back();
    }
    crew->partitions.push_back(partition);
  }
  return crews;
}

LogicalResult Workers::runCrews(ttg::WarpSpecializeOp op, Block *dispatch, Value warp) {
  if (!op.getWarpGroupStartIds()) {
    return op.emitOpError("has no warps: warp groups are allocated before the lowering");
  }
  b.setInsertionPointToEnd(dispatch);
  meetClusterFirst(f);
  Block *back = f.appendBlock();
  for (const Crew &crew : crewsOf(op, initialRegisters(op))) {
    Block *inside = f.appendBlock(), *next = f.appendBlock();
    Value belongs = b.less(b.add(warp, -int64_t(crew.firstWarp)), crew.numWarps);
    LLVM::CondBrOp::create(b, b.loc(), belongs, inside, next);
    b.setInsertionPointToEnd(inside);
    if (failed(runCrew(op, crew, warp, back))) {
      return failure();
    }
    b.setInsertionPointToEnd(next);
  }
  if (!endsKernel(op, f)) {
    meet(b);
  }
  LLVM::BrOp::create(b, b.loc(), ValueRange(), back);
  b.setInsertionPointToEnd(back);
  meetCluster(f);
  return success();
}

/// What a crew runs between its changes of registers is reached by no other way: the assembler counts the registers of
/// all code that follows a change.
LogicalResult Workers::runCrew(ttg::WarpSpecializeOp op, const Crew &crew, Value warp, Block *back) {
  int32_t initial = initialRegisters(op);
  changeRegisters(b, initial, crew.registers);
  // The warp's number tells its partition; where no partition has the warp, it idles.
  Block *done = f.appendBlock();
  SmallVector<Block *> prologues;
  for (unsigned partition : crew.partitions) {
    Block *prologue = f.appendBlock(), *next = f.appendBlock();
    prologues.push_back(prologue);
    int64_t start = (*op.getWarpGroupStartIds())[partition];
    Value inside = b.less(b.add(warp, -start), op.getPartitionWarps(partition));
    LLVM::CondBrOp::create(b, b.loc(), inside, prologue, next);
    b.setInsertionPointToEnd(next);
  }
  LLVM::BrOp::create(b, b.loc(), ValueRange(), done);
  for (auto [partition, prologue] : llvm::zip_equal(crew.partitions, prologues)) {
    f.setContinuation(op.getPartitionOp(), done);
    if (failed(runPartition(op, partition, prologue))) {
      return failure();
    }
  }
  b.setInsertionPointToEnd(done);
  if (!endsKernel(op, f)) {
    meet(b);
    changeRegisters(b, crew.registers, initial);
  }
  LLVM::BrOp::create(b, b.loc(), ValueRange(), back);
  return success();
}

LogicalResult Workers::runPartition(ttg::WarpSpecializeOp op, unsigned partition, Block *prologue) {
  WarpGroup group;
  group.firstWarp = (*op.getWarpGroupStartIds())[partition];
  group.numWarps = op.getPartitionNumWarps()[partition];
  group.barrier = kFirstPartitionBarrier;
  for (unsigned before = 0; before < partition; ++before) {
    group.barrier += op.getReplicas(before);
  }
  group.replicas = op.getReplicas(partition);
  group.prologue = prologue;
  Region &region = op.getPartitionRegions()[partition];
  Block *body = f.appendBlock();
  b.setInsertionPointToEnd(prologue);
  LLVM::BrOp::create(b, b.loc(), ValueRange(), body);
  b.setInsertionPoint(prologue->getTerminator());
  LogicalResult result = success();
  f.withGroup(group, [&] {
    result = loadCaptures(f, op, region);
    if (succeeded(result)) {
      result = f.lowerRegion(region, body);
    }
  });
  return result;
}

/// Whether the kernel's warps and the others run the partitions of one operation together.
static bool areJoined(ArrayRef<ttg::WarpSpecializeOp> ops) {
  return llvm::any_of(ops, [](ttg::WarpSpecializeOp op) { return op.isJoined(); });
}

LogicalResult lowerWorkers(FunctionLowering &f, ArrayRef<ttg::WarpSpecializeOp> ops, Block *entry, Value warp) {
  if (areJoined(ops)) {
    LoweringBuilder &b = f.builder();
    b.setInsertionPointToEnd(entry);
    meet(b);
    LLVM::BrOp::create(b, b.loc(), ValueRange(), f.continuationOf(ops.front()));
    return success();
  }
  Workers workers(f, ops);
  return runsOnce(ops) ? workers.runOnce(entry, warp) : workers.run(entry, warp);
}

void dismissWorkers(FunctionLowering &f) {
  if (runsOnce(f.specializations())) {
    return;
  }
  LoweringBuilder &b = f.builder();
  storeShared(b, f.workNumberAddress(), b.i32(-1), b.equal(f.thread(), 0));
  meet(b);
}

//===----------------------------------------------------------------------===//
// The kernel's warps
//===----------------------------------------------------------------------===//

/// All warps run the partitions; then the kernel's go on and the others return.
static LogicalResult lowerJoined(ttg::WarpSpecializeOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  if (!runsOnce(f.specializations())) {
    return op.emitOpError("has a partition at warp 0: it must be the only one, where its kernel begins");
  }
  storeCaptures(f, op);
  meet(b);
  Block *dispatch = f.appendBlock(), *leave = f.appendBlock(), *after = f.appendBlock();
  f.setContinuation(op, dispatch);
  LLVM::BrOp::create(b, b.loc(), ValueRange(), dispatch);
  Value warp = f.warp();
  if (failed(Workers(f, f.specializations()).runCrews(op, dispatch, warp))) {
    return failure();
  }
  LLVM::CondBrOp::create(b, b.loc(), b.less(warp, f.numWarps()), after, leave);
  b.setInsertionPointToEnd(leave);
  LLVM::ReturnOp::create(b, b.loc(), ValueRange());
  b.setInsertionPointToEnd(after);
  return success();
}

static LogicalResult lowerWarpSpecialize(ttg::WarpSpecializeOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  if (!f.isKernel()) {
    return op.emitOpError("is supported in kernels only");
  }
  if (op.isJoined()) {
    return lowerJoined(op, f);
  }
  storeCaptures(f, op);
  if (!runsOnce(f.specializations())) {
    storeShared(b, f.workNumberAddress(), b.i32(llvm::find(f.specializations(), op) - f.specializations().begin()),
                b.equal(f.thread(), 0));
  }
  meet(b);
  meetClusterFirst(f);
  auto registers = op.getActualRegisters();
  int32_t initial = initialRegisters(op), own = registers ? registers->front() : initial;
  changeRegisters(b, initial, own);

  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) {
    llvm::append_range(types, f.registerTypes(type));
  }
  Block *region = f.appendBlock(), *after = f.appendBlock(types);
  f.setContinuation(op, after);
  LLVM::BrOp::create(b, b.loc(), ValueRange(), region);
  if (failed(f.lowerRegion(op.getDefaultRegion(), region))) {
    return failure();
  }

  b.setInsertionPointToEnd(after);
  if (!endsKernel(op, f)) {
    meet(b);
    changeRegisters(b, own, initial);
  }
  meetCluster(f);
  unsigned next = 0;
  for (Value result : op.getResults()) {
    unsigned count = f.numRegisters(result.getType());
    f.set(result,
          llvm::map_to_vector(after->getArguments().slice(next, count), [](BlockArgument a) { return Value(a); }));
    next += count;
  }
  return success();
}

static LogicalResult lowerWarpYield(ttg::WarpYieldOp op, FunctionLowering &f) {
  SmallVector<Value> values;
  for (Value operand : op.getValues()) {
    llvm::append_range(values, f.registers(operand));
  }
  LLVM::BrOp::create(f.builder(), op.getLoc(), values, f.continuationOf(op->getParentOp()));
  return success();
}

static LogicalResult lowerWarpReturn(ttg::WarpReturnOp op, FunctionLowering &f) {
  LLVM::BrOp::create(f.builder(), op.getLoc(), ValueRange(), f.continuationOf(op->getParentOp()));
  return success();
}

static LogicalResult lowerReplicaId(ttg::ReplicaIdOp op, FunctionLowering &f) {
  f.set(op.getResult(), f.replica());
  return success();
}

void populateWarpSpecializeLowerings(LoweringTable &table) {
  table.add(lowerWarpSpecialize);
  table.add(lowerReplicaId);
  table.add(lowerWarpYield);
  table.add(lowerWarpReturn);
}

} // namespace jitk::nvidia
