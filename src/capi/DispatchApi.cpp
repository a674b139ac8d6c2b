#include "src/capi/Guard.h"

using namespace jitk;
using namespace jitk::capi;

extern "C" {

jitk_status_t jitk_dispatch_create(jitk_plan_t plan, jitk_device_t device, jitk_description_t pattern,
                                   const char *const *dimensions, size_t count, jitk_dispatch_t *dispatch,
                                   jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(dispatch, "dispatch"));
    *dispatch = nullptr;
    JITK_TRY(require(plan, "plan"));
    JITK_TRY(checkProcess(plan));
    JITK_TRY(require(device, "device"));
    JITK_TRY(require(pattern, "pattern"));
    JITK_TRY(count == 0 ? okStatus() : require(dimensions, "dimensions"));
    std::vector<std::string> keys;
    for (size_t i = 0; i < count; ++i) {
      JITK_TRY(require(dimensions[i], "a name of dimensions"));
      keys.emplace_back(dimensions[i]);
    }
    JITK_ASSIGN(Dispatch made, plan->plan.dispatch(*device->device, *pattern->problem, keys));
    if (made.kernels().empty()) {
      return Status(StatusCode::NotPrepared, "plan has no kernel that is like " + pattern->problem->label)
          .atStage("plan");
    }
    auto handle = std::make_unique<jitk_dispatch_s>(std::move(made), count);
    for (const std::shared_ptr<const Kernel> &kernel : handle->dispatch.kernels()) {
      auto each = std::make_unique<jitk_kernel_s>(plan->runtime, Served{kernel, nullptr});
      handle->kernels.push_back(each.get());
      (void)each.release();
    }
    *dispatch = handle.release();
    return okStatus();
  });
}

void jitk_dispatch_retain(jitk_dispatch_t dispatch) { retain(dispatch); }
void jitk_dispatch_release(jitk_dispatch_t dispatch) { releaseInOwnProcess(dispatch); }

jitk_status_t jitk_dispatch_kernel(jitk_dispatch_t dispatch, const int64_t *sizes, size_t count, jitk_kernel_t *kernel,
                                   jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(kernel, "kernel"));
    *kernel = nullptr;
    JITK_TRY(require(dispatch, "dispatch"));
    JITK_TRY(checkProcess(dispatch));
    JITK_TRY(require(sizes, "sizes"));
    if (count != dispatch->numKeys) {
      return invalidArgument("number of sizes must be " + std::to_string(dispatch->numKeys) + ": got " +
                             std::to_string(count));
    }
    std::optional<size_t> found = dispatch->dispatch.find({sizes, count});
    if (!found) {
      return Status(StatusCode::NotPrepared, "plan has no kernel for these sizes").atStage("plan");
    }
    *kernel = dispatch->kernels[*found];
    return okStatus();
  });
}

} // extern "C"
