/* A child after fork is told so, at once, and may begin anew. */

#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static int in_child(jitk_runtime_t runtime, jitk_device_t device, jitk_kernel_t kernel) {
  jitk_error_t error = NULL;
  jitk_plan_t plan = NULL;
  jitk_launch_t launch = {.struct_size = sizeof launch};
  const char *message = "called in a child after fork: create the runtime in the process that uses it";
  num_failures = num_checks = 0;
  CHECK_FAILURE(jitk_plan_create(runtime, &plan, &error), JITK_STATUS_FORKED, message);
  CHECK_FAILURE(jitk_device_synchronize(device, &error), JITK_STATUS_FORKED, message);
  CHECK_FAILURE(jitk_kernel_launch(kernel, &launch, &error), JITK_STATUS_FORKED, message);
  jitk_kernel_release(kernel);
  jitk_device_release(device);
  jitk_runtime_release(runtime);

  runtime = stub_runtime("");
  CHECK_OK(jitk_plan_create(runtime, &plan, &error));
  jitk_plan_release(plan);
  jitk_runtime_release(runtime);
  fflush(stdout);
  return finish();
}

int main(void) {
  jitk_error_t error = NULL;
  jitk_runtime_t runtime = stub_runtime("");
  jitk_device_t device = NULL;
  jitk_kernel_t kernel = NULL;
  jitk_description_t description = NULL;
  int status = -1;
  pid_t child;
  CHECK_OK(jitk_description_parse("matmul m=1 n=64 k=64", &description, &error));
  CHECK_OK(jitk_device_open(runtime, "emulator:sm_90a", NULL, &device, &error));
  CHECK_OK(jitk_runtime_kernel(runtime, device, description, &kernel, &error));
  fflush(stdout);
  child = fork();
  if (child == 0) {
    _exit(in_child(runtime, device, kernel));
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  jitk_kernel_release(kernel);
  jitk_device_release(device);
  jitk_runtime_release(runtime);
  jitk_description_release(description);
  return finish();
}
