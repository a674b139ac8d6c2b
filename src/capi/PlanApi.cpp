#include "src/capi/Guard.h"
#include "src/capi/KernelInfo.h"
#include "src/runtime/PlanFile.h"
#include "src/support/ExitSection.h"

using namespace jitk;
using namespace jitk::capi;

/// Checks a plan's handle, then runs `body` on the plan behind the wall.
template <typename Body>
static jitk_status_t onPlan(jitk_plan_t plan, jitk_error_t *error, const std::string &key, Body &&body) {
  return guard(error, key, [&]() -> Status {
    JITK_TRY(require(plan, "plan"));
    JITK_TRY(checkProcess(plan));
    return body(plan->plan);
  });
}

template <typename Body> static jitk_status_t onPlan(jitk_plan_t plan, jitk_error_t *error, Body &&body) {
  return onPlan(plan, error, std::string(), std::forward<Body>(body));
}

/// Hands one progress record to the engine.
static void callBack(Runtime &runtime, jitk_progress_callback_t callback, void *user, const Progress &progress) {
  std::string target = progress.target.toString();
  std::string key = progress.entry ? progress.entry->key.name() : keyNameOf(runtime, progress.problem, progress.target);
  jitk_kernel_info_t info = {};
  info.struct_size = kKnownBytes<jitk_kernel_info_t>;
  if (progress.entry) {
    fillFromEntry(*progress.entry, info);
  }
  info.description = progress.problem.text.c_str();
  info.target = target.c_str();
  info.key = key.c_str();
  info.tier = static_cast<jitk_tier_t>(progress.tier);
  info.obtain_ms = progress.obtainMilliseconds;
  info.load_ms = progress.loadMilliseconds;

  jitk_error_t error = nullptr;
  if (!progress.status.ok()) {
    (void)report(progress.status.clone(), key, &error);
  }
  jitk_progress_t record = {};
  record.struct_size = kKnownBytes<jitk_progress_t>;
  record.done = progress.done;
  record.total = progress.total;
  record.status = static_cast<jitk_status_t>(progress.status.code());
  record.error = error;
  record.info = &info;
  if (ExitSection section; section.entered()) {
    callback(user, &record);
  }
  jitk_error_release(error);
}

static Status readOptions(const jitk_prepare_options_t *given, Runtime &runtime, PrepareOptions &options) {
  jitk_prepare_options_t read;
  JITK_TRY(readStruct(given, "options", read));
  if ((read.device != nullptr) == (read.target != nullptr)) {
    return invalidArgument("one of options.device and options.target must be given: got " +
                           std::string(read.device ? "both" : "neither"));
  }
  if (read.device) {
    options.device = read.device->device;
  } else {
    JITK_ASSIGN(options.target, Target::parse(read.target));
  }
  if (read.deadline_ms != 0) {
    options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(read.deadline_ms);
  }
  if (read.progress) {
    options.progress = [&runtime, callback = read.progress, user = read.progress_user](const Progress &progress) {
      callBack(runtime, callback, user, progress);
    };
  }
  return okStatus();
}

static_assert(JITK_MISS_BACKGROUND == static_cast<int>(MissPolicy::Background));
static_assert(JITK_MISS_FAIL == static_cast<int>(MissPolicy::Fail));

static Status readOptions(const jitk_plan_options_t *given, PlanOptions &options) {
  if (!given) {
    return okStatus();
  }
  jitk_plan_options_t read;
  JITK_TRY(readStruct(given, "options", read));
  if (read.on_miss < JITK_MISS_COMPILE || read.on_miss > JITK_MISS_FAIL) {
    return invalidArgument("options.on_miss must be between 0 and 2: got " + std::to_string(read.on_miss));
  }
  options.onMiss = static_cast<MissPolicy>(read.on_miss);
  options.maximalMisses = read.max_missed_kernels;
  return okStatus();
}

static std::optional<std::chrono::milliseconds> timeoutOf(uint32_t milliseconds) {
  return milliseconds == UINT32_MAX ? std::nullopt : std::optional(std::chrono::milliseconds(milliseconds));
}

extern "C" {

jitk_status_t jitk_plan_create(jitk_runtime_t runtime, jitk_plan_t *plan, jitk_error_t *error) {
  return jitk_plan_create_with_options(runtime, nullptr, plan, error);
}

jitk_status_t jitk_plan_create_with_options(jitk_runtime_t runtime, const jitk_plan_options_t *options,
                                            jitk_plan_t *plan, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(plan, "plan"));
    *plan = nullptr;
    JITK_TRY(require(runtime, "runtime"));
    JITK_TRY(checkProcess(runtime));
    PlanOptions read;
    JITK_TRY(readOptions(options, read));
    *plan = new jitk_plan_s(runtime->runtime, read);
    return okStatus();
  });
}

void jitk_plan_retain(jitk_plan_t plan) { retain(plan); }
void jitk_plan_release(jitk_plan_t plan) { releaseInOwnProcess(plan); }

jitk_status_t jitk_plan_add(jitk_plan_t plan, jitk_description_t description, int32_t priority, jitk_error_t *error) {
  return onPlan(plan, error, [&](Plan &to) -> Status {
    JITK_TRY(require(description, "description"));
    return to.add({{description->problem, priority}});
  });
}

jitk_status_t jitk_plan_add_json(jitk_plan_t plan, const char *text, jitk_error_t *error) {
  return onPlan(plan, error, [&](Plan &to) -> Status {
    JITK_TRY(require(text, "text"));
    JITK_ASSIGN(std::vector<Plan::Item> items, parsePlanFile(text));
    return to.add(std::move(items));
  });
}

jitk_status_t jitk_plan_to_json(jitk_plan_t plan, jitk_text_t *text, jitk_error_t *error) {
  if (text) {
    *text = nullptr;
  }
  return onPlan(plan, error, [&](Plan &of) -> Status {
    JITK_TRY(require(text, "text"));
    *text = new jitk_text_s{writePlanFile(of.items())};
    return okStatus();
  });
}

jitk_status_t jitk_plan_export(jitk_plan_t plan, const char *target, const char *path, jitk_error_t *error) {
  std::string key;
  return onPlan(plan, error, key, [&](Plan &of) -> Status {
    JITK_TRY(require(target, "target"));
    JITK_TRY(requireText(path, "path"));
    JITK_ASSIGN(Target parsed, Target::parse(target));
    std::vector<Entry> entries;
    for (const Plan::Item &item : of.items()) {
      Result<Obtained> obtained = plan->runtime->entries().obtain(*item.problem, parsed);
      if (!obtained.ok()) {
        key = keyNameOf(*plan->runtime, *item.problem, parsed);
        return std::move(obtained).takeStatus();
      }
      entries.push_back(*obtained->entry);
    }
    return Bundle::write(path, entries);
  });
}

size_t jitk_plan_size(jitk_plan_t plan) { return plan ? plan->plan.items().size() : 0; }

jitk_status_t jitk_plan_prepare(jitk_plan_t plan, const jitk_prepare_options_t *options, jitk_error_t *error) {
  return onPlan(plan, error, [&](Plan &of) -> Status {
    PrepareOptions read;
    JITK_TRY(readOptions(options, *plan->runtime, read));
    return of.prepare(std::move(read));
  });
}

jitk_status_t jitk_plan_wait(jitk_plan_t plan, uint32_t timeout_ms, jitk_error_t *error) {
  std::string key;
  return onPlan(plan, error, key, [&](Plan &of) { return of.wait(timeoutOf(timeout_ms), &key); });
}

jitk_status_t jitk_plan_wait_kernel(jitk_plan_t plan, jitk_description_t description, uint32_t timeout_ms,
                                    jitk_error_t *error) {
  std::string key;
  return onPlan(plan, error, key, [&](Plan &of) -> Status {
    JITK_TRY(require(description, "description"));
    return of.wait(*description->problem, timeoutOf(timeout_ms), &key);
  });
}

jitk_status_t jitk_plan_trace(jitk_plan_t plan, jitk_text_t *trace, jitk_error_t *error) {
  if (trace) {
    *trace = nullptr;
  }
  return onPlan(plan, error, [&](Plan &of) -> Status {
    JITK_TRY(require(trace, "trace"));
    JITK_ASSIGN(std::string text, of.trace());
    *trace = new jitk_text_s{std::move(text)};
    return okStatus();
  });
}

void jitk_plan_cancel(jitk_plan_t plan) {
  if (plan && plan->generation == processGeneration()) {
    plan->plan.cancel();
  }
}

jitk_status_t jitk_plan_seal(jitk_plan_t plan, jitk_error_t *error) {
  return onPlan(plan, error, [](Plan &of) { return of.seal(); });
}

jitk_status_t jitk_plan_kernel(jitk_plan_t plan, jitk_device_t device, jitk_description_t description,
                               jitk_kernel_t *kernel, jitk_error_t *error) {
  std::string key;
  return guard(error, key, [&]() -> Status {
    JITK_TRY(require(kernel, "kernel"));
    *kernel = nullptr;
    JITK_TRY(require(plan, "plan"));
    JITK_TRY(checkProcess(plan));
    JITK_TRY(require(device, "device"));
    JITK_TRY(require(description, "description"));
    return giveKernel(plan->plan.kernel(device->device, description->problem), plan->runtime, *device, *description,
                      kernel, key);
  });
}

} // extern "C"
