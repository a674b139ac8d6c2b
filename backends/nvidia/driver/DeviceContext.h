// DeviceContext: the context that a device's work happens in, its stream of transfers, and the code in it that nobody
// needs any more.

#pragma once

#include "backends/nvidia/driver/Driver.h"

#include <memory>
#include <mutex>
#include <vector>

namespace jitk::nvidia {

/// Code as the driver loaded it; one of the two is set.
struct LoadedCode {
  api::CUlibrary library = nullptr;
  api::CUmodule module = nullptr;
};

/// The device's primary context, which is held while anything needs it, or one that the engine made, which outlives
/// this. Thread-safe.
///
/// Code whose last reference is gone may still be running. It is unloaded once all that was enqueued in the context
/// before has finished, which an event of the whole context tells without waiting. A driver that has no such events
/// (before CUDA 12.5) is waited for.
class DeviceContext {
public:
  static Result<std::shared_ptr<DeviceContext>> retainPrimary(std::shared_ptr<const Driver> driver,
                                                              api::CUdevice device);
  /// Fails with InvalidArgument if `context` is of another device.
  static Result<std::shared_ptr<DeviceContext>> borrow(std::shared_ptr<const Driver> driver, api::CUdevice device,
                                                       api::CUcontext context);
  DeviceContext(std::shared_ptr<const Driver> driver, api::CUdevice device, api::CUcontext context, bool isPrimary)
      : driver_(std::move(driver)), device_(device), context_(context), isPrimary_(isPrimary) {}
  DeviceContext(const DeviceContext &) = delete;
  DeviceContext &operator=(const DeviceContext &) = delete;
  ~DeviceContext();

  const Driver &driver() const { return *driver_; }
  api::CUcontext handle() const { return context_; }

  /// The stream of copies and fills, made at the first of them; the context is current, and captures are relaxed. As
  /// all streams by default it goes on behind what the default stream was given before, so that results of launches in
  /// that one can be read; no other stream is waited for. The default stream itself may not be used while another
  /// thread captures one that waits for it.
  Result<api::CUstream> transfers();

  /// Unloads `code`: now if it was never `used`, else when it can.
  void retire(LoadedCode code, bool used);
  /// Unloads what has finished.
  void collect();

private:
  struct Retired {
    LoadedCode code;
    api::CUevent event = nullptr; ///< null where it could not be recorded yet, as under capture
  };

  void unload(const LoadedCode &code) const;
  bool record(Retired &retired) const;
  bool finished(Retired &retired) const;

  const std::shared_ptr<const Driver> driver_;
  const api::CUdevice device_;
  const api::CUcontext context_;
  const bool isPrimary_; ///< and so retained
  std::mutex mutex_;
  std::vector<Retired> retired_;      ///< guarded by mutex_
  api::CUstream transfers_ = nullptr; ///< guarded by mutex_; null until it is needed
};

} // namespace jitk::nvidia
