// What a thread's calls of the driver happen in, for a while: a context, and a mode of capture.

#pragma once

#include "backends/nvidia/driver/Driver.h"

namespace jitk::nvidia {

/// Leaves the thread's context stack as it found it. Where the context is current already, which is the engine's usual
/// case, it costs one query and touches no stack.
class CurrentContext {
public:
  CurrentContext(const Driver &driver, api::CUcontext context) : driver_(driver) {
    api::CUcontext current = nullptr;
    if (driver_->ctxGetCurrent(&current) == api::CUDA_SUCCESS && current == context) {
      return;
    }
    result_ = driver_->ctxPushCurrent(context);
    pushed_ = result_ == api::CUDA_SUCCESS;
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;
  ~CurrentContext() {
    if (pushed_) {
      api::CUcontext popped = nullptr;
      (void)driver_->ctxPopCurrent(&popped);
    }
  }

  /// Whether it was not current, and now is.
  bool pushed() const { return pushed_; }
  /// Whether it could be made current.
  Status status() const { return driver_.check(result_, "cuCtxPushCurrent"); }

private:
  const Driver &driver_;
  api::CUresult result_ = api::CUDA_SUCCESS;
  bool pushed_ = false;
};

/// Makes a call in the device's context.
template <typename Call> Status callWithin(const Driver &driver, api::CUcontext context, const char *name, Call call) {
  CurrentContext current(driver, context);
  JITK_TRY(current.status());
  return driver.check(call(), name);
}

/// Makes a call that does nothing where it is refused, and that works in most contexts, so that asking for the current
/// one would cost more than it saves: once as it is, and after a refusal once more in the device's context, if another
/// one was current.
template <typename Call>
Status callAnywhere(const Driver &driver, api::CUcontext context, const char *name, Call call) {
  api::CUresult result = call();
  if (result != api::CUDA_SUCCESS) [[unlikely]] {
    CurrentContext current(driver, context);
    JITK_TRY(current.status());
    return driver.check(current.pushed() ? call() : result, name);
  }
  return okStatus();
}

/// Lets the thread make calls that a capture forbids, such as loading code, while another thread captures a stream:
/// they neither fail nor spoil the capture, for they are no work of that stream.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver &driver) : driver_(driver) {
    (void)driver_->threadExchangeStreamCaptureMode(&mode_);
  }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;
  ~RelaxedCapture() { (void)driver_->threadExchangeStreamCaptureMode(&mode_); }

private:
  const Driver &driver_;
  api::CaptureMode mode_ = api::CU_STREAM_CAPTURE_MODE_RELAXED; ///< then the thread's own
};

} // namespace jitk::nvidia
