// Runtime: what one process needs to get kernels: workers, stores, the compiler.
//
// A runtime knows no plan and no device; both use it, and each keeps it alive through a shared pointer. The life of a
// kernel in this room:
//
//   Plan -> Runtime::kernel -> EntrySource::obtain -> Kernel::load -> Kernel::launch

#pragma once

#include "src/runtime/EntrySource.h"
#include "src/runtime/Kernel.h"
#include "src/runtime/LazyCompiler.h"
#include "src/runtime/WeakMap.h"
#include "src/runtime/workers/Workers.h"
#include "src/support/Log.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace jitk {

struct RuntimeOptions {
  std::optional<std::string> storeFolder;  ///< absent: none was found; empty: none is wanted
  std::vector<std::string> bundles;        ///< paths; looked into in this order, before the disk
  std::optional<RedisAddress> sharedStore; ///< the server of the shared tier
  SharedStore::Options sharedOptions;
  uint64_t storeBytes = uint64_t{4} << 30;
  uint64_t memoryBytes = uint64_t{256} << 20;
  std::chrono::milliseconds lockPatience{60'000};
  uint32_t jobs = 0;            ///< 0 = one a core
  uint32_t workerNice = 0;      ///< see `LoweredPriority`
  uint32_t hostJobs = 0;        ///< see `EntrySource`
  std::string reproducers;      ///< see `EntrySource`
  std::string compilerLibrary;  ///< see `openCompilerLibrary`
  Compiler *compiler = nullptr; ///< one that is there already, in place of a library; outlives the runtime
  std::string buildId;          ///< what the compiler library's must be
  bool isolateCompiler = false; ///< the library is opened in processes of its own
  std::string compilerProgram;  ///< see `IsolatedCompiler`
  std::chrono::milliseconds compileTimeLimit{0}; ///< of an isolated compiler, for one kernel; 0 = none
  uint64_t compileMemoryBytes = 0;               ///< of an isolated compiler's process; 0 = no bound
  std::string assembler;                         ///< see `CompileOptions`
  bool useTuned = false;                         ///< see `Runtime::tuned`
  LateCompilationCallback onLateCompilation;     ///< see `EntrySource`
  Log::Sink logSink;
  LogFilter logFilter;
};

/// Thread-safe. Destruction waits for the jobs of its workers.
class Runtime {
public:
  /// Does not fail for want of a store: that is a line in the log. Fails if a bundle cannot be opened.
  static Result<std::shared_ptr<Runtime>> create(RuntimeOptions options);

  /// The kernel of a problem on a device: the one that is loaded there already, else one obtained and loaded now, on
  /// the calling thread. Nobody keeps it but the caller. `cause` is who wants it; `tier` (may be null) is told how this
  /// call got it.
  Result<std::shared_ptr<const Kernel>> kernel(const std::shared_ptr<Device> &device,
                                               const std::shared_ptr<const Problem> &problem,
                                               Cause cause = Cause::Requested, Tier *tier = nullptr);

  /// The problem in the configuration that was measured to be fastest there; the problem itself where none was, or the
  /// runtime is not to use it.
  std::shared_ptr<const Problem> tuned(const std::shared_ptr<const Problem> &problem, const Device &device);

  EntrySource &entries() { return entries_; }
  LazyCompiler &compiler() { return compiler_; }
  bool compilerIsIsolated() const { return isolated_ != nullptr; }
  Workers &workers() { return *workers_; }
  Log &log() { return log_; }
  const Counters &counters() const { return counters_; }
  /// Why there is no disk store; OK if there is one or none is wanted.
  const Status &storeProblem() const { return storeProblem_; }
  /// `processGeneration` of the process that made this.
  uint32_t generation() const { return generation_; }

private:
  /// A device and a problem.
  using Place = std::pair<const Device *, std::string>;

  Runtime(RuntimeOptions &options, std::unique_ptr<Compiler> isolated, std::vector<std::unique_ptr<Bundle>> bundles);
  std::unique_ptr<SharedStore> openShared(const RuntimeOptions &options);
  std::unique_ptr<DiskStore> openDisk(const RuntimeOptions &options);
  std::shared_ptr<const Kernel> findLoaded(const Place &place);
  Result<std::shared_ptr<const Kernel>> obtainAndLoad(const std::shared_ptr<Device> &device,
                                                      const std::shared_ptr<const Problem> &problem, Cause cause);
  Result<std::shared_ptr<const Kernel>> findOrLoad(const std::shared_ptr<Device> &device,
                                                   const std::shared_ptr<const Problem> &problem, const Place &place,
                                                   Cause cause);

  Log log_;
  Counters counters_;
  Status storeProblem_;
  std::unique_ptr<Compiler> isolated_; ///< null where the compiler is not isolated
  LazyCompiler compiler_;
  EntrySource entries_;
  std::mutex mutex_;
  WeakMap<Place, const Kernel> loaded_; ///< guarded by mutex_
  SingleFlight<std::shared_ptr<const Kernel>> flights_;
  const bool useTuned_;
  const uint32_t generation_;
  std::unique_ptr<Workers> workers_; ///< last: its jobs use all of the above
};

} // namespace jitk
