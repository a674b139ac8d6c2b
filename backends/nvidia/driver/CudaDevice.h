// CudaDevice: a GPU and its primary context, through the driver.

#pragma once

#include "backends/nvidia/driver/CudaModule.h"
#include "backends/nvidia/driver/Driver.h"
#include "src/runtime/Device.h"

#include <memory>
#include <string>

namespace jitk::nvidia {

/// Thread-safe, whatever context a thread has. Never synchronizes but where it says so.
class CudaDevice final : public Device {
public:
  /// Opens the device of that number. Fails with Unavailable, naming how many there are, if there is none.
  static Result<std::shared_ptr<Device>> open(std::shared_ptr<const Driver> driver, int ordinal,
                                              api::CUcontext engineContext = nullptr);

  Target target() const override { return target_; }
  int ordinal() const override { return ordinal_; }
  std::string name() const override { return name_; }
  uint32_t multiprocessors() const override { return multiprocessors_; }
  Result<std::shared_ptr<DeviceModule>> load(std::span<const uint8_t> code) override;
  Result<uint64_t> allocate(size_t bytes) override;
  Status free(uint64_t address) override;
  Status copyToDevice(uint64_t destination, const void *source, size_t bytes) override;
  Status copyToHost(void *destination, uint64_t source, size_t bytes) override;
  Status fill(uint64_t destination, uint8_t value, size_t bytes) override;
  Status encodeTensorMap(void *map, uint32_t elementType, uint64_t address, std::span<const uint64_t> sizes,
                         std::span<const uint64_t> strides, std::span<const uint32_t> box, uint32_t swizzle,
                         L2Promotion promotion) override;
  Status synchronize() override;

private:
  CudaDevice(std::shared_ptr<DeviceContext> context, int ordinal, Target target, std::string name,
             uint32_t multiprocessors)
      : context_(std::move(context)), ordinal_(ordinal), target_(target), name_(std::move(name)),
        multiprocessors_(multiprocessors) {}
  const Driver &driver() const { return context_->driver(); }
  /// Enqueues in the stream of transfers, and waits until it is done.
  template <typename Enqueue> Status transfer(const char *name, Enqueue enqueue);

  const std::shared_ptr<DeviceContext> context_;
  const int ordinal_;
  const Target target_;
  const std::string name_;
  const uint32_t multiprocessors_;
};

/// Opens "0", "1", ...: the device name without "cuda:". The driver is opened at the first call.
Result<std::shared_ptr<Device>> openDevice(std::string_view name, void *engineContext);

/// "driver 12080, 2 devices", or why there is none. For people.
std::string describeDriver();

} // namespace jitk::nvidia
