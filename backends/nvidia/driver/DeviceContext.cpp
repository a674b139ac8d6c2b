#include "backends/nvidia/driver/DeviceContext.h"

#include "backends/nvidia/driver/CurrentContext.h"

namespace jitk::nvidia {

using namespace api;

Result<std::shared_ptr<DeviceContext>> DeviceContext::retainPrimary(std::shared_ptr<const Driver> driver,
                                                                    CUdevice device) {
  CUcontext context = nullptr;
  JITK_TRY(driver->check((*driver)->primaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain"));
  return std::make_shared<DeviceContext>(std::move(driver), device, context, /*isPrimary=*/true);
}

Result<std::shared_ptr<DeviceContext>> DeviceContext::borrow(std::shared_ptr<const Driver> driver, CUdevice device,
                                                             CUcontext context) {
  CurrentContext current(*driver, context);
  JITK_TRY(current.status());
  CUdevice found = 0;
  JITK_TRY(driver->check((*driver)->ctxGetDevice(&found), "cuCtxGetDevice"));
  if (found != device) {
    return invalidArgument("context must be of the device " + std::to_string(device) + ": got one of the device " +
                           std::to_string(found));
  }
  return std::make_shared<DeviceContext>(std::move(driver), device, context, /*isPrimary=*/false);
}

Result<CUstream> DeviceContext::transfers() {
  std::lock_guard lock(mutex_);
  if (!transfers_) {
    JITK_TRY(driver().check(driver()->streamCreate(&transfers_, CU_STREAM_DEFAULT), "cuStreamCreate"));
  }
  return transfers_;
}

DeviceContext::~DeviceContext() {
  if (transfers_) {
    // A context that is gone has taken its streams along.
    if (CurrentContext current(driver(), context_); current.status().ok()) {
      (void)driver()->streamDestroy(transfers_);
    }
  }
  if (!retired_.empty()) {
    CurrentContext current(driver(), context_);
    (void)driver()->ctxSynchronize();
    for (const Retired &retired : retired_) {
      if (retired.event) {
        (void)driver()->eventDestroy(retired.event);
      }
      unload(retired.code);
    }
  }
  if (isPrimary_) {
    (void)driver()->primaryCtxRelease(device_);
  }
}

// Nobody is left to tell of a failure: at the end of a process the driver may be gone already.
void DeviceContext::unload(const LoadedCode &code) const {
  if (code.library) {
    (void)driver()->libraryUnload(code.library);
  }
  if (code.module) {
    (void)driver()->moduleUnload(code.module);
  }
}

/// Marks the place in the context's work after which the code can go. False if that cannot be done now.
bool DeviceContext::record(Retired &retired) const {
  if (!driver()->ctxRecordEvent) {
    return false;
  }
  CUevent event = nullptr;
  if (driver()->eventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    return false;
  }
  if (driver()->ctxRecordEvent(context_, event) != CUDA_SUCCESS) {
    (void)driver()->eventDestroy(event);
    return false;
  }
  retired.event = event;
  return true;
}

bool DeviceContext::finished(Retired &retired) const {
  if (!driver()->ctxRecordEvent) {
    return driver()->ctxSynchronize() == CUDA_SUCCESS;
  }
  if (!retired.event && !record(retired)) {
    return false;
  }
  // In a context that is lost nothing runs any more; any other failure says nothing of the code.
  CUresult result = driver()->eventQuery(retired.event);
  if (result != CUDA_SUCCESS && statusCodeOf(result) != StatusCode::DeviceLost) {
    return false;
  }
  (void)driver()->eventDestroy(retired.event);
  return true;
}

void DeviceContext::retire(LoadedCode code, bool used) {
  CurrentContext current(driver(), context_);
  RelaxedCapture relaxed(driver());
  if (!used) {
    unload(code);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    retired_.push_back({code});
    (void)record(retired_.back());
  }
  collect();
}

void DeviceContext::collect() {
  std::lock_guard lock(mutex_);
  if (retired_.empty()) {
    return;
  }
  CurrentContext current(driver(), context_);
  RelaxedCapture relaxed(driver());
  std::erase_if(retired_, [&](Retired &retired) {
    bool done = finished(retired);
    if (done) {
      unload(retired.code);
    }
    return done;
  });
}

} // namespace jitk::nvidia
