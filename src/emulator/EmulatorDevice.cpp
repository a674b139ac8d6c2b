#include "src/emulator/EmulatorDevice.h"

#include "src/emulator/EmulatorBackend.h"
#include "src/emulator/HostLoader.h"
#include "src/emulator/Registers.h"
#include "src/emulator/TensorMap.h"
#include "src/runtime/SharedMemory.h"
#include "src/support/ParallelFor.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <thread>
#include <tuple>

namespace jitk::emulator {

namespace {

constexpr uint32_t maxThreadsOfCta = 1024;
// Larger clusters want an attribute of the function, which the driver's side does not set.
constexpr uint32_t maxCtasOfCluster = 8;
constexpr std::array<uint32_t, 3> maxGrid = {0x7fffffff, 65535, 65535};
// Threads that exist at once, over all workers: each stack takes two of the process's memory mappings, of which Linux
// allows some 65,000.
constexpr uint32_t maxStacks = 16384;
// Findings kept of one kind at one place.
constexpr uint32_t findingsPerSite = 4;

class EmulatorFunction final : public DeviceFunction {
public:
  EmulatorFunction(EmulatorDevice &device, const KernelRecord &record) : device_(device), record_(record) {}

  Status launch(const LaunchParameters &parameters, StreamHandle) override {
    Result<LaunchReport> report = device_.run(record_, parameters);
    return report.ok() ? okStatus() : std::move(report).takeStatus();
  }

  const KernelRecord &record() const { return record_; }

private:
  EmulatorDevice &device_;
  const KernelRecord &record_;
};

class EmulatorModule final : public DeviceModule {
public:
  EmulatorModule(EmulatorDevice &device, std::unique_ptr<HostModule> code) : device_(device), code_(std::move(code)) {}

  Result<DeviceFunction *> function(const std::string &symbol, uint32_t sharedBytes) override {
    const uint32_t limit = sharedMemoryLimit(device_.options().target.capability);
    if (sharedBytes > limit) {
      return invalidArgument(
          llvm::formatv("shared memory of a cta must not exceed {0} bytes: got {1}", limit, sharedBytes));
    }
    JITK_ASSIGN(const KernelRecord *record, code_->kernel(symbol));
    std::lock_guard lock(mutex_);
    std::unique_ptr<EmulatorFunction> &function = functions_[symbol];
    if (!function) {
      function = std::make_unique<EmulatorFunction>(device_, *record);
    }
    return function.get();
  }

private:
  EmulatorDevice &device_;
  std::unique_ptr<HostModule> code_;
  std::mutex mutex_; // of functions_
  std::unordered_map<std::string, std::unique_ptr<EmulatorFunction>> functions_;
};

Status checkLaunch(const KernelRecord &kernel, const LaunchParameters &parameters, uint32_t capability) {
  if (parameters.threadsY != 1 || parameters.threadsZ != 1) {
    return invalidArgument(llvm::formatv("the threads of a cta must lie along x: got {0} along y and {1} along z",
                                         parameters.threadsY, parameters.threadsZ));
  }
  if (parameters.threads == 0 || parameters.threads > maxThreadsOfCta) {
    return invalidArgument(
        llvm::formatv("threads of a cta must be 1 to {0}: got {1}", maxThreadsOfCta, parameters.threads));
  }
  if (kernel.maxThreads != 0 && parameters.threads != kernel.maxThreads) {
    return invalidArgument(
        llvm::formatv("the kernel wants {0} threads a cta: got {1}", kernel.maxThreads, parameters.threads));
  }
  const uint64_t registers = uint64_t(registersAtLaunch(kernel.maxRegisters)) * ((parameters.threads + 31) / 32 * 32);
  if (registers > registersOfSm) {
    return invalidArgument(llvm::formatv("registers of a cta must not exceed {0}: got {1}", registersOfSm, registers));
  }
  uint32_t ctas = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    if (parameters.grid[axis] == 0 || parameters.grid[axis] > maxGrid[axis]) {
      return invalidArgument(
          llvm::formatv("the grid must be 1 to {0} on axis {1}: got {2}", maxGrid[axis], axis, parameters.grid[axis]));
    }
    if (parameters.cluster[axis] == 0 || parameters.grid[axis] % parameters.cluster[axis] != 0) {
      return invalidArgument(llvm::formatv("the grid must be a multiple of the cluster on axis {0}: got {1} and {2}",
                                           axis, parameters.grid[axis], parameters.cluster[axis]));
    }
    ctas *= parameters.cluster[axis];
  }
  if (ctas > maxCtasOfCluster || (ctas > 1 && capability < 90)) {
    return invalidArgument(llvm::formatv("no cluster of {0} ctas on sm_{1}", ctas, capability));
  }
  if (parameters.sharedBytes > sharedMemoryLimit(capability)) {
    return invalidArgument(llvm::formatv("shared memory of a cta must not exceed {0} bytes: got {1}",
                                         sharedMemoryLimit(capability), parameters.sharedBytes));
  }
  return okStatus();
}

/// Collects the findings of clusters that run in any order.
class ReportCollector {
public:
  explicit ReportCollector(size_t limit) : limit_(limit) {}

  void add(uint64_t index, Cluster &cluster) {
    if (cluster.numFindings() == 0) {
      return;
    }
    std::lock_guard lock(mutex_);
    total_ += cluster.numFindings();
    ofCluster_.emplace_back(index, cluster.takeFindings());
  }

  LaunchReport take() {
    std::ranges::sort(ofCluster_, {}, [](const auto &entry) { return entry.first; });
    LaunchReport report;
    report.numFindings = total_;
    for (auto &[index, findings] : ofCluster_) {
      for (Finding &finding : findings) {
        if (report.findings.size() < limit_ && isNews(finding)) {
          report.findings.push_back(std::move(finding));
        }
      }
    }
    return report;
  }

private:
  /// One wrong line of the source shows in every CTA; a few of them say enough.
  bool isNews(const Finding &finding) {
    return kept_[std::tuple(finding.kind, finding.form, finding.location)]++ < findingsPerSite;
  }

  size_t limit_;
  std::map<std::tuple<FindingKind, std::string, std::string>, uint32_t> kept_;
  std::mutex mutex_;
  std::vector<std::pair<uint64_t, std::vector<Finding>>> ofCluster_;
  uint64_t total_ = 0;
};

} // namespace

std::string LaunchReport::toString() const {
  std::string text;
  for (const Finding &finding : findings) {
    text += finding.toString() + "\n";
  }
  if (numFindings > findings.size()) {
    text += llvm::formatv("and {0} more\n", numFindings - findings.size());
  }
  return text;
}

EmulatorDevice::EmulatorDevice(const DeviceOptions &options)
    : options_(options), memory_(options.checks.globalInitialisation) {
  options_.target.kind = Target::Kind::Emulator;
}

EmulatorDevice::~EmulatorDevice() = default;

Result<std::shared_ptr<DeviceModule>> EmulatorDevice::load(std::span<const uint8_t> code) {
  JITK_ASSIGN(std::unique_ptr<HostModule> module, loadHostObject(code));
  return std::shared_ptr<DeviceModule>(std::make_shared<EmulatorModule>(*this, std::move(module)));
}

Result<uint64_t> EmulatorDevice::allocate(size_t bytes) { return memory_.allocate(bytes); }

Status EmulatorDevice::free(uint64_t address) { return memory_.free(address); }

/// That a range may be accessed by the host.
Status EmulatorDevice::checkRange(uint64_t address, size_t bytes) const {
  if (memory_.check(address, bytes) != GlobalMemory::Fault::None) {
    return invalidArgument(llvm::formatv("{0} bytes at {1:x} are not in one allocation", bytes, address));
  }
  return okStatus();
}

Status EmulatorDevice::copyToDevice(uint64_t destination, const void *source, size_t bytes) {
  JITK_TRY(checkRange(destination, bytes));
  std::copy_n(static_cast<const uint8_t *>(source), bytes, reinterpret_cast<uint8_t *>(destination));
  memory_.markInitialised(destination, bytes);
  return okStatus();
}

Status EmulatorDevice::copyToHost(void *destination, uint64_t source, size_t bytes) {
  JITK_TRY(checkRange(source, bytes));
  std::copy_n(reinterpret_cast<const uint8_t *>(source), bytes, static_cast<uint8_t *>(destination));
  return okStatus();
}

Status EmulatorDevice::fill(uint64_t destination, uint8_t value, size_t bytes) {
  JITK_TRY(checkRange(destination, bytes));
  std::memset(reinterpret_cast<void *>(destination), value, bytes);
  memory_.markInitialised(destination, bytes);
  return okStatus();
}

Status EmulatorDevice::encodeTensorMap(void *map, uint32_t elementType, uint64_t address,
                                       std::span<const uint64_t> sizes, std::span<const uint64_t> strides,
                                       std::span<const uint32_t> box, uint32_t swizzle, L2Promotion /*promotion*/) {
  if (sizes.empty() || sizes.size() > 5 || strides.size() + 1 != sizes.size() || box.size() != sizes.size()) {
    return invalidArgument(llvm::formatv("a tensor map has 1 to 5 sizes, as many box sizes, one stride less: got {0}, "
                                         "{1}, {2}",
                                         sizes.size(), box.size(), strides.size()));
  }
  TensorMap fields;
  fields.address = address;
  fields.elementType = elementType;
  fields.rank = uint32_t(sizes.size());
  fields.swizzle = swizzle;
  std::ranges::copy(sizes, fields.sizes.begin());
  std::ranges::copy(strides, fields.strides.begin());
  std::ranges::copy(box, fields.box.begin());
  JITK_TRY(fields.validate());
  fields.encode(map);
  return okStatus();
}

std::unique_ptr<Cluster> EmulatorDevice::takeCluster() {
  std::lock_guard lock(mutex_);
  if (clusters_.empty()) {
    return std::make_unique<Cluster>();
  }
  std::unique_ptr<Cluster> cluster = std::move(clusters_.back());
  clusters_.pop_back();
  return cluster;
}

void EmulatorDevice::giveBack(std::unique_ptr<Cluster> cluster) {
  std::lock_guard lock(mutex_);
  clusters_.push_back(std::move(cluster));
}

Result<LaunchReport> EmulatorDevice::run(const KernelRecord &kernel, const LaunchParameters &parameters) {
  JITK_TRY(checkLaunch(kernel, parameters, options_.target.capability));
  std::vector<std::span<const uint8_t>> parameterBytes;
  for (uint32_t i = 0; i < kernel.numParameters; ++i) {
    parameterBytes.emplace_back(static_cast<const uint8_t *>(parameters.arguments[i]), kernel.parameterSizes()[i]);
  }
  Launch launch;
  launch.options = &options_;
  launch.memory = &memory_;
  launch.entry = reinterpret_cast<KernelEntry>(kernel.entry);
  launch.parameters = parameters.arguments;
  launch.parameterBytes = parameterBytes;
  launch.grid = parameters.grid;
  launch.cluster = parameters.cluster;
  launch.block = {parameters.threads, 1, 1};
  launch.sharedBytes = parameters.sharedBytes;
  launch.number = ++launches_;
  launch.programmatic = parameters.programmaticLaunch;
  launch.registers = registersAtLaunch(kernel.maxRegisters);

  const uint64_t clusters = uint64_t(parameters.grid[0] / parameters.cluster[0]) *
                            (parameters.grid[1] / parameters.cluster[1]) * (parameters.grid[2] / parameters.cluster[2]);
  const uint32_t wanted = options_.workers ? options_.workers : std::max(1u, std::thread::hardware_concurrency());
  const uint32_t threadsOfCluster =
      parameters.threads * parameters.cluster[0] * parameters.cluster[1] * parameters.cluster[2];
  const uint32_t affordable = std::max(1u, maxStacks / threadsOfCluster);
  const auto workers = uint32_t(std::clamp<uint64_t>(clusters, 1, std::min(wanted, affordable)));
  std::vector<std::unique_ptr<Cluster>> engines;
  for (uint32_t worker = 0; worker < workers; ++worker) {
    engines.push_back(takeCluster());
  }
  ReportCollector collector(options_.maxFindings);
  std::vector<Status> failures(workers);
  parallelFor(clusters, workers, [&](uint32_t worker, uint64_t index) {
    failures[worker] = engines[worker]->run(launch, index);
    collector.add(index, *engines[worker]);
    return failures[worker].ok();
  });
  for (std::unique_ptr<Cluster> &engine : engines) {
    giveBack(std::move(engine));
  }
  for (Status &failure : failures) {
    JITK_TRY(std::move(failure));
  }

  LaunchReport report = collector.take();
  std::lock_guard lock(mutex_);
  pending_.numFindings += report.numFindings;
  for (const Finding &finding : report.findings) {
    if (pending_.findings.size() < options_.maxFindings) {
      pending_.findings.push_back(finding);
    }
  }
  return report;
}

LaunchReport EmulatorDevice::takeFindings() {
  std::lock_guard lock(mutex_);
  return std::exchange(pending_, {});
}

Status EmulatorDevice::synchronize() {
  const LaunchReport report = takeFindings();
  if (report.clean()) {
    return okStatus();
  }
  return internalError(llvm::formatv("the emulator found {0} faults: {1}", report.numFindings,
                                     report.findings.front().toString()))
      .withToolOutput(report.toString());
}

Result<std::unique_ptr<Device>> createDevice(const EmulatorOptions &options) {
  if (options.target.kind != Target::Kind::Emulator) {
    return invalidArgument("an emulator device needs a target of the emulator");
  }
#if defined(__x86_64__)
  // What HostCompiler compiles for.
  if (!__builtin_cpu_supports("x86-64-v3")) {
    return unavailable("the emulator needs a processor of level x86-64-v3, with AVX2, FMA and BMI2");
  }
#endif
  DeviceOptions own;
  own.target = options.target;
  own.mode = options.immediate ? AsyncMode::Immediate : AsyncMode::Deferred;
  own.seed = options.seed;
  own.workers = options.workers;
  own.print = options.print;
  return std::unique_ptr<Device>(std::make_unique<EmulatorDevice>(own));
}

} // namespace jitk::emulator
