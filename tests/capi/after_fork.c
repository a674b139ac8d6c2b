/* A child after fork is told so, at once, and may begin anew; whatever the workers were at when it was made. */

#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
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

typedef struct busy_t {
  jitk_runtime_t runtime;
  jitk_device_t device;
  int stop; /* guarded by mutex */
  pthread_mutex_t mutex;
} busy_t;

/* Prepares plan after plan, so that forks meet workers, the log, the memory store and the allocator at work. */
static void *prepare_on(void *user) {
  busy_t *busy = user;
  int round, stop = 0;
  for (round = 0; !stop; ++round) {
    jitk_prepare_options_t options = {.struct_size = sizeof options, .device = busy->device};
    jitk_plan_t plan = NULL;
    int i;
    jitk_plan_create(busy->runtime, &plan, NULL);
    for (i = 0; i < 8; ++i) {
      jitk_description_t description = NULL;
      char text[64];
      snprintf(text, sizeof text, "matmul m=* n=%d k=64", 64 + 8 * round + i);
      jitk_description_parse(text, &description, NULL);
      jitk_plan_add(plan, description, 0, NULL);
      jitk_description_release(description);
    }
    jitk_plan_prepare(plan, &options, NULL);
    jitk_plan_wait(plan, UINT32_MAX, NULL);
    jitk_plan_release(plan);
    pthread_mutex_lock(&busy->mutex);
    stop = busy->stop;
    pthread_mutex_unlock(&busy->mutex);
  }
  return NULL;
}

static double milliseconds_since(const struct timespec *begin) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)(now.tv_sec - begin->tv_sec) + 1e-6 * (double)(now.tv_nsec - begin->tv_nsec);
}

/* Forks at many moments; each child is refused at once and exits with how it went: 0 good, 1 wrong, 2 slow. */
static void check_busy_forks(jitk_runtime_t runtime, jitk_device_t device, int count) {
  busy_t busy = {.runtime = runtime, .device = device, .stop = 0};
  pthread_t thread;
  int i, num_wrong = 0, num_slow = 0;
  pthread_mutex_init(&busy.mutex, NULL);
  CHECK(pthread_create(&thread, NULL, prepare_on, &busy) == 0);
  for (i = 0; i < count; ++i) {
    struct timespec pause = {0, 137000L * (i % 17)};
    int status = -1;
    pid_t child;
    nanosleep(&pause, NULL);
    child = fork();
    if (child == 0) {
      struct timespec begin;
      jitk_plan_t plan = NULL;
      jitk_status_t answer;
      double elapsed;
      alarm(20);
      clock_gettime(CLOCK_MONOTONIC, &begin);
      answer = jitk_plan_create(runtime, &plan, NULL);
      elapsed = milliseconds_since(&begin);
      _exit(answer != JITK_STATUS_FORKED ? 1 : elapsed > 1 ? 2 : 0);
    }
    waitpid(child, &status, 0);
    num_slow += WIFEXITED(status) && WEXITSTATUS(status) == 2;
    num_wrong += !WIFEXITED(status) || WEXITSTATUS(status) == 1;
  }
  pthread_mutex_lock(&busy.mutex);
  busy.stop = 1;
  pthread_mutex_unlock(&busy.mutex);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(num_wrong == 0);
  /* A busy machine may take the processor away from a few. */
  CHECK(num_slow <= count / 10);
}

int main(int argc, char **argv) {
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
  check_busy_forks(runtime, device, argc > 1 ? atoi(argv[1]) : 100);
  jitk_kernel_release(kernel);
  jitk_device_release(device);
  jitk_runtime_release(runtime);
  jitk_description_release(description);
  return finish();
}
