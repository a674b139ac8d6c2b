/*
 * All at once: threads that describe, look up, launch, fail and release, while plans are prepared, some of them by
 * several threads at a time. For TSan. Arguments: how many threads, at most 64, and for how many seconds at least.
 */

#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { most_threads = 64, num_rounds = 200 };

typedef struct shared_t {
  jitk_runtime_t runtime;
  jitk_device_t device;
  jitk_plan_t sealed;
  jitk_plan_t open; /* all threads add to it, prepare it, wait for it and cancel it */
  jitk_description_t description;
  time_t end;
} shared_t;

/* What one thread saw go wrong; checks are counted on the main thread only. */
typedef struct job_t {
  const shared_t *shared;
  pthread_t thread;
  int number;
  int num_bad;
} job_t;

static void launch_once(job_t *job) {
  uint64_t tensors[3] = {0x1000, 0x2000, 0x3000};
  int64_t size = 64;
  jitk_kernel_t kernel = NULL;
  jitk_launch_t launch = {.struct_size = sizeof launch, .tensors = tensors, .num_tensors = 3, .dimensions = &size};
  launch.num_dimensions = 1;
  job->num_bad += jitk_plan_kernel(job->shared->sealed, job->shared->device, job->shared->description, &kernel, NULL) !=
                  JITK_STATUS_OK;
  job->num_bad += jitk_kernel_launch(kernel, &launch, NULL) != JITK_STATUS_OK;
  jitk_kernel_release(kernel);
}

static void fail_once(job_t *job) {
  jitk_error_t error = NULL;
  jitk_description_t description = NULL;
  job->num_bad += jitk_description_parse("nonsense", &description, &error) != JITK_STATUS_INVALID_ARGUMENT;
  job->num_bad += jitk_error_message(error)[0] == 0;
  jitk_error_release(error);
}

static void prepare_once(job_t *job, int round) {
  char text[64];
  jitk_plan_t plan = NULL;
  jitk_description_t description = NULL;
  jitk_prepare_options_t options = {.struct_size = sizeof options, .device = job->shared->device};
  snprintf(text, sizeof text, "matmul m=* n=%d k=64", 100 + round % 20);
  job->num_bad += jitk_description_parse(text, &description, NULL) != JITK_STATUS_OK;
  job->num_bad += jitk_plan_create(job->shared->runtime, &plan, NULL) != JITK_STATUS_OK;
  job->num_bad += jitk_plan_add(plan, description, 0, NULL) != JITK_STATUS_OK;
  job->num_bad += jitk_plan_prepare(plan, &options, NULL) != JITK_STATUS_OK;
  if (round % 3 == 0) {
    jitk_plan_cancel(plan);
  } else {
    job->num_bad += jitk_plan_seal(plan, NULL) != JITK_STATUS_OK;
  }
  jitk_plan_release(plan);
  jitk_description_release(description);
}

/* Nothing, or that another thread's preparation is under way, or was cancelled by it. */
static int is_bad(jitk_status_t status) {
  return status != JITK_STATUS_OK && status != JITK_STATUS_INVALID_ARGUMENT && status != JITK_STATUS_CANCELLED &&
         status != JITK_STATUS_DEADLINE_EXCEEDED;
}

static void share_once(job_t *job, int round) {
  char text[64];
  jitk_plan_t plan = job->shared->open;
  jitk_description_t description = NULL;
  jitk_kernel_t kernel = NULL;
  jitk_text_t trace = NULL;
  jitk_counters_t counters = {.struct_size = sizeof counters};
  jitk_prepare_options_t options = {.struct_size = sizeof options, .device = job->shared->device};
  snprintf(text, sizeof text, "matmul m=* n=%d k=128", 100 + (job->number + round) % 30);
  job->num_bad += jitk_description_parse(text, &description, NULL) != JITK_STATUS_OK;
  job->num_bad += is_bad(jitk_plan_add(plan, description, round % 3, NULL));
  job->num_bad += is_bad(jitk_plan_prepare(plan, &options, NULL));
  job->num_bad += is_bad(jitk_plan_wait_kernel(plan, description, 1, NULL));
  if (round % 7 == 0) {
    jitk_plan_cancel(plan);
  }
  job->num_bad += jitk_plan_kernel(plan, job->shared->device, description, &kernel, NULL) != JITK_STATUS_OK;
  jitk_kernel_release(kernel);
  job->num_bad += is_bad(jitk_plan_trace(plan, &trace, NULL));
  jitk_text_release(trace);
  job->num_bad += jitk_runtime_counters(job->shared->runtime, &counters, NULL) != JITK_STATUS_OK;
  job->num_bad += jitk_plan_size(plan) == 0;
  jitk_description_release(description);
}

static void *work(void *user) {
  job_t *job = user;
  int round;
  for (round = 0; round < num_rounds || time(NULL) < job->shared->end; ++round) {
    launch_once(job);
    share_once(job, round);
    if (job->number % 2 == 0) {
      fail_once(job);
    } else {
      prepare_once(job, round);
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  const int num_threads = argc > 1 ? atoi(argv[1]) : 8;
  jitk_error_t error = NULL;
  shared_t shared;
  job_t jobs[most_threads];
  int i;
  jitk_prepare_options_t options = {.struct_size = sizeof options};
  CHECK(num_threads > 0 && num_threads <= most_threads);
  memset(&shared, 0, sizeof shared);
  shared.end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 0);
  shared.runtime = stub_runtime("");
  CHECK_OK(jitk_device_open(shared.runtime, "emulator:sm_90a", NULL, &shared.device, &error));
  CHECK_OK(jitk_description_parse("matmul m=* n=64 k=64", &shared.description, &error));
  CHECK_OK(jitk_plan_create(shared.runtime, &shared.sealed, &error));
  CHECK_OK(jitk_plan_add(shared.sealed, shared.description, 0, &error));
  options.device = shared.device;
  CHECK_OK(jitk_plan_prepare(shared.sealed, &options, &error));
  CHECK_OK(jitk_plan_seal(shared.sealed, &error));
  CHECK_OK(jitk_plan_create(shared.runtime, &shared.open, &error));
  for (i = 0; i < num_threads; ++i) {
    jobs[i].shared = &shared;
    jobs[i].number = i;
    jobs[i].num_bad = 0;
    CHECK(pthread_create(&jobs[i].thread, NULL, work, &jobs[i]) == 0);
  }
  for (i = 0; i < num_threads; ++i) {
    CHECK(pthread_join(jobs[i].thread, NULL) == 0);
    CHECK(jobs[i].num_bad == 0);
  }
  jitk_plan_release(shared.open);
  jitk_plan_release(shared.sealed);
  jitk_description_release(shared.description);
  jitk_device_release(shared.device);
  jitk_runtime_release(shared.runtime);
  return finish();
}
