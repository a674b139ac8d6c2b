// CudaModule: machine code loaded into a context, and its functions.

#pragma once

#include "backends/nvidia/driver/Driver.h"
#include "src/runtime/Device.h"

#include <map>
#include <memory>
#include <mutex>

namespace jitk::nvidia {

/// A device's primary context, held while anything needs it.
class PrimaryContext {
public:
  static Result<std::shared_ptr<const PrimaryContext>> retain(std::shared_ptr<const Driver> driver,
                                                              api::CUdevice device);
  PrimaryContext(std::shared_ptr<const Driver> driver, api::CUdevice device, api::CUcontext context)
      : driver_(std::move(driver)), device_(device), context_(context) {}
  PrimaryContext(const PrimaryContext &) = delete;
  PrimaryContext &operator=(const PrimaryContext &) = delete;
  ~PrimaryContext() { (void)driver()->primaryCtxRelease(device_); }

  const Driver &driver() const { return *driver_; }
  api::CUcontext handle() const { return context_; }

private:
  const std::shared_ptr<const Driver> driver_;
  const api::CUdevice device_;
  const api::CUcontext context_;
};

/// A function with all that a launch needs told already.
class CudaFunction final : public DeviceFunction {
public:
  CudaFunction(const PrimaryContext &context, api::CUfunction function) : context_(context), function_(function) {}
  Status launch(const LaunchParameters &parameters, StreamHandle stream) override;

private:
  const PrimaryContext &context_; ///< the module's
  const api::CUfunction function_;
};

/// Loaded by cuLibraryLoadData where the driver has it, else by cuModuleLoadData. Immutable but for the functions that
/// were asked for.
class CudaModule final : public DeviceModule {
public:
  static Result<std::shared_ptr<DeviceModule>> load(std::shared_ptr<const PrimaryContext> context,
                                                    std::span<const uint8_t> code);
  ~CudaModule() override;
  Result<DeviceFunction *> function(const std::string &symbol, uint32_t sharedBytes) override;

private:
  explicit CudaModule(std::shared_ptr<const PrimaryContext> context) : context_(std::move(context)) {}
  Status find(const std::string &symbol, api::CUfunction &function) const;
  Status prepare(api::CUfunction function, uint32_t sharedBytes) const;

  const std::shared_ptr<const PrimaryContext> context_;
  api::CUlibrary library_ = nullptr;
  api::CUmodule module_ = nullptr; ///< one of the two is set
  std::mutex mutex_;
  std::map<std::pair<std::string, uint32_t>, std::unique_ptr<CudaFunction>> functions_; ///< guarded by mutex_
};

} // namespace jitk::nvidia
