/* A client whose header is newer than the library: every struct that it passes is longer. What the library does not
 * know must be zero, and an output is filled as far as the library knows it. */

#include "../capi/check.h"

/* Each struct as a later version may have it. */
#define LATER(type)                                                                                                    \
  struct {                                                                                                             \
    type known;                                                                                                        \
    uint64_t later[4];                                                                                                 \
  }

static const char *const kTail = " sets a field that this library does not know, at byte ";

/* The failure names the struct and the first byte that is not known. */
static void check_refused(jitk_status_t status, jitk_error_t *error, const char *name, size_t known) {
  char wanted[256];
  snprintf(wanted, sizeof wanted, "%s%s%zu: got struct_size %zu", name, kTail, known + 8, known + 32);
  check_failure(status, error, JITK_STATUS_INVALID_ARGUMENT, wanted, __FILE__, __LINE__);
}

static jitk_runtime_t check_runtime(void) {
  LATER(jitk_runtime_options_t) options;
  jitk_error_t error = NULL;
  jitk_runtime_t runtime = NULL;
  memset(&options, 0, sizeof options);
  options.known.struct_size = sizeof options;
  options.known.store_path = "";
  options.known.compiler_library = JITK_STUB_COMPILER;
  options.later[1] = 1;
  check_refused(jitk_runtime_create(&options.known, &runtime, &error), &error, "options", sizeof options.known);
  CHECK(runtime == NULL);
  options.later[1] = 0;
  CHECK_OK(jitk_runtime_create(&options.known, &runtime, &error));
  return runtime;
}

static jitk_device_t check_device(jitk_runtime_t runtime) {
  LATER(jitk_device_options_t) options;
  jitk_error_t error = NULL;
  jitk_device_t device = NULL;
  memset(&options, 0, sizeof options);
  options.known.struct_size = sizeof options;
  options.later[1] = 1;
  check_refused(jitk_device_open(runtime, "emulator:sm_90a", &options.known, &device, &error), &error, "options",
                sizeof options.known);
  options.later[1] = 0;
  CHECK_OK(jitk_device_open(runtime, "emulator:sm_90a", &options.known, &device, &error));
  return device;
}

static jitk_plan_t check_plan(jitk_runtime_t runtime, jitk_device_t device, jitk_description_t description) {
  LATER(jitk_plan_options_t) options;
  LATER(jitk_prepare_options_t) prepare;
  jitk_error_t error = NULL;
  jitk_plan_t plan = NULL;
  memset(&options, 0, sizeof options);
  memset(&prepare, 0, sizeof prepare);
  options.known.struct_size = sizeof options;
  options.later[1] = 1;
  check_refused(jitk_plan_create_with_options(runtime, &options.known, &plan, &error), &error, "options",
                sizeof options.known);
  options.later[1] = 0;
  CHECK_OK(jitk_plan_create_with_options(runtime, &options.known, &plan, &error));
  CHECK_OK(jitk_plan_add(plan, description, 0, &error));
  prepare.known.struct_size = sizeof prepare;
  prepare.known.device = device;
  prepare.later[1] = 1;
  check_refused(jitk_plan_prepare(plan, &prepare.known, &error), &error, "options", sizeof prepare.known);
  prepare.later[1] = 0;
  CHECK_OK(jitk_plan_prepare(plan, &prepare.known, &error));
  CHECK_OK(jitk_plan_wait(plan, UINT32_MAX, &error));
  return plan;
}

static void check_kernel(jitk_kernel_t kernel) {
  LATER(jitk_kernel_info_t) info;
  LATER(jitk_launch_t) launch;
  jitk_error_t error = NULL;
  int64_t rows = 0;
  memset(&info, 0xA5, sizeof info);
  info.known.struct_size = sizeof info;
  CHECK_OK(jitk_kernel_info(kernel, &info.known, &error));
  CHECK(info.known.struct_size == sizeof info && info.known.registers == 32);
  CHECK(info.later[0] == 0xA5A5A5A5A5A5A5A5u && info.later[3] == 0xA5A5A5A5A5A5A5A5u);
  memset(&launch, 0, sizeof launch);
  launch.known.struct_size = sizeof launch;
  launch.known.dimensions = &rows;
  launch.known.num_dimensions = 1;
  launch.later[1] = 1;
  check_refused(jitk_kernel_launch(kernel, &launch.known, &error), &error, "launch", sizeof launch.known);
  launch.later[1] = 0;
  CHECK_OK(jitk_kernel_launch(kernel, &launch.known, &error)); /* of no rows */
}

static void check_counters(jitk_runtime_t runtime) {
  LATER(jitk_counters_t) counters;
  jitk_error_t error = NULL;
  memset(&counters, 0xA5, sizeof counters);
  counters.known.struct_size = sizeof counters;
  CHECK_OK(jitk_runtime_counters(runtime, &counters.known, &error));
  CHECK(counters.known.compilations == 1 && counters.later[0] == 0xA5A5A5A5A5A5A5A5u);
}

int main(void) {
  jitk_error_t error = NULL;
  jitk_runtime_t runtime = check_runtime();
  jitk_device_t device = check_device(runtime);
  jitk_description_t description = NULL;
  jitk_kernel_t kernel = NULL;
  jitk_plan_t plan;
  CHECK_OK(jitk_description_parse("matmul m=*<=512 n=64 k=64", &description, &error));
  plan = check_plan(runtime, device, description);
  CHECK_OK(jitk_plan_kernel(plan, device, description, &kernel, &error));
  check_kernel(kernel);
  check_counters(runtime);
  jitk_kernel_release(kernel);
  jitk_plan_release(plan);
  jitk_description_release(description);
  jitk_device_release(device);
  jitk_runtime_release(runtime);
  return finish();
}
