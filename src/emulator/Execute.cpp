#include "src/emulator/Execute.h"

#include "src/emulator/DevicePrint.h"
#include "src/emulator/Handlers.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace jitk::emulator {

using ir::ptx::Handler;
using ir::ptx::Instruction;

const char *Call::location() const { return immediates ? reinterpret_cast<const char *>(immediates[-1]) : nullptr; }

void executeNothing(Thread &) {}

/// A grid's predecessors have ended before it starts here; that it waits for them is checked all the same.
void executeGridDependency(Thread &thread) {
  const bool waits = thread.call.parameter(0);
  if (waits && !thread.mayUseGlobal) {
    thread.mayUseGlobal = true;
    thread.cta->gridWaits.emplace_back(thread.clock.self, thread.clock.epoch);
  }
}

void executeYield(Thread &thread) { thread.cluster().yield(thread); }

void executeTrap(Thread &thread) {
  thread.report(FindingKind::Trap, 0, "the kernel trapped");
  thread.cluster().abort();
}

namespace {

HandlerFunction handlerFunction(Handler handler) {
  switch (handler) {
  case Handler::Sreg:
    return executeSreg;
  case Handler::SharedBase:
    return executeSharedBase;
  case Handler::LoadGlobal:
    return executeLoadGlobal;
  case Handler::StoreGlobal:
    return executeStoreGlobal;
  case Handler::LoadShared:
    return executeLoadShared;
  case Handler::StoreShared:
    return executeStoreShared;
  case Handler::AtomicGlobal:
    return executeAtomicGlobal;
  case Handler::AtomicShared:
    return executeAtomicShared;
  case Handler::CompareAndSwap:
    return executeCompareAndSwap;
  case Handler::CpAsync:
    return executeCpAsync;
  case Handler::CpAsyncCommit:
    return executeCpAsyncCommit;
  case Handler::CpAsyncWait:
    return executeCpAsyncWait;
  case Handler::CpAsyncArrive:
    return executeCpAsyncArrive;
  case Handler::Ldmatrix:
    return executeLdmatrix;
  case Handler::Stmatrix:
    return executeStmatrix;
  case Handler::Mma:
    return executeMma;
  case Handler::WgmmaFence:
    return executeWgmmaFence;
  case Handler::WgmmaCommit:
    return executeWgmmaCommit;
  case Handler::WgmmaWait:
    return executeWgmmaWait;
  case Handler::Wgmma:
    return executeWgmma;
  case Handler::MbarrierInit:
    return executeMbarrierInit;
  case Handler::MbarrierInval:
    return executeMbarrierInval;
  case Handler::MbarrierArrive:
    return executeMbarrierArrive;
  case Handler::MbarrierExpectTx:
    return executeMbarrierExpectTx;
  case Handler::MbarrierWait:
    return executeMbarrierWait;
  case Handler::FenceMbarrierInit:
    return executeFenceMbarrierInit;
  case Handler::FenceProxyAsync:
    return executeFenceProxyAsync;
  case Handler::TmaLoad:
    return executeTmaLoad;
  case Handler::TmaStore:
    return executeTmaStore;
  case Handler::TmaReduce:
    return executeTmaReduce;
  case Handler::TmaCommit:
    return executeTmaCommit;
  case Handler::TmaWait:
    return executeTmaWait;
  case Handler::BulkLoad:
    return executeBulkLoad;
  case Handler::BulkStore:
    return executeBulkStore;
  case Handler::TensormapReplace:
    return executeTensormapReplace;
  case Handler::TensormapPublish:
    return executeTensormapPublish;
  case Handler::BarrierCta:
    return executeBarrierCta;
  case Handler::BarrierArrive:
    return executeBarrierArrive;
  case Handler::WarpSync:
    return executeWarpSync;
  case Handler::Shuffle:
    return executeShuffle;
  case Handler::Elect:
    return executeElect;
  case Handler::Vote:
    return executeVote;
  case Handler::Redux:
    return executeRedux;
  case Handler::SetMaxRegister:
    return executeSetMaxRegister;
  case Handler::ClusterArrive:
    return executeClusterArrive;
  case Handler::ClusterWait:
    return executeClusterWait;
  case Handler::MapShared:
    return executeMapShared;
  case Handler::Convert:
    return executeConvert;
  case Handler::Math:
    return executeMath;
  case Handler::Permute:
    return executePermute;
  case Handler::CachePolicy:
    return executeCachePolicy;
  case Handler::Nanosleep:
    return executeYield;
  case Handler::Trap:
    return executeTrap;
  case Handler::TensormapFence:
    return executeTensormapAcquire;
  case Handler::GridDependency:
    return executeGridDependency;
  // Global memory is coherent here.
  case Handler::Fence:
  case Handler::Prefetch:
    return executeNothing;
  }
  return executeTrap;
}

/// A row with what a call needs of it.
struct Row {
  const Instruction *instruction;
  HandlerFunction execute;
  uint32_t numResults;
  bool predicated;
  bool aligned;
};

/// Whether PTX wants all lanes of a warp at the instruction. `bar` is short for `barrier` with `.aligned`.
bool isAligned(const Instruction &instruction) {
  const llvm::StringRef text = instruction.assembly;
  return text.contains(".aligned") || text.starts_with("bar.sync") || text.starts_with("bar.arrive");
}

const std::vector<Row> &rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> built;
    for (const Instruction &instruction : ir::ptx::allInstructions()) {
      built.push_back({&instruction, handlerFunction(instruction.handler), uint32_t(instruction.results.size()),
                       instruction.predicated, isAligned(instruction)});
    }
    return built;
  }();
  return all;
}

// Calls after which a thread that waits for nobody gives way: a spin on a flag in memory ends.
constexpr uint32_t sliceCalls = 1u << 14;

/// Charges the thread for a call or a round of a loop: one that never ends is stopped, one that spins gives way.
void charge(Thread &thread) {
  if (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < thread.stackLimit) {
    thread.report(FindingKind::Limit, 0, "the thread's stack is used up");
    thread.cluster().abort();
  }
  if (++thread.numCalls > thread.cluster().options().maxInstructions) {
    thread.report(FindingKind::Limit, 0, llvm::formatv("the thread executed {0} instructions", thread.numCalls - 1));
    thread.cluster().abort();
  }
  if (++thread.callsInSlice >= sliceCalls) {
    thread.callsInSlice = 0;
    thread.cluster().yield(thread);
  }
}

void checkTarget(Thread &thread) {
  const DeviceOptions &options = thread.cluster().options();
  if (options.checks.target &&
      !thread.call.instruction->runsOn(options.target.capability, options.target.archSpecific)) {
    thread.report(FindingKind::Unsupported, 0,
                  llvm::formatv("needs {0}: the device is sm_{1}{2}", thread.call.instruction->requirement(),
                                options.target.capability, options.target.archSpecific ? "a" : ""));
  }
}

/// What the thread does now is no row of the table, but stands at a place of the source.
void leaveTable(Thread &thread, const int64_t *site) {
  thread.call = {};
  thread.call.immediates = site;
}

/// The results of an instruction whose predicate is false: what is tied to them, or bits that nobody should use.
void skip(const Row &row, uint64_t *results, const uint64_t *operands) {
  const int tied = row.instruction->tiedOperands;
  for (uint32_t i = 0; i < row.numResults; ++i) {
    results[i] = tied >= 0 ? operands[uint32_t(tied) + i] : ~uint64_t(0);
  }
}

} // namespace

} // namespace jitk::emulator

using namespace jitk::emulator;

void jitk_emulator_execute(Thread *thread, uint32_t row, uint64_t *results, const uint64_t *operands,
                           const int64_t *immediates) {
  static const Row *const table = rows().data();
  const Row &entry = table[row];
  thread->numEmptyRounds = 0;
  thread->call = {entry.instruction, results, operands + (entry.predicated ? 1 : 0), immediates, entry.aligned};
  charge(*thread);
  if (entry.predicated && !(operands[0] & 1)) {
    skip(entry, results, operands);
    return;
  }
  checkTarget(*thread);
  entry.execute(*thread);
}

void jitk_emulator_loop(Thread *thread, const int64_t *site) {
  leaveTable(*thread, site);
  if (++thread->numEmptyRounds > thread->cluster().options().maxEmptyRounds) {
    thread->report(
        FindingKind::Limit, 0,
        llvm::formatv("the thread went {0} rounds of a loop without an instruction", thread->numEmptyRounds - 1));
    thread->cluster().abort();
  }
  charge(*thread);
}

void jitk_emulator_trap(Thread *thread, const int64_t *site, uint32_t unreachable) {
  leaveTable(*thread, site);
  thread->report(FindingKind::Trap, 0,
                 unreachable ? "the kernel reached a place marked unreachable" : "the kernel trapped");
  thread->cluster().abort();
}

void jitk_emulator_assert(Thread *thread, const char *message, const char *file, uint32_t line, const char *function,
                          uint64_t) {
  leaveTable(*thread, nullptr);
  std::string where = *file ? llvm::formatv("{0}:{1}, ", file, line).str() : std::string();
  thread->report(FindingKind::Trap, 0,
                 llvm::formatv("assertion failed: {0} ({1}function {2})", message, where, function));
  thread->cluster().abort();
}

int32_t jitk_emulator_print(Thread *thread, const char *format, const void *values) {
  const DeviceOptions &options = thread->cluster().options();
  if (options.print) {
    options.print(formatDevicePrint(format, values));
  }
  return 0;
}
