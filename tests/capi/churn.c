/*
 * Shape after shape through a plan that keeps 256 kernels, on the fake driver: what the device holds stays bounded, and
 * so does what the process does. The argument is how many.
 */

#include "check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

enum { cap = 256 };

/* Kilobytes of this process in memory. */
static long resident(void) {
  long pages = 0, all = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file) {
    if (fscanf(file, "%ld %ld", &all, &pages) != 2) {
      pages = 0;
    }
    fclose(file);
  }
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void serve(jitk_plan_t plan, jitk_device_t device, int n) {
  const uint64_t tensors[] = {0x1000, 0x2000, 0x3000};
  const int64_t rows = 64;
  jitk_launch_t launch = {.struct_size = sizeof launch, .tensors = tensors, .num_tensors = 3};
  jitk_description_t description = NULL;
  jitk_kernel_t kernel = NULL;
  jitk_error_t error = NULL;
  char text[64];
  launch.dimensions = &rows;
  launch.num_dimensions = 1;
  snprintf(text, sizeof text, "matmul m=* n=%d k=64", n);
  CHECK_OK(jitk_description_parse(text, &description, &error));
  CHECK_OK(jitk_plan_kernel(plan, device, description, &kernel, &error));
  CHECK_OK(jitk_kernel_launch(kernel, &launch, &error));
  jitk_kernel_release(kernel);
  jitk_description_release(description);
}

int main(int argc, char **argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 3000;
  jitk_error_t error = NULL;
  jitk_runtime_options_t options = {.struct_size = sizeof options};
  jitk_plan_options_t plan_options = {.struct_size = sizeof plan_options, .max_missed_kernels = cap};
  jitk_runtime_t runtime = NULL;
  jitk_device_t device = NULL;
  jitk_plan_t plan = NULL;
  void *fake = dlopen(JITK_FAKE_CUDA, RTLD_NOW);
  void (*remember)(int) = NULL;
  int (*modules)(void) = NULL;
  long before, after;
  int i;

  CHECK(fake != NULL);
  *(void **)&remember = dlsym(fake, "fake_cuda_remember");
  *(void **)&modules = dlsym(fake, "fake_cuda_most_modules");
  remember(0);
  CHECK(setenv("JITK_DRIVER_LIBRARY", JITK_FAKE_CUDA, 1) == 0);
  options.store_path = "";
  options.memory_bytes = 1 << 20;
  options.compiler_library = JITK_STUB_COMPILER;
  CHECK_OK(jitk_runtime_create(&options, &runtime, &error));
  CHECK_OK(jitk_device_open(runtime, "cuda:0", NULL, &device, &error));
  CHECK_OK(jitk_plan_create_with_options(runtime, &plan_options, &plan, &error));
  for (i = 0; i < count / 3; ++i) {
    serve(plan, device, 100 + i);
  }
  before = resident();
  for (; i < count; ++i) {
    serve(plan, device, 100 + i);
  }
  after = resident();
  CHECK(before > 0);
  printf("%d kernels, at most %d loaded, %ld KiB resident, then %ld KiB\n", count, modules(), before, after);
  CHECK(modules() <= cap + 1);
  CHECK(after - before <= before / 20 + 256);
  jitk_plan_release(plan);
  jitk_device_release(device);
  jitk_runtime_release(runtime);
  return finish();
}
