// Runs the CTAs of one cluster together on one host thread.
//
// The scheduler resumes one ready thread at a time. When none is ready it lets asynchronous work that somebody waits
// for complete; when there is none, the threads are deadlocked. A run is a function of the launch and the seed.

#pragma once

#include "src/emulator/DeviceOptions.h"
#include "src/emulator/Fiber.h"
#include "src/emulator/GlobalMemory.h"
#include "src/emulator/Thread.h"

#include <array>
#include <span>

namespace jitk::emulator {

/// The compiled entry of a kernel: loads its parameters and calls it.
using KernelEntry = void (*)(Thread *thread, const void *const *parameters);

/// What all clusters of a launch share. Read-only while the launch runs.
struct Launch {
  const DeviceOptions *options = nullptr;
  GlobalMemory *memory = nullptr;
  KernelEntry entry = nullptr;
  const void *const *parameters = nullptr;
  /// Where the parameters lie, for instructions that read them by address (tensor maps).
  std::span<const std::span<const uint8_t>> parameterBytes;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint32_t sharedBytes = 0;
  uint32_t number = 0;       ///< of the device's launches, from 1
  bool programmatic = false; ///< it may begin before the grids before it have ended
  uint32_t registers = 0;    ///< that a thread starts with; 0 = the kernel does not say
};

/// Reusable; keeps its stacks and shared memory between runs. Used by one host thread at a time.
class Cluster {
public:
  /// Runs cluster number `index` of the launch. Fails only if the machine has no memory for it.
  Status run(const Launch &launch, uint64_t index);

  /// What was found in the last run, in order; at most as many as the options keep.
  std::vector<Finding> takeFindings() { return std::move(findings_); }
  /// How many there were.
  uint64_t numFindings() const { return numFindings_; }

  const Launch &launch() const { return *launch_; }
  const DeviceOptions &options() const { return *launch_->options; }
  bool deferred() const { return options().mode == AsyncMode::Deferred; }
  bool tracksRaces() const { return options().checks.races; }
  size_t numActors() const { return numActors_; }
  std::vector<Cta> &ctas() { return ctas_; }
  GlobalMemory::Accessor globalAccessor() const { return {launch_->number, number_}; }
  /// "thread 3 of cta (0, 0, 0)", "wgmma of warpgroup 1", ...
  std::string describeActor(ActorIndex actor) const;

  /// Suspends the running thread until it is woken.
  void block(Thread &thread, Blocker blocker, uint64_t on = 0);
  /// Makes a blocked thread ready. No effect on one that is not.
  void wake(Thread &thread);
  /// Lets other threads run before this one goes on.
  void yield(Thread &thread);
  /// Ends the run of the whole cluster; does not return to the thread that runs.
  [[noreturn]] void abort();

  void report(Thread &thread, const Origin &origin, FindingKind kind, uint64_t address, std::string detail);

  /// A number below `bound`, from the seed.
  uint64_t random(uint64_t bound);

  /// A thread has read global memory in a way by which other clusters may have told it what they have done.
  bool hearsOfOthers = false;

  // Cluster barrier.
  uint32_t clusterArrived = 0;
  uint32_t clusterPhase = 0;
  std::vector<Thread *> clusterWaiters;
  ClockJoin clusterClocks;    ///< released in this phase
  ClockJoin clusterCompleted; ///< in the phase before

private:
  Status prepare(const Launch &launch, uint64_t index);
  void prepareCta(Cta &cta, uint32_t rank);
  void prepareThread(Cta &cta, Thread &thread);
  static void runThread(void *thread);
  void schedule();
  Thread *takeReady();
  /// Completes asynchronous work that somebody waits for; false if there is none.
  bool completeAsync();
  void finish(Thread &thread);
  /// What other CTAs do in the shared memory of one that has ended, and may do later.
  static void reportLateAccesses(const Cta &cta);
  void reportDeadlock();
  void reportPlaces(Cta &cta);

  const Launch *launch_ = nullptr;
  uint32_t number_ = 0; ///< in the launch, from 1
  std::vector<Cta> ctas_;
  std::vector<FiberStack> stacks_;
  size_t numActors_ = 0;
  uint64_t randomState_ = 0;
  std::vector<Thread *> ready_;
  size_t nextReady_ = 0;
  Thread *running_ = nullptr;
  uint32_t live_ = 0;
  bool aborted_ = false;
  std::vector<Finding> findings_;
  std::unordered_map<uint64_t, uint32_t> findingsOfSite_; ///< so that one wrong line does not crowd out the others
  uint64_t numFindings_ = 0;
};

} // namespace jitk::emulator
