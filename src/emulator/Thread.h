// The state of the threads, warps and CTAs that a cluster runs.
//
// A thread is a fiber in compiled code that calls `jitk_emulator_execute` for each target instruction. The call's
// operand and result arrays lie on the thread's stack and stay valid while it waits, so that the last thread to arrive
// at a collective instruction computes for all of them.

#pragma once

#include "src/emulator/Clock.h"
#include "src/emulator/Fiber.h"
#include "src/emulator/Finding.h"
#include "src/emulator/SharedMemory.h"
#include "src/emulator/TensorMap.h"
#include "src/ir/ptx/Instructions.h"

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace jitk::emulator {

struct Cta;
struct Warp;
struct Warpgroup;
class Cluster;

/// One instruction being executed by one thread. Registers are zero-extended to 64 bits.
struct Call {
  const ir::ptx::Instruction *instruction = nullptr;
  uint64_t *results = nullptr;
  const uint64_t *operands = nullptr; ///< after the predicate
  const int64_t *immediates = nullptr;
  bool aligned = false; ///< all lanes of the warp execute the same instruction of the source

  uint32_t operand32(unsigned index) const { return uint32_t(operands[index]); }
  float operandFloat(unsigned index) const { return std::bit_cast<float>(operand32(index)); }
  void setFloat(unsigned index, float value) const { results[index] = std::bit_cast<uint32_t>(value); }
  int64_t parameter(unsigned index) const { return instruction->params[index]; }
  ir::ptx::Element element(unsigned index) const { return ir::ptx::Element(parameter(index)); }
  /// Where the instruction stands in the source; may be null.
  const char *location() const;
};

/// Who issued asynchronous work, for findings that show later.
struct Origin {
  const ir::ptx::Instruction *instruction = nullptr;
  const char *location = nullptr;
};

/// A cp.async in flight.
struct PendingCopy {
  uint32_t target = 0;
  uint64_t source = 0;
  uint32_t bytes = 0;
  uint32_t sourceBytes = 0; ///< the rest is zero filled
  Origin origin;
  bool done = false;              ///< its bytes are there
  bool arrivesOnMbarrier = false; ///< whoever waits there waits for it
};

/// A bulk copy or reduction between shared and global memory; with a tensor map, or flat.
struct BulkCopy {
  enum class Kind : uint8_t { Load, Store, Reduce };
  Kind kind = Kind::Load;
  bool flat = false;
  ir::ptx::AtomicOp reduction = ir::ptx::AtomicOp::Add;
  TensorMap map;
  std::array<int32_t, 5> coordinates = {};
  uint64_t global = 0; ///< flat copies
  uint32_t bytes = 0;
  Cta *cta = nullptr; ///< whose shared memory
  uint32_t shared = 0;
  uint32_t readEpoch = 0; ///< of the CTA's bulk reader, for stores
  Origin origin;
};

/// What a thread waits for.
enum class Blocker : uint8_t { None, Warp, Warpgroup, Barrier, Mbarrier, ClusterBarrier, Registers };

struct Thread {
  enum class State : uint8_t { Ready, Blocked, Done };

  Cta *cta = nullptr;
  Warp *warp = nullptr;
  uint32_t index = 0; ///< in the CTA
  uint32_t lane = 0;
  std::array<uint32_t, 3> id = {};

  Fiber fiber;
  uintptr_t stackLimit = 0; ///< how far down its stack a kernel may call
  State state = State::Ready;
  Blocker blocker = Blocker::None;
  uint64_t blockedOn = 0; ///< barrier id, or mbarrier address
  Call call;
  uint64_t numCalls = 0;
  uint64_t numEmptyRounds = 0; ///< of loops, since the last instruction of the table
  uint32_t callsInSlice = 0;
  ThreadClock clock;
  uint32_t clusterArrivals = 0; ///< at the cluster barrier
  uint32_t clusterPhase = 0;    ///< of the cluster barrier, as far as the thread waited
  bool mayUseGlobal = true;     ///< the grids before have ended, as far as the thread knows

  std::vector<PendingCopy> copies;  ///< cp.async that no wait has covered, oldest first
  uint32_t copiesIssued = 0;        ///< all of them, `copies` the latest
  std::vector<uint32_t> copyGroups; ///< ends of committed groups, as indices into `copies`
  std::vector<BulkCopy> bulk;       ///< bulk stores whose sources are still read, oldest first
  std::vector<uint32_t> bulkGroups; ///< as copyGroups

  Cluster &cluster() const;
  /// Reports what the current instruction does wrong.
  void report(FindingKind kind, uint64_t address, std::string detail);
  void report(FindingKind kind, const Origin &origin, uint64_t address, std::string detail);
  Origin origin() const { return {call.instruction, call.location()}; }
};

/// An arrival on an mbarrier when a thread's cp.async before it are done.
struct CopyArrival {
  Thread *thread = nullptr;
  uint32_t copiesIssued = 0; ///< of the thread, by then
};

/// A wgmma between issue and completion.
struct PendingWgmma {
  uint32_t sequence = 0; ///< of the warpgroup, from 1
  const ir::ptx::Instruction *instruction = nullptr;
  std::array<int64_t, 4> immediates = {1, 1, 0, 0};
  uint64_t descriptorA = 0, descriptorB = 0;
  bool scaleD = true;
  bool done = false;
  uint32_t numRegisters = 0;          ///< of the accumulator, a thread
  std::vector<uint32_t> registersA;   ///< [thread][4]
  std::vector<uint32_t> accumulators; ///< [thread][register]: C, then D; may hold tags of earlier ones
  uint32_t unclaimed = 0;             ///< registers that no wait has handed out yet
  Origin origin;
};

/// A setmaxnreg that warps of a warpgroup execute.
struct RegisterChange {
  const ir::ptx::Instruction *instruction = nullptr;
  const char *location = nullptr;
  uint32_t count = 0;
};

/// Four warps that execute wgmma and setmaxnreg together.
struct Warpgroup {
  Cta *cta = nullptr;
  uint32_t index = 0;
  uint32_t firstWarp = 0; ///< in the CTA
  uint32_t arrived = 0;   ///< threads at the collective instruction
  uint32_t nextSequence = 1;
  uint32_t completed = 0; ///< all up to this one are done
  std::deque<PendingWgmma> pending;
  std::vector<RegisterChange> registerChanges; ///< in order, of the warp that is furthest along
};

struct Warp {
  Cta *cta = nullptr;
  Warpgroup *group = nullptr;
  Thread *lanes = nullptr;
  uint32_t index = 0; ///< in the CTA
  uint32_t numLanes = 0;
  uint32_t arrived = 0;              ///< mask of lanes at the collective instruction
  uint32_t firstArrived = 0;         ///< the lane that came first: the others must match it
  bool fenced = false;               ///< wgmma.fence since the last wait
  std::vector<uint32_t> wgmmaGroups; ///< last sequence of each committed group, oldest first
  uint32_t wgmmaWaited = 0;          ///< sequence up to which it has waited
  uint32_t registers = 0;            ///< of a thread, now; 0 if the kernel does not say with how many it starts
  uint32_t wantedRegisters = 0;      ///< while it waits for them
  uint32_t registerChanges = 0;      ///< executed
  uint32_t lastRegisterChange = 0;   ///< epoch of lane 0 then
};

/// bar.sync.
struct Barrier {
  uint32_t wanted = 0; ///< threads; 0 = nobody came yet
  uint32_t arrived = 0;
  std::vector<Thread *> waiters;
  ClockJoin clocks;
};

struct Mbarrier {
  uint32_t count = 0;   ///< arrivals of a phase
  uint32_t pending = 0; ///< still missing in this phase
  int64_t transactionBytes = 0;
  uint32_t phase = 0;
  ActorIndex actor = 0; ///< stands for the asynchronous writes that complete here
  ActorIndex initialiser = noActor;
  uint32_t initEpoch = 0;
  /// Phase of the cluster barrier at which a fence.mbarrier_init hands the initialisation to the cluster.
  uint32_t publishedAt = UINT32_MAX;
  std::vector<Thread *> waiters;
  std::vector<BulkCopy> copies;          ///< in flight; complete here
  std::vector<CopyArrival> copyArrivals; ///< of cp.async that are not done
  ClockJoin clocks;                      ///< released in this phase
  ClockJoin completed;                   ///< in the phases before
};

/// An access of shared memory by a thread of another CTA.
struct RemoteAccess {
  uint32_t epoch = 0; ///< of the thread
  uint32_t address = 0;
  Thread *thread = nullptr;
  Origin origin;
};

/// A tensor map that a warp has written to global memory.
struct PublishedMap {
  const Warp *publisher = nullptr;
  uint32_t epoch = 0;                                     ///< of lane 0
  std::vector<std::pair<ActorIndex, uint32_t>> acquirers; ///< actors and epochs of fence.proxy.tensormap
};

/// Actors that stand for the asynchronous writes into a CTA; mbarriers share them.
inline constexpr uint32_t numMbarrierActors = 64;

struct Cta {
  Cluster *cluster = nullptr;
  std::array<uint32_t, 3> id = {};
  uint32_t rank = 0; ///< in the cluster
  uint32_t running = 0;
  SharedMemory shared;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;
  std::array<Barrier, 16> barriers;
  std::unordered_map<ActorIndex, RemoteAccess> remoteAccesses; ///< the last one of each thread
  Snapshot knownAtExit;                                        ///< by the threads that have ended
  std::unordered_map<uint64_t, PublishedMap> publishedMaps;    ///< by address
  std::vector<std::pair<ActorIndex, uint32_t>> gridWaits;      ///< actors and epochs of griddepcontrol.wait
  uint32_t freeRegisters = 0;                                  ///< of a thread, for one warp
  std::vector<Warp *> registerWaiters;                         ///< oldest first
  std::unordered_map<uint32_t, Mbarrier> mbarriers;            ///< by address
  uint32_t nextMbarrierActor = 0;
  AsyncReaders asyncReaders;
  ActorIndex firstMbarrierActor = 0;
  uint32_t bulkEpoch = 0; ///< bulk stores issued
};

} // namespace jitk::emulator
