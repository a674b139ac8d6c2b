// Makes a context the thread's current one for a while.

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

  /// Whether it could be made current.
  Status status() const { return driver_.check(result_, "cuCtxPushCurrent"); }

private:
  const Driver &driver_;
  api::CUresult result_ = api::CUDA_SUCCESS;
  bool pushed_ = false;
};

} // namespace jitk::nvidia
