/* A client of today with a library as it was when the frozen header was: what it sets that the library does not know is
 * refused, what it leaves at its default does not matter, outputs are filled as far as the library knows them, and
 * newer functions are not there. */

#include "../capi/check.h"

/* How a client asks whether a newer function is there. */
#pragma weak jitk_kernel_scalar_type
#pragma weak jitk_kernel_launch_dlpack
#pragma weak jitk_runtime_counters

/* The failure names the struct and where the field begins that is not known. */
#define CHECK_REFUSED(call, name, type, field)                                                                         \
  do {                                                                                                                 \
    char wanted[256];                                                                                                  \
    snprintf(wanted, sizeof wanted,                                                                                    \
             "%s sets a field that this library does not know, at byte %zu: got struct_size %zu", name,                \
             offsetof(type, field), sizeof(type));                                                                     \
    CHECK_INVALID(call, wanted);                                                                                       \
  } while (0)

static jitk_runtime_t check_runtime(void) {
  jitk_runtime_options_t options = {.struct_size = sizeof options, .store_path = "", .jobs = 2};
  jitk_error_t error = NULL;
  jitk_runtime_t runtime = NULL;
  options.compiler_library = JITK_STUB_COMPILER;
  options.host_jobs = 3;
  CHECK_REFUSED(jitk_runtime_create(&options, &runtime, &error), "options", jitk_runtime_options_t, host_jobs);
  CHECK(runtime == NULL);
  options.host_jobs = 0;
  options.isolate_compiler = 1;
  CHECK_REFUSED(jitk_runtime_create(&options, &runtime, &error), "options", jitk_runtime_options_t, isolate_compiler);
  options.isolate_compiler = 0;
  CHECK_OK(jitk_runtime_create(&options, &runtime, &error));
  return runtime;
}

static jitk_device_t check_device(jitk_runtime_t runtime) {
  jitk_device_options_t options = {.struct_size = sizeof options, .emulator_seed = 3};
  jitk_error_t error = NULL;
  jitk_device_t device = NULL;
  unsigned char context[2] = {0};
  /* A pointer whose lowest byte is not zero, so that the message names where the field begins. */
  options.cuda_context = (uintptr_t)context % 256 == 0 ? context + 1 : context;
  CHECK_REFUSED(jitk_device_open(runtime, "emulator:sm_90a", &options, &device, &error), "options",
                jitk_device_options_t, cuda_context);
  options.cuda_context = NULL;
  CHECK_OK(jitk_device_open(runtime, "emulator:sm_90a", &options, &device, &error));
  return device;
}

/* A client looks at a field of an output only if `struct_size` reaches it. */
static void on_progress(void *user, const jitk_progress_t *progress) {
  int *records = user;
  size_t reached = progress->info->struct_size;
  *records += progress->status == JITK_STATUS_OK && progress->info->registers == 32 &&
              reached == offsetof(jitk_kernel_info_t, load_ms) + sizeof(double);
}

static void check_kernel(jitk_device_t device, jitk_kernel_t kernel) {
  jitk_error_t error = NULL;
  jitk_kernel_info_t info;
  jitk_launch_t launch = {.struct_size = sizeof launch};
  jitk_scalar_t scalar = {JITK_SCALAR_FLOAT, {1.0}};
  uint64_t memory = 0, tensors[3];
  int64_t rows = 100;
  memset(&info, 0xA5, sizeof info);
  info.struct_size = sizeof info;
  CHECK_OK(jitk_kernel_info(kernel, &info, &error));
  CHECK(info.registers == 32 && info.assemble_ms == 4 && info.stands_in == 0xA5A5A5A5u);
  CHECK_OK(jitk_device_allocate(device, 4096, &memory, &error));
  tensors[0] = memory;
  tensors[1] = memory + 1024;
  tensors[2] = memory + 2048;
  launch.tensors = tensors;
  launch.num_tensors = 3;
  launch.dimensions = &rows;
  launch.num_dimensions = 1;
  CHECK_OK(jitk_kernel_launch(kernel, &launch, &error));
  launch.num_typed_scalars = 1;
  CHECK_REFUSED(jitk_kernel_launch(kernel, &launch, &error), "launch", jitk_launch_t, num_typed_scalars);
  launch.typed_scalars = &scalar;
  CHECK(jitk_kernel_launch(kernel, &launch, NULL) == JITK_STATUS_INVALID_ARGUMENT);
  CHECK_OK(jitk_device_synchronize(device, &error));
  CHECK_OK(jitk_device_free(device, memory, &error));
}

int main(void) {
  jitk_error_t error = NULL;
  jitk_runtime_t runtime = check_runtime();
  jitk_device_t device = check_device(runtime);
  jitk_prepare_options_t prepare = {.struct_size = sizeof prepare};
  jitk_description_t description = NULL;
  jitk_plan_t plan = NULL;
  jitk_kernel_t kernel = NULL;
  int records = 0;
  CHECK(!jitk_kernel_scalar_type && !jitk_kernel_launch_dlpack && !jitk_runtime_counters);
  CHECK_OK(jitk_description_parse("matmul m=*<=512 n=64 k=64", &description, &error));
  CHECK_OK(jitk_plan_create(runtime, &plan, &error));
  CHECK_OK(jitk_plan_add(plan, description, 0, &error));
  prepare.device = device;
  prepare.progress = on_progress;
  prepare.progress_user = &records;
  CHECK_OK(jitk_plan_prepare(plan, &prepare, &error));
  CHECK_OK(jitk_plan_wait(plan, UINT32_MAX, &error));
  CHECK(records == 1);
  CHECK_OK(jitk_plan_seal(plan, &error));
  CHECK_OK(jitk_plan_kernel(plan, device, description, &kernel, &error));
  check_kernel(device, kernel);
  jitk_kernel_release(kernel);
  jitk_plan_release(plan);
  jitk_description_release(description);
  jitk_device_release(device);
  jitk_runtime_release(runtime);
  return finish();
}
