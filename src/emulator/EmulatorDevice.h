// The emulator device: a Device that runs kernels on the CPU, thread by thread, and reports what they do wrong.
//
// Launches run at once, on the calling thread and on workers; streams have no meaning. What is found is kept until
// `takeFindings` or `synchronize` asks for it.

#pragma once

#include "src/emulator/Cluster.h"
#include "src/emulator/DeviceOptions.h"
#include "src/emulator/Finding.h"
#include "src/emulator/GlobalMemory.h"
#include "src/runtime/Device.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace jitk::emulator {

struct KernelRecord;

/// What came of one launch.
struct LaunchReport {
  std::vector<Finding> findings; ///< in the order of CTAs, then of time; at most as many as the options keep
  uint64_t numFindings = 0;      ///< all of them

  bool clean() const { return numFindings == 0; }
  /// One line a finding.
  std::string toString() const;
};

/// Thread-safe. Modules must not outlive their device.
class EmulatorDevice final : public Device {
public:
  explicit EmulatorDevice(const DeviceOptions &options);
  ~EmulatorDevice() override;

  const DeviceOptions &options() const { return options_; }

  Target target() const override { return options_.target; }
  std::string name() const override { return "emulator"; }
  uint32_t multiprocessors() const override { return options_.multiprocessors; }
  Result<std::shared_ptr<DeviceModule>> load(std::span<const uint8_t> code) override;
  Result<uint64_t> allocate(size_t bytes) override;
  Status free(uint64_t address) override;
  Status copyToDevice(uint64_t destination, const void *source, size_t bytes) override;
  Status copyToHost(void *destination, uint64_t source, size_t bytes) override;
  Status fill(uint64_t destination, uint8_t value, size_t bytes) override;
  Status encodeTensorMap(void *map, uint32_t elementType, uint64_t address, std::span<const uint64_t> sizes,
                         std::span<const uint64_t> strides, std::span<const uint32_t> box, uint32_t swizzle,
                         L2Promotion promotion = L2Promotion::None) override;
  /// Fails if a kernel launched since the last call did anything wrong; the message has the first findings.
  Status synchronize() override;

  /// Runs a kernel and waits for it. Its findings are in the report, and also kept for `synchronize`.
  Result<LaunchReport> run(const KernelRecord &kernel, const LaunchParameters &parameters);
  /// What the launches since the last call of this or of `synchronize` did wrong.
  LaunchReport takeFindings();

private:
  Status checkRange(uint64_t address, size_t bytes) const;
  std::unique_ptr<Cluster> takeCluster();
  void giveBack(std::unique_ptr<Cluster> cluster);

  DeviceOptions options_;
  GlobalMemory memory_;
  std::mutex mutex_;                               // of what follows
  std::vector<std::unique_ptr<Cluster>> clusters_; // idle ones
  LaunchReport pending_;
  std::atomic<uint32_t> launches_{0};
};

} // namespace jitk::emulator
