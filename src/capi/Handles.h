// What the handles of jitk.h point to.

#pragma once

#include "jitk/jitk.h"
#include "src/runtime/Plan.h"
#include "src/runtime/ProcessGeneration.h"
#include "src/runtime/Runtime.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace jitk::capi {

/// A count of references, for the structs below.
struct Counted {
  std::atomic<uint32_t> references = 1;
};

template <typename T> void retain(T *handle) noexcept {
  if (handle) {
    handle->references.fetch_add(1, std::memory_order_relaxed);
  }
}

template <typename T> void release(T *handle) noexcept {
  if (handle && handle->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete handle;
  }
}

/// For handles that hold threads or the driver: a child after fork leaves them alone.
template <typename T> void releaseInOwnProcess(T *handle) noexcept {
  if (handle && handle->generation == processGeneration()) {
    release(handle);
  }
}

/// Forked if the handle was made before the fork.
template <typename T> Status checkProcess(const T *handle) {
  if (handle->generation != processGeneration()) {
    return Status(StatusCode::Forked, "called in a child after fork: create the runtime in the process that uses it")
        .atStage("runtime");
  }
  return okStatus();
}

} // namespace jitk::capi

struct jitk_error_s : jitk::capi::Counted {
  jitk_status_t code;
  std::string message, stage, toolOutput, key;
};

struct jitk_text_s {
  std::string text;
};

struct jitk_description_s : jitk::capi::Counted {
  std::shared_ptr<const jitk::Problem> problem;
};

struct jitk_runtime_s : jitk::capi::Counted {
  std::shared_ptr<jitk::Runtime> runtime;
  uint32_t generation = jitk::processGeneration();
  std::mutex mutex;
  /// GPUs by name and the engine's context; guarded by mutex
  std::map<std::pair<std::string, void *>, std::weak_ptr<jitk::Device>> devices;
};

struct jitk_device_s : jitk::capi::Counted {
  std::shared_ptr<jitk::Runtime> runtime;
  std::shared_ptr<jitk::Device> device;
  uint32_t generation = jitk::processGeneration();
  std::string name, target;
};

struct jitk_kernel_s : jitk::capi::Counted {
  jitk_kernel_s(std::shared_ptr<jitk::Runtime> owner, jitk::Served of)
      : plain(of.kernel ? of.kernel->plain() : jitk::PlainLaunch::none()), runtime(std::move(owner)),
        served(std::move(of)) {}
  /// The kernel that a launch runs now.
  const jitk::Kernel &current() const { return served.standIn ? served.standIn->current() : *served.kernel; }

  // A launch reads these, from the cache line of the count.
  const uint32_t generation = jitk::processGeneration();
  const jitk::PlainLaunch &plain; ///< of what is served, if that is a kernel
  const std::shared_ptr<jitk::Runtime> runtime;
  const jitk::Served served;
};

struct jitk_plan_s : jitk::capi::Counted {
  jitk_plan_s(std::shared_ptr<jitk::Runtime> owner, jitk::PlanOptions options)
      : runtime(owner), plan(std::move(owner), options) {}
  std::shared_ptr<jitk::Runtime> runtime;
  uint32_t generation = jitk::processGeneration();
  jitk::Plan plan;
};

struct jitk_dispatch_s : jitk::capi::Counted {
  jitk_dispatch_s(jitk::Dispatch of, size_t count) : dispatch(std::move(of)), numKeys(count) {}
  ~jitk_dispatch_s() {
    for (jitk_kernel_s *kernel : kernels) {
      jitk::capi::release(kernel);
    }
  }
  jitk::Dispatch dispatch;
  size_t numKeys;
  uint32_t generation = jitk::processGeneration();
  std::vector<jitk_kernel_s *> kernels; ///< one a kernel of the dispatch
};

struct jitk_artifact_s : jitk::capi::Counted {
  std::shared_ptr<const jitk::Problem> problem;
  std::string target, key, recipe;
  std::string code; ///< taken out of `kernel`, for the zero at its end
  jitk::CompiledKernel kernel;
  jitk::Tier tier = jitk::Tier::Compiled;
  double milliseconds = 0;
};
