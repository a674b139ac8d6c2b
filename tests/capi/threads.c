/* All at once: threads that describe, look up, launch, fail and release, while plans are prepared. For TSan. */

#include "check.h"

#include <pthread.h>

enum { num_threads = 8, num_rounds = 200 };

typedef struct shared_t {
  jitk_runtime_t runtime;
  jitk_device_t device;
  jitk_plan_t sealed;
  jitk_description_t description;
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

static void *work(void *user) {
  job_t *job = user;
  int round;
  for (round = 0; round < num_rounds; ++round) {
    launch_once(job);
    if (job->number % 2 == 0) {
      fail_once(job);
    } else {
      prepare_once(job, round);
    }
  }
  return NULL;
}

int main(void) {
  jitk_error_t error = NULL;
  shared_t shared;
  job_t jobs[num_threads];
  int i;
  jitk_prepare_options_t options = {.struct_size = sizeof options};
  memset(&shared, 0, sizeof shared);
  shared.runtime = stub_runtime("");
  CHECK_OK(jitk_device_open(shared.runtime, "emulator:sm_90a", NULL, &shared.device, &error));
  CHECK_OK(jitk_description_parse("matmul m=* n=64 k=64", &shared.description, &error));
  CHECK_OK(jitk_plan_create(shared.runtime, &shared.sealed, &error));
  CHECK_OK(jitk_plan_add(shared.sealed, shared.description, 0, &error));
  options.device = shared.device;
  CHECK_OK(jitk_plan_prepare(shared.sealed, &options, &error));
  CHECK_OK(jitk_plan_seal(shared.sealed, &error));
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
  jitk_plan_release(shared.sealed);
  jitk_description_release(shared.description);
  jitk_device_release(shared.device);
  jitk_runtime_release(shared.runtime);
  return finish();
}
