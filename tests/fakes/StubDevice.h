// A device that runs nothing and remembers what it was asked to: host memory, and a list of launches.

#pragma once

#include "src/runtime/Device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace jitk::test {

/// One launch as the device saw it. Arguments are the first eight bytes of each parameter; a direct launch gives its
/// parameters in one piece.
struct StubLaunch {
  std::string symbol;
  LaunchParameters parameters;
  std::vector<uint64_t> arguments;
  StreamHandle stream;
  std::vector<uint8_t> packed = {};
};

/// What a stub device was asked to do. Shared by the device, its modules and the test.
struct StubRecord {
  std::mutex mutex;
  std::vector<StubLaunch> launches; ///< guarded by mutex
  size_t numLoads = 0;              ///< guarded by mutex
  size_t numUnloads = 0;            ///< guarded by mutex
  size_t numTensorMaps = 0;         ///< guarded by mutex
  bool refusesDirect = false;       ///< set while nobody launches
};

class StubFunction final : public DeviceFunction {
public:
  StubFunction(std::shared_ptr<StubRecord> record, std::string symbol, bool remember)
      : record_(std::move(record)), symbol_(std::move(symbol)), remember_(remember) {}

  Status launch(const LaunchParameters &parameters, StreamHandle stream) override {
    if (!remember_) {
      return okStatus();
    }
    // How many arguments there are is the recipe's business; the stub compiler writes them as the first one.
    uint32_t count = 0;
    std::memcpy(&count, parameters.arguments[0], sizeof count);
    StubLaunch seen{symbol_, parameters, {}, stream};
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t value = 0;
      std::memcpy(&value, parameters.arguments[i], sizeof value);
      seen.arguments.push_back(value);
    }
    note(std::move(seen));
    return okStatus();
  }

  DirectLaunch direct() const override {
    return {enqueue, const_cast<StubFunction *>(this), const_cast<bool *>(&kProgrammatic)};
  }

private:
  static constexpr bool kProgrammatic = true;

  /// As the driver, which knows of launches what is in their configuration.
  static int enqueue(const DirectLaunchConfig *config, void *function, void **, void **extra) {
    auto &self = *static_cast<StubFunction *>(function);
    if (self.record_->refusesDirect) {
      return 1;
    }
    if (!self.remember_) {
      return 0;
    }
    LaunchParameters parameters;
    parameters.grid = {config->grid[0], config->grid[1], config->grid[2]};
    parameters.threads = config->block[0];
    parameters.threadsY = config->block[1];
    parameters.threadsZ = config->block[2];
    parameters.sharedBytes = config->sharedBytes;
    parameters.programmaticLaunch = config->numAttributes == 1 && *static_cast<const bool *>(config->attributes);
    // The driver's own names for what follows them, and its end.
    bool isPacked = extra[0] == reinterpret_cast<void *>(1) && extra[2] == reinterpret_cast<void *>(2) && !extra[4];
    const auto *buffer = static_cast<const uint8_t *>(extra[1]);
    self.note({self.symbol_, parameters, {}, config->stream, {buffer, buffer + *static_cast<size_t *>(extra[3])}});
    return isPacked ? 0 : 1;
  }

  void note(StubLaunch seen) {
    std::lock_guard lock(record_->mutex);
    record_->launches.push_back(std::move(seen));
  }

  std::shared_ptr<StubRecord> record_;
  std::string symbol_;
  bool remember_;
};

class StubModule final : public DeviceModule {
public:
  StubModule(std::shared_ptr<StubRecord> record, bool remember) : record_(std::move(record)), remember_(remember) {}
  ~StubModule() override {
    std::lock_guard lock(record_->mutex);
    ++record_->numUnloads;
  }

  Result<DeviceFunction *> function(const std::string &symbol, uint32_t) override {
    functions_.push_back(std::make_unique<StubFunction>(record_, symbol, remember_));
    return static_cast<DeviceFunction *>(functions_.back().get());
  }

private:
  std::shared_ptr<StubRecord> record_;
  bool remember_;
  std::vector<std::unique_ptr<StubFunction>> functions_;
};

class StubDevice final : public Device {
public:
  /// With `remember` false a launch does nothing at all, for counting what the runtime itself does.
  explicit StubDevice(Target target, bool remember = true)
      : record(std::make_shared<StubRecord>()), target_(target), remember_(remember) {}
  ~StubDevice() override {
    for (auto &[address, bytes] : memory_) {
      ::operator delete(reinterpret_cast<void *>(address), std::align_val_t(256));
    }
  }

  Target target() const override { return target_; }
  std::string name() const override { return deviceName; }
  uint32_t multiprocessors() const override { return 6; }

  Result<std::shared_ptr<DeviceModule>> load(std::span<const uint8_t> code) override {
    if (std::ranges::equal(code, refuses)) {
      return unsupported("stub device takes no such code");
    }
    {
      std::lock_guard lock(record->mutex);
      ++record->numLoads;
    }
    return std::shared_ptr<DeviceModule>(std::make_shared<StubModule>(record, remember_));
  }

  Result<uint64_t> allocate(size_t bytes) override {
    if (bytes > size_t{1} << 40) {
      return Status(StatusCode::OutOfMemory, "stub device has less memory");
    }
    auto address = reinterpret_cast<uint64_t>(::operator new(bytes + 1, std::align_val_t(256)));
    std::lock_guard lock(record->mutex);
    memory_[address] = bytes;
    return address;
  }
  Status free(uint64_t address) override {
    std::lock_guard lock(record->mutex);
    if (memory_.erase(address) == 0) {
      return invalidArgument("address was not allocated");
    }
    ::operator delete(reinterpret_cast<void *>(address), std::align_val_t(256));
    return okStatus();
  }
  Status copyToDevice(uint64_t destination, const void *source, size_t bytes) override {
    std::memcpy(reinterpret_cast<void *>(destination), source, bytes);
    return okStatus();
  }
  Status copyToHost(void *destination, uint64_t source, size_t bytes) override {
    std::memcpy(destination, reinterpret_cast<const void *>(source), bytes);
    return okStatus();
  }
  Status encodeTensorMap(void *map, uint32_t, uint64_t address, std::span<const uint64_t>, std::span<const uint64_t>,
                         std::span<const uint32_t>, uint32_t, L2Promotion) override {
    std::memset(map, 0, 128);
    std::memcpy(map, &address, sizeof address);
    std::lock_guard lock(record->mutex);
    ++record->numTensorMaps;
    return okStatus();
  }
  Status synchronize() override { return okStatus(); }

  const std::shared_ptr<StubRecord> record;
  std::string deviceName = "stub"; ///< set before use
  std::vector<uint8_t> refuses;    ///< code that cannot be loaded; set before use

private:
  Target target_;
  bool remember_;
  std::map<uint64_t, size_t> memory_; ///< guarded by record->mutex
};

} // namespace jitk::test
