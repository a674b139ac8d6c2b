/* The compiler in processes of its own: it may crash, hang and eat, and the engine lives. */

#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where reproducers of failed compilations go; "" for nowhere. */
static const char *reproducers = "";

static jitk_runtime_t runtime_of(uint32_t deadline_ms, uint64_t memory) {
  jitk_runtime_options_t options = {.struct_size = sizeof options};
  jitk_runtime_t runtime = NULL;
  jitk_error_t error = NULL;
  options.store_path = "";
  options.compiler_library = JITK_STUB_COMPILER;
  options.compiler_program = JITK_COMPILER_PROGRAM;
  options.isolate_compiler = 1;
  options.compile_deadline_ms = deadline_ms;
  options.compile_memory_bytes = memory;
  options.jobs = 2;
  options.reproducers = reproducers;
  CHECK_OK(jitk_runtime_create(&options, &runtime, &error));
  return runtime;
}

/* What becomes of a kernel with so many columns; `*error` is the caller's. */
static jitk_status_t compile(jitk_runtime_t runtime, int n, jitk_error_t *error) {
  char text[64];
  jitk_description_t description = NULL;
  jitk_artifact_t artifact = NULL;
  jitk_status_t status;
  snprintf(text, sizeof text, "matmul m=* n=%d k=64", n);
  CHECK(jitk_description_parse(text, &description, NULL) == JITK_STATUS_OK);
  status = jitk_runtime_compile(runtime, description, "sm_90a", &artifact, error);
  if (status == JITK_STATUS_OK) {
    CHECK(memcmp(jitk_artifact_dump(artifact, JITK_DUMP_CODE, NULL), "\177ELF", 4) == 0);
    CHECK_TEXT(jitk_artifact_dump(artifact, JITK_DUMP_TTGIR, NULL), "ttgir");
  }
  jitk_artifact_release(artifact);
  jitk_description_release(description);
  return status;
}

/* Adds the description that `format`, which takes one int, makes of `number`. */
static void add_to_plan(jitk_plan_t plan, const char *format, int number) {
  jitk_error_t error = NULL;
  char text[64];
  jitk_description_t description = NULL;
  snprintf(text, sizeof text, format, number);
  CHECK_OK(jitk_description_parse(text, &description, &error));
  CHECK_OK(jitk_plan_add(plan, description, 0, &error));
  jitk_description_release(description);
}

static void check_plan(jitk_runtime_t runtime) {
  jitk_error_t error = NULL;
  jitk_plan_t plan = NULL;
  jitk_prepare_options_t options = {.struct_size = sizeof options, .target = "sm_90a"};
  jitk_description_t good = NULL, bad = NULL;
  int n;
  CHECK_OK(jitk_plan_create(runtime, &plan, &error));
  for (n = 24; n < 36; ++n) {
    add_to_plan(plan, "matmul m=* n=%d k=64", n);
  }
  CHECK_OK(jitk_description_parse("matmul m=* n=35 k=64", &good, &error));
  CHECK_OK(jitk_description_parse("matmul m=* n=29 k=64", &bad, &error));
  CHECK_OK(jitk_plan_prepare(plan, &options, &error));
  CHECK_OK(jitk_plan_wait_kernel(plan, good, UINT32_MAX, &error));
  CHECK(jitk_plan_wait_kernel(plan, bad, UINT32_MAX, NULL) == JITK_STATUS_INTERNAL);
  CHECK(jitk_plan_wait(plan, UINT32_MAX, NULL) != JITK_STATUS_OK);
  jitk_description_release(good);
  jitk_description_release(bad);
  jitk_plan_release(plan);
}

/* Descriptions of one program are compiled once, be the compiler in other processes. */
static void check_same_program(jitk_runtime_t runtime) {
  jitk_error_t error = NULL;
  jitk_plan_t plan = NULL;
  jitk_prepare_options_t options = {.struct_size = sizeof options, .target = "sm_90a"};
  jitk_counters_t before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  int bound;
  CHECK_OK(jitk_plan_create(runtime, &plan, &error));
  for (bound = 16; bound <= 128; bound *= 2) {
    add_to_plan(plan, "matmul m=*<=%d n=41 k=64", bound);
  }
  CHECK_OK(jitk_runtime_counters(runtime, &before, &error));
  CHECK_OK(jitk_plan_prepare(plan, &options, &error));
  CHECK_OK(jitk_plan_wait(plan, UINT32_MAX, &error));
  CHECK_OK(jitk_runtime_counters(runtime, &after, &error));
  CHECK(after.compilations - before.compilations == 1);
  CHECK(after.compiled - before.compiled == 1);
  CHECK(after.found_equal - before.found_equal == 3);
  jitk_plan_release(plan);
}

/* An engine that dies takes its compilers along, also one that does not come back. */
static void check_death_of_engine(void) {
  int ended = 0;
  pid_t engine;
  CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  fflush(stdout);
  engine = fork();
  if (engine == 0) {
    jitk_error_t error = NULL;
    jitk_plan_t plan = NULL;
    jitk_prepare_options_t options = {.struct_size = sizeof options, .target = "sm_90a"};
    jitk_description_t hanging = NULL;
    jitk_runtime_t runtime = runtime_of(0, 0);
    CHECK_OK(jitk_plan_create(runtime, &plan, &error));
    CHECK_OK(jitk_description_parse("matmul m=* n=31 k=64", &hanging, &error));
    CHECK_OK(jitk_plan_add(plan, hanging, 0, &error));
    CHECK_OK(jitk_plan_prepare(plan, &options, &error));
    CHECK(jitk_plan_wait(plan, 300, NULL) == JITK_STATUS_DEADLINE_EXCEEDED);
    _exit(finish());
  }
  alarm(20); /* a compiler that stays */
  for (int status = 0; waitpid(-1, &status, 0) > 0;) {
    ++ended;
    CHECK(status == 0);
  }
  alarm(0);
  CHECK(ended == 2);
  CHECK(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0);
}

/* What is there of a kernel that crashed the compiler's process: the message names a file with all of it. */
static void check_reproducer(void) {
  char folder[] = "/tmp/jitk-reproducers-XXXXXX", text[4096] = "";
  jitk_error_t error = NULL;
  jitk_runtime_t runtime;
  const char *path;
  FILE *file;
  CHECK(mkdtemp(folder) != NULL);
  reproducers = folder;
  runtime = runtime_of(500, 0);
  reproducers = "";
  CHECK(compile(runtime, 29, &error) == JITK_STATUS_INTERNAL);
  path = strstr(jitk_error_message(error), "; reproducer: /tmp/");
  CHECK(path != NULL);
  path = path ? path + strlen("; reproducer: ") : "";
  file = fopen(path, "r");
  CHECK(file != NULL);
  if (file) {
    CHECK(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
  }
  CHECK(strstr(text, "// jitk reproducer\n// description: matmul ") == text);
  CHECK(strstr(text, "n=29") != NULL && strstr(text, "\n// target: sm_90a\n") != NULL);
  CHECK(strstr(text, "\n// failure: INTERNAL: compiler process crashed: signal 11") != NULL);
  CHECK(strstr(text, "\n// stub of matmul") != NULL);
  jitk_error_release(error);
  jitk_runtime_release(runtime);
  remove(path);
  rmdir(folder);
}

int main(void) {
  jitk_error_t error = NULL;
  jitk_runtime_t runtime;

  check_death_of_engine();
  runtime = runtime_of(500, 0);

  CHECK_OK(compile(runtime, 64, &error));
  /* A failure of the compiler comes through whole. */
  CHECK(compile(runtime, 13, &error) == JITK_STATUS_UNSUPPORTED);
  CHECK_TEXT(jitk_error_message(error), "n must not be 13: got 13");
  CHECK_TEXT(jitk_error_stage(error), "build");
  CHECK_TEXT(jitk_error_tool_output(error), "stub: bad luck");
  jitk_error_release(error);
  error = NULL;

  CHECK(compile(runtime, 29, &error) == JITK_STATUS_INTERNAL);
  CHECK_TEXT(
      jitk_error_message(error),
      "compiler process crashed: signal 11 (Segmentation fault); while compiling matmul "
      "a_layout=row accumulate=false activation=none b_layout=row bias=false dtype=bf16 k=64 m=* n=29 out_dtype=bf16 "
      "residual=false");
  CHECK_TEXT(jitk_error_tool_output(error), "stub: about to crash\n");
  CHECK_TEXT(jitk_error_stage(error), "compile");
  jitk_error_release(error);
  error = NULL;
  CHECK_OK(compile(runtime, 64, &error));

  CHECK(compile(runtime, 31, &error) == JITK_STATUS_DEADLINE_EXCEEDED);
  CHECK(strstr(jitk_error_message(error), "compiler process outran its limit of 500 ms") != NULL);
  jitk_error_release(error);
  error = NULL;
  CHECK_OK(compile(runtime, 64, &error));
  check_plan(runtime);
  check_same_program(runtime);
  jitk_runtime_release(runtime);
  check_reproducer();

#ifdef JITK_LIMIT_MEMORY
  runtime = runtime_of(0, (uint64_t)1 << 30);
  CHECK(compile(runtime, 37, &error) == JITK_STATUS_OUT_OF_MEMORY);
  CHECK(strstr(jitk_error_message(error), "needed more than its bound of 1073741824 bytes") != NULL);
  jitk_error_release(error);
  error = NULL;
  CHECK_OK(compile(runtime, 64, &error));
  jitk_runtime_release(runtime);
#endif

  /* No process is left, dead or alive. */
  CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
  return finish();
}
