/* A client that was compiled when the library was younger: its structs are shorter, and it knows fewer functions. */

#include "../capi/check.h"

#define GUARD 0xA5

/* An output struct with bytes behind it that nobody may touch. */
typedef struct guarded_info_t {
  jitk_kernel_info_t info;
  unsigned char guard[64];
} guarded_info_t;

static void on_progress(void *user, const jitk_progress_t *progress) {
  int *records = user;
  *records += progress->struct_size >= sizeof *progress && progress->info->struct_size >= sizeof *progress->info &&
              progress->status == JITK_STATUS_OK && progress->done == 1 && progress->total == 1 &&
              progress->info->registers == 32;
}

static void check_info(jitk_kernel_t kernel) {
  jitk_error_t error = NULL;
  guarded_info_t guarded;
  size_t i;
  memset(&guarded, GUARD, sizeof guarded);
  guarded.info.struct_size = sizeof guarded.info;
  CHECK_OK(jitk_kernel_info(kernel, &guarded.info, &error));
  CHECK(guarded.info.struct_size == sizeof guarded.info);
  CHECK(guarded.info.registers == 32 && guarded.info.assemble_ms == 4);
  for (i = 0; i < sizeof guarded.guard; ++i) {
    CHECK(guarded.guard[i] == GUARD);
  }
}

static void check_launch(jitk_device_t device, jitk_kernel_t kernel) {
  jitk_error_t error = NULL;
  jitk_launch_t launch = {.struct_size = sizeof launch};
  uint64_t memory = 0, tensors[3];
  int64_t rows = 100;
  CHECK_OK(jitk_device_allocate(device, 4096, &memory, &error));
  tensors[0] = memory;
  tensors[1] = memory + 1024;
  tensors[2] = memory + 2048;
  launch.tensors = tensors;
  launch.num_tensors = 3;
  launch.dimensions = &rows;
  launch.num_dimensions = 1;
  CHECK_OK(jitk_kernel_launch(kernel, &launch, &error));
  CHECK_OK(jitk_device_synchronize(device, &error));
  CHECK_OK(jitk_device_free(device, memory, &error));
}

int main(void) {
  jitk_error_t error = NULL;
  jitk_runtime_t runtime = stub_runtime("");
  jitk_device_options_t device_options = {.struct_size = sizeof device_options, .emulator_seed = 3};
  jitk_prepare_options_t prepare = {.struct_size = sizeof prepare};
  jitk_device_t device = NULL;
  jitk_description_t description = NULL;
  jitk_plan_t plan = NULL;
  jitk_kernel_t kernel = NULL;
  int records = 0;
  CHECK_OK(jitk_device_open(runtime, "emulator:sm_90a", &device_options, &device, &error));
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
  check_info(kernel);
  check_launch(device, kernel);
  jitk_kernel_release(kernel);
  jitk_plan_release(plan);
  jitk_description_release(description);
  jitk_device_release(device);
  jitk_runtime_release(runtime);
  return finish();
}
