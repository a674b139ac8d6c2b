/* An engine hears of each compilation that no preparation asked for: once, with its key and its cause. */

#include "check.h"

#include <pthread.h>

#define TARGET "emulator:sm_90a"
enum { most_heard = 16, num_threads = 8 };

typedef struct heard_t {
  pthread_mutex_t mutex;
  size_t count;
  int num_bad;
  jitk_cause_t causes[most_heard];
  jitk_status_t statuses[most_heard];
  char keys[most_heard][80];
  char descriptions[most_heard][256];
  char targets[most_heard][32];
  double times[most_heard];
} heard_t;

static void on_late(void *user, const jitk_late_compilation_t *compilation) {
  heard_t *heard = user;
  size_t at;
  pthread_mutex_lock(&heard->mutex);
  at = heard->count++;
  heard->num_bad += compilation->struct_size != sizeof *compilation;
  if (at < most_heard) {
    heard->causes[at] = compilation->cause;
    heard->statuses[at] = compilation->status;
    heard->times[at] = compilation->compile_ms;
    snprintf(heard->keys[at], sizeof heard->keys[at], "%s", compilation->key);
    snprintf(heard->descriptions[at], sizeof heard->descriptions[at], "%s", compilation->description);
    snprintf(heard->targets[at], sizeof heard->targets[at], "%s", compilation->target);
  }
  pthread_mutex_unlock(&heard->mutex);
}

static jitk_runtime_t runtime;
static jitk_device_t device;
static heard_t heard = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static jitk_description_t describe(const char *text) {
  jitk_error_t error = NULL;
  jitk_description_t description = NULL;
  CHECK_OK(jitk_description_parse(text, &description, &error));
  return description;
}

static jitk_counters_t counters(void) {
  jitk_error_t error = NULL;
  jitk_counters_t now = {.struct_size = sizeof now};
  CHECK_OK(jitk_runtime_counters(runtime, &now, &error));
  return now;
}

/* One more was heard of since there were `before`, and it was this one. */
static void check_heard(size_t before, jitk_cause_t cause, jitk_status_t status, jitk_description_t description,
                        const char *target) {
  jitk_error_t error = NULL;
  jitk_text_t key = NULL;
  char quoted[96];
  CHECK(heard.count == before + 1);
  CHECK(heard.causes[before] == cause);
  CHECK(heard.statuses[before] == status);
  CHECK(heard.times[before] >= 0);
  CHECK_TEXT(heard.descriptions[before], jitk_description_text(description));
  CHECK_TEXT(heard.targets[before], target);
  CHECK_OK(jitk_runtime_key(runtime, description, target, &key, &error));
  snprintf(quoted, sizeof quoted, "\"key\": \"%s\"", heard.keys[before]);
  CHECK(strlen(heard.keys[before]) > 16 && strstr(jitk_text_data(key), quoted) != NULL);
  jitk_text_release(key);
}

static jitk_plan_t prepared_plan(jitk_miss_t on_miss, const char *text) {
  jitk_error_t error = NULL;
  jitk_plan_t plan = NULL;
  jitk_plan_options_t options = {.struct_size = sizeof options, .on_miss = on_miss};
  jitk_prepare_options_t prepare = {.struct_size = sizeof prepare};
  jitk_description_t description = describe(text);
  CHECK_OK(jitk_plan_create_with_options(runtime, &options, &plan, &error));
  CHECK_OK(jitk_plan_add(plan, description, 0, &error));
  prepare.device = device;
  CHECK_OK(jitk_plan_prepare(plan, &prepare, &error));
  CHECK_OK(jitk_plan_wait(plan, UINT32_MAX, &error));
  jitk_description_release(description);
  return plan;
}

static void check_requests(void) {
  jitk_error_t error = NULL;
  jitk_kernel_t kernel = NULL, again = NULL;
  jitk_artifact_t artifact = NULL;
  jitk_description_t description = describe("matmul m=* n=64 k=64"), bad = describe("matmul m=* n=13 k=64");
  size_t before = heard.count;
  CHECK_OK(jitk_runtime_kernel(runtime, device, description, &kernel, &error));
  check_heard(before, JITK_CAUSE_REQUESTED, JITK_STATUS_OK, description, TARGET);
  /* It is there now. */
  CHECK_OK(jitk_runtime_kernel(runtime, device, description, &again, &error));
  jitk_kernel_release(kernel);
  jitk_kernel_release(again);
  CHECK_OK(jitk_runtime_kernel(runtime, device, description, &kernel, &error));
  jitk_kernel_release(kernel);
  CHECK(heard.count == before + 1);

  CHECK_OK(jitk_runtime_compile(runtime, description, TARGET, &artifact, &error));
  check_heard(before + 1, JITK_CAUSE_REQUESTED, JITK_STATUS_OK, description, TARGET);
  jitk_artifact_release(artifact);

  CHECK(jitk_runtime_kernel(runtime, device, bad, &kernel, &error) == JITK_STATUS_UNSUPPORTED);
  check_heard(before + 2, JITK_CAUSE_REQUESTED, JITK_STATUS_UNSUPPORTED, bad, TARGET);
  jitk_error_release(error);
  jitk_description_release(description);
  jitk_description_release(bad);
}

typedef struct miss_t {
  pthread_t thread;
  jitk_plan_t plan;
  jitk_description_t description;
  int good;
} miss_t;

static void *ask(void *user) {
  miss_t *miss = user;
  jitk_kernel_t kernel = NULL;
  miss->good = jitk_plan_kernel(miss->plan, device, miss->description, &kernel, NULL) == JITK_STATUS_OK;
  jitk_kernel_release(kernel);
  return NULL;
}

static void check_misses(void) {
  jitk_error_t error = NULL;
  jitk_kernel_t kernel = NULL;
  miss_t misses[num_threads];
  size_t before = heard.count;
  jitk_plan_t plan = prepared_plan(JITK_MISS_COMPILE, "matmul m=* n=128 k=64");
  jitk_description_t description = describe("matmul m=* n=192 k=64"), other = describe("matmul m=* n=200 k=64");
  int i;
  CHECK(heard.count == before); /* that was a preparation */
  for (i = 0; i < num_threads; ++i) {
    misses[i].plan = plan;
    misses[i].description = description;
    CHECK(pthread_create(&misses[i].thread, NULL, ask, &misses[i]) == 0);
  }
  for (i = 0; i < num_threads; ++i) {
    CHECK(pthread_join(misses[i].thread, NULL) == 0);
    CHECK(misses[i].good);
  }
  check_heard(before, JITK_CAUSE_MISSED, JITK_STATUS_OK, description, TARGET);

  CHECK_OK(jitk_plan_seal(plan, &error));
  CHECK(jitk_plan_kernel(plan, device, other, &kernel, NULL) == JITK_STATUS_NOT_PREPARED);
  CHECK(heard.count == before + 1);
  CHECK_OK(jitk_plan_export(plan, "emulator:sm_80", JITK_BUNDLE, &error));
  CHECK(heard.count == before + 2);
  CHECK(heard.causes[before + 1] == JITK_CAUSE_REQUESTED);
  CHECK_TEXT(heard.targets[before + 1], "emulator:sm_80");
  jitk_description_release(description);
  jitk_description_release(other);
  jitk_plan_release(plan);
}

static void check_background(void) {
  jitk_error_t error = NULL;
  jitk_kernel_t kernel = NULL;
  jitk_kernel_info_t info = {.struct_size = sizeof info};
  size_t before = heard.count;
  jitk_plan_t plan = prepared_plan(JITK_MISS_BACKGROUND, "matmul m=* n=256 k=64");
  jitk_description_t description = describe("matmul m=* n=320 k=64");
  CHECK(heard.count == before); /* the generic kernel was prepared, too */
  CHECK_OK(jitk_plan_kernel(plan, device, description, &kernel, &error));
  do {
    CHECK_OK(jitk_kernel_info(kernel, &info, &error));
  } while (info.stands_in);
  jitk_kernel_release(kernel);
  check_heard(before, JITK_CAUSE_BACKGROUND, JITK_STATUS_OK, description, TARGET);
  jitk_description_release(description);
  jitk_plan_release(plan);
}

/* Of two descriptions that come to the same kernel one is compiled. */
static void check_equal(void) {
  jitk_error_t error = NULL;
  jitk_kernel_t kernels[2] = {NULL, NULL};
  jitk_description_t some = describe("matmul m=*<=16 n=41 k=64"), others = describe("matmul m=*<=32 n=41 k=64");
  size_t before = heard.count;
  CHECK_OK(jitk_runtime_kernel(runtime, device, some, &kernels[0], &error));
  CHECK_OK(jitk_runtime_kernel(runtime, device, others, &kernels[1], &error));
  check_heard(before, JITK_CAUSE_REQUESTED, JITK_STATUS_OK, some, TARGET);
  jitk_kernel_release(kernels[0]);
  jitk_kernel_release(kernels[1]);
  jitk_description_release(some);
  jitk_description_release(others);
}

int main(void) {
  jitk_error_t error = NULL;
  jitk_runtime_options_t options = {.struct_size = sizeof options};
  options.store_path = "";
  options.compiler_library = JITK_STUB_COMPILER;
  options.jobs = 2;
  options.late_compilation = on_late;
  options.late_compilation_user = &heard;
  CHECK_OK(jitk_runtime_create(&options, &runtime, &error));
  CHECK_OK(jitk_device_open(runtime, TARGET, NULL, &device, &error));
  check_requests();
  check_misses();
  check_background();
  check_equal();
  /* The preparations compiled two kernels and one generic one. */
  CHECK(counters().compilations == heard.count + 3);
  CHECK(heard.num_bad == 0);
  jitk_device_release(device);
  jitk_runtime_release(runtime);
  return finish();
}
