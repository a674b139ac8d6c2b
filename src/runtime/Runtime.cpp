#include "src/runtime/Runtime.h"

#include "src/runtime/ProcessGeneration.h"
#include "src/runtime/isolation/IsolatedCompiler.h"

#include <cstdio>

namespace jitk {

Result<std::shared_ptr<Runtime>> Runtime::create(RuntimeOptions options) {
  std::vector<std::unique_ptr<Bundle>> bundles;
  for (const std::string &path : options.bundles) {
    JITK_ASSIGN(std::unique_ptr<Bundle> bundle, Bundle::open(path));
    bundles.push_back(std::move(bundle));
  }
  std::unique_ptr<Compiler> isolated;
  if (options.isolateCompiler) {
    isolated = std::make_unique<IsolatedCompiler>(CompilerProcessOptions{.program = options.compilerProgram,
                                                                         .library = options.compilerLibrary,
                                                                         .buildId = options.buildId,
                                                                         .memoryBytes = options.compileMemoryBytes,
                                                                         .timeLimit = options.compileTimeLimit});
    options.compiler = isolated.get();
  }
  return std::shared_ptr<Runtime>(new Runtime(options, std::move(isolated), std::move(bundles)));
}

Runtime::Runtime(RuntimeOptions &options, std::unique_ptr<Compiler> isolated,
                 std::vector<std::unique_ptr<Bundle>> bundles)
    : log_(std::move(options.logSink), std::move(options.logFilter)), isolated_(std::move(isolated)),
      compiler_(options.compiler ? LazyCompiler(*options.compiler, options.assembler)
                                 : LazyCompiler(options.compilerLibrary, options.buildId, options.assembler)),
      entries_(compiler_, std::move(bundles), openDisk(options), openShared(options), options.memoryBytes,
               options.lockPatience, options.hostJobs, options.reproducers, std::move(options.onLateCompilation), log_,
               counters_),
      useTuned_(options.useTuned), generation_(processGeneration()),
      workers_(createWorkers(options.jobs, options.workerNice)) {}

std::unique_ptr<DiskStore> Runtime::openDisk(const RuntimeOptions &options) {
  if (!options.storeFolder) {
    storeProblem_ = unavailable("no folder for the store: HOME, XDG_CACHE_HOME and JITK_STORE are not set");
  } else if (!options.storeFolder->empty()) {
    Result<std::unique_ptr<DiskStore>> disk = DiskStore::open(*options.storeFolder, options.storeBytes, log_);
    if (disk.ok()) {
      return *std::move(disk);
    }
    storeProblem_ = std::move(disk).takeStatus();
  }
  if (!storeProblem_.ok()) {
    log_.warning("store", storeProblem_.toString() + "; kernels stay in memory");
  }
  return nullptr;
}

std::unique_ptr<SharedStore> Runtime::openShared(const RuntimeOptions &options) {
  return options.sharedStore ? std::make_unique<SharedStore>(*options.sharedStore, options.sharedOptions, log_)
                             : nullptr;
}

std::shared_ptr<const Kernel> Runtime::findLoaded(const Place &place) {
  std::lock_guard lock(mutex_);
  return loaded_.find(place);
}

std::shared_ptr<const Problem> Runtime::tuned(const std::shared_ptr<const Problem> &problem, const Device &device) {
  if (!useTuned_ || !hasOpenConfiguration(problem->description)) {
    return problem;
  }
  std::string configuration = entries_.findTuned(*problem, device);
  if (configuration.empty()) {
    return problem;
  }
  auto attributes = problem->description.attributes();
  attributes.insert_or_assign("configuration", std::move(configuration));
  return std::make_shared<const Problem>(Description(problem->description.op(), std::move(attributes)));
}

Result<std::shared_ptr<const Kernel>> Runtime::kernel(const std::shared_ptr<Device> &device,
                                                      const std::shared_ptr<const Problem> &problem, Cause cause,
                                                      Tier *tier) {
  Tier ignored;
  Tier &how = tier ? *tier : ignored;
  how = Tier::Loaded;
  Place place(device.get(), problem->text);
  if (std::shared_ptr<const Kernel> kernel = findLoaded(place)) {
    Counters::add(counters_.kernels[static_cast<size_t>(Tier::Loaded)]);
    return kernel;
  }
  bool joined = false;
  std::string flight = std::to_string(reinterpret_cast<uintptr_t>(device.get())) + " " + problem->text;
  Result<std::shared_ptr<const Kernel>> kernel =
      flights_.run(flight, joined, [&] { return findOrLoad(device, problem, place, cause); });
  if (kernel.ok()) {
    how = joined ? Tier::Joined : (*kernel)->obtained().tier;
  }
  return kernel;
}

Result<std::shared_ptr<const Kernel>> Runtime::obtainAndLoad(const std::shared_ptr<Device> &device,
                                                             const std::shared_ptr<const Problem> &problem,
                                                             Cause cause) {
  const std::shared_ptr<const Problem> built = tuned(problem, *device);
  JITK_ASSIGN(Obtained obtained, entries_.obtain(*built, device->target(), cause));
  Result<std::shared_ptr<const Kernel>> kernel = Kernel::load(device, problem, obtained);
  bool isRefused = !kernel.ok() && kernel.status().code() == StatusCode::Unsupported;
  if (!isRefused || obtained.tier == Tier::Compiled) {
    return kernel;
  }
  // Whoever stored it never loaded it, perhaps.
  Result<Obtained> other = entries_.replace(*built, device->target(), *obtained.entry, kernel.status(), cause);
  return other.ok() ? Kernel::load(device, problem, *other) : std::move(kernel);
}

Result<std::shared_ptr<const Kernel>> Runtime::findOrLoad(const std::shared_ptr<Device> &device,
                                                          const std::shared_ptr<const Problem> &problem,
                                                          const Place &place, Cause cause) {
  // Asked again: the flight before this one may have landed after the caller looked.
  if (std::shared_ptr<const Kernel> kernel = findLoaded(place)) {
    return kernel;
  }
  JITK_ASSIGN(std::shared_ptr<const Kernel> kernel, obtainAndLoad(device, problem, cause));
  Counters::add(counters_.loads);
  Counters::add(counters_.loadedBytes, kernel->entry().code.size());
  if (log_.enabled(LogLevel::Info, "load")) {
    char milliseconds[32];
    std::snprintf(milliseconds, sizeof milliseconds, "%.1f ms", kernel->loadMilliseconds());
    log_.info("load",
              problem->text + " on " + device->name() + " (" + device->target().toString() + "): " + milliseconds);
  }
  std::lock_guard lock(mutex_);
  loaded_.add(place, kernel);
  return kernel;
}

} // namespace jitk
