// EntrySource: from a problem and a target to compiled code, by the cheapest way there is.
//
//   memory -> another thread that is at it -> bundles -> disk -> another process that is at it -> shared store
//     -> another problem's code that would be the same -> the compiler

#pragma once

#include "src/runtime/Counters.h"
#include "src/runtime/Device.h"
#include "src/runtime/LateCompilation.h"
#include "src/runtime/LazyCompiler.h"
#include "src/runtime/Patience.h"
#include "src/runtime/Problem.h"
#include "src/runtime/SingleFlight.h"
#include "src/runtime/Target.h"
#include "src/runtime/WeakMap.h"
#include "src/store/Bundle.h"
#include "src/store/DiskStore.h"
#include "src/store/MemoryStore.h"
#include "src/store/shared/SharedStore.h"
#include "src/support/Log.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace jitk {

/// Where a kernel came from. The values are those of `jitk_tier_t`.
enum class Tier : uint8_t {
  None = 0,
  Loaded = 1,
  Memory = 2,
  Disk = 3,
  Compiled = 4,
  Joined = 5,
  Bundle = 6,
  Shared = 7,
  Equal = 8
};

/// An entry and how it was got.
struct Obtained {
  std::shared_ptr<const Entry> entry;
  Tier tier = Tier::None;
  double milliseconds = 0;
};

/// Whether a description could name a configuration and does not.
bool hasOpenConfiguration(const Description &description);

/// Thread-safe.
class EntrySource {
public:
  /// `disk` and `shared` may be null. `compiler`, `log` and `counters` must outlive this. At most `hostJobs` of the
  /// processes that use the disk store compile at a time; 0 = any number. `reproducers` is the folder for those; empty
  /// = none are written. `onLate` hears of each compilation that no preparation asked for.
  EntrySource(LazyCompiler &compiler, std::vector<std::unique_ptr<Bundle>> bundles, std::unique_ptr<DiskStore> disk,
              std::unique_ptr<SharedStore> shared, uint64_t memoryBytes, std::chrono::milliseconds lockPatience,
              uint32_t hostJobs, std::string reproducers, LateCompilationCallback onLate, Log &log, Counters &counters)
      : compiler_(compiler), bundles_(std::move(bundles)), disk_(std::move(disk)), shared_(std::move(shared)),
        memory_(memoryBytes), patience_(lockPatience), hostJobs_(hostJobs), reproducers_(std::move(reproducers)),
        onLate_(std::move(onLate)), log_(log), counters_(counters) {}

  /// Gets the entry; compiles on the calling thread if nobody has it. Without a compiler, or without an assembler, an
  /// entry of a bundle or of the disk store serves whatever assembler made it.
  Result<Obtained> obtain(const Problem &problem, const Target &target, Cause cause = Cause::Requested);

  /// The entry anew, where a device refuses the one that `obtain` gave, and why: that one is moved to the quarantine
  /// and passed over wherever else it lies, and the kernel is compiled. Once in this process for each key: then, and
  /// without a compiler, it fails.
  Result<Obtained> replace(const Problem &problem, const Target &target, const Entry &refused, const Status &why,
                           Cause cause = Cause::Requested);

  /// The key that `obtain` uses. Opens the compiler library.
  Result<Key> keyOf(const Problem &problem, const Target &target);

  /// Whether `obtain` would find an entry, and need not compile. A guess: what is there may be damaged.
  bool isStored(const Problem &problem, const Target &target);

  /// What the problem's code is made from, as a name: problems with the same name have the same kernel, which is
  /// compiled once as long as its entry is in use or in memory. Empty if that is not known. Costs some milliseconds,
  /// and opens the compiler library.
  Result<std::string> programOf(const Problem &problem, const Target &target);
  /// Tells of the entry of a problem of that program.
  void learn(const std::string &program, const std::shared_ptr<const Entry> &entry);

  /// Compiles, without the stores.
  Result<CompiledKernel> compile(const Problem &problem, const Target &target, const CompileOptions &options,
                                 Cause cause);

  /// The configuration that was stored as the fastest for a problem on devices like that one; empty if none was, or if
  /// that is what the kernel is by default.
  std::string findTuned(const Problem &problem, const Device &device);
  /// Stores it. Fails with Unavailable without a disk store.
  Status publishTuned(const Problem &problem, const Device &device, std::string_view configuration);

  DiskStore *disk() { return disk_.get(); }
  SharedStore *shared() { return shared_.get(); }
  std::span<const std::unique_ptr<Bundle>> bundles() const { return bundles_; }

private:
  Result<Obtained> obtainUncounted(const Problem &problem, const Target &target, Cause cause);
  Key makeKey(const Problem &problem, const Target &target, std::string assembler) const;
  Key tunedKey(const Problem &problem, const Device &device) const;
  /// Code equal to that of `refused`, if there is such an entry, is not found anywhere.
  Result<Obtained> findOrCompile(const Problem &problem, const Target &target, const Key &key, Cause cause,
                                 const Entry *refused = nullptr);
  Result<Obtained> replaceOnce(const Problem &problem, const Target &target, const Key &key, const Entry &refused,
                               const Status &why, Cause cause);
  std::shared_ptr<const Entry> findInBundles(const Key &key);
  Result<Obtained> findWithoutCompiler(const Problem &problem, const Target &target, Status why);
  KeyLock takeToken(const Problem &problem, Patience::Clock::time_point deadline);
  /// Counts and tells it, if that lock could not be had in time.
  void noteTimeout(const KeyLock &lock, std::string_view category, const std::string &what, const Problem &problem);
  /// `deadline` is when all waiting for other processes ends, here and in what it calls.
  Result<Obtained> makeEntry(const Problem &problem, const Target &target, const Key &key, Cause cause,
                             Patience::Clock::time_point deadline, const Entry *refused);
  void reportLate(const Problem &problem, const Target &target, Cause cause, const Status &status, double milliseconds);
  Status withReproducer(Status failure, const Problem &problem, const Target &target, Compiler &compiler);
  Result<std::string> programOf(const Problem &problem, const Target &target, const Key &key);
  std::shared_ptr<const Entry> findProgram(const std::string &program);
  Result<Obtained> findOrCompileProgram(const std::string &program, const Problem &problem, const Target &target,
                                        const Key &key, Cause cause, Patience::Clock::time_point deadline);
  Result<Obtained> compileOrShare(const Problem &problem, const Target &target, const Key &key, Cause cause,
                                  Patience::Clock::time_point deadline);
  Result<Obtained> compileEntry(const Problem &problem, const Target &target, const Key &key, Cause cause,
                                std::string program, Patience::Clock::time_point deadline);

  LazyCompiler &compiler_;
  const std::vector<std::unique_ptr<Bundle>> bundles_;
  std::unique_ptr<DiskStore> disk_;
  std::unique_ptr<SharedStore> shared_;
  MemoryStore memory_;
  Patience patience_;
  const uint32_t hostJobs_;
  const std::string reproducers_;
  const LateCompilationCallback onLate_;
  Log &log_;
  Counters &counters_;
  SingleFlight<Obtained> flights_;
  SingleFlight<Obtained> programFlights_;
  std::mutex mutex_;
  WeakMap<std::string, const Entry> programs_; ///< guarded by mutex_
  std::set<std::string> replaced_;             ///< names of keys; guarded by mutex_
};

} // namespace jitk
