// CudaModule: machine code loaded into a context, and its functions.

#pragma once

#include "backends/nvidia/driver/DeviceContext.h"
#include "src/runtime/Device.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

namespace jitk::nvidia {

/// A function with all that a launch needs told already.
class CudaFunction final : public DeviceFunction {
public:
  CudaFunction(const DeviceContext &context, api::CUfunction function) : context_(context), function_(function) {}
  Status launch(const LaunchParameters &parameters, StreamHandle stream) override;
  /// A CUfunction is one of its context, so that a driver either launches it there or refuses.
  DirectLaunch direct() const override;
  /// Whether it was ever launched.
  bool used() const { return used_.load(std::memory_order_relaxed); }

private:
  const DeviceContext &context_; ///< the module's
  const api::CUfunction function_;
  std::atomic<bool> used_ = false;
};

/// Loaded by cuLibraryLoadData where the driver has it, else by cuModuleLoadData. Immutable but for the functions that
/// were asked for. May die while launches of it are in flight: the context unloads it when they have finished.
class CudaModule final : public DeviceModule {
public:
  static Result<std::shared_ptr<DeviceModule>> load(std::shared_ptr<DeviceContext> context,
                                                    std::span<const uint8_t> code);
  ~CudaModule() override;
  Result<DeviceFunction *> function(const std::string &symbol, uint32_t sharedBytes) override;

private:
  explicit CudaModule(std::shared_ptr<DeviceContext> context) : context_(std::move(context)) {}
  Status find(const std::string &symbol, api::CUfunction &function) const;
  Status prepare(api::CUfunction function, uint32_t sharedBytes) const;

  const std::shared_ptr<DeviceContext> context_;
  LoadedCode code_;
  std::mutex mutex_;
  std::map<std::pair<std::string, uint32_t>, std::unique_ptr<CudaFunction>> functions_; ///< guarded by mutex_
};

} // namespace jitk::nvidia
