/* Checks for the C programs of this folder: a failed one is printed, and makes the program fail at its end. */
#ifndef JITK_TESTS_CAPI_CHECK_H
#define JITK_TESTS_CAPI_CHECK_H

#include "jitk/jitk.h"

#include <stdio.h>
#include <string.h>

static int num_failures = 0;
static int num_checks = 0;

static inline void check_that(int good, const char *what, const char *file, int line) {
  ++num_checks;
  if (!good) {
    ++num_failures;
    printf("%s:%d: failed: %s\n", file, line, what);
  }
}

static inline void check_text(const char *found, const char *wanted, const char *file, int line) {
  ++num_checks;
  if (!found || strcmp(found, wanted) != 0) {
    ++num_failures;
    printf("%s:%d: wanted: %s\n  found: %s\n", file, line, wanted, found ? found : "(null)");
  }
}

/* Checks status and whole message of a failure, and releases the error. */
static inline void check_failure(jitk_status_t status, jitk_error_t *error, jitk_status_t wanted, const char *message,
                                 const char *file, int line) {
  ++num_checks;
  if (status != wanted || !*error || jitk_error_code(*error) != wanted) {
    ++num_failures;
    printf("%s:%d: wanted status %s, found %s: %s\n", file, line, jitk_status_name(wanted), jitk_status_name(status),
           jitk_error_message(*error));
  }
  check_text(jitk_error_message(*error), message, file, line);
  jitk_error_release(*error);
  *error = NULL;
}

static inline void check_ok(jitk_status_t status, jitk_error_t *error, const char *file, int line) {
  ++num_checks;
  if (status != JITK_STATUS_OK || *error) {
    ++num_failures;
    printf("%s:%d: %s: %s\n", file, line, jitk_status_name(status), jitk_error_message(*error));
    jitk_error_release(*error);
    *error = NULL;
  }
}

#define CHECK(condition) check_that((condition) != 0, #condition, __FILE__, __LINE__)
#define CHECK_TEXT(found, wanted) check_text(found, wanted, __FILE__, __LINE__)
/* `call` passes `&error`. */
#define CHECK_OK(call) check_ok((call), &error, __FILE__, __LINE__)
#define CHECK_FAILURE(call, wanted, message) check_failure((call), &error, (wanted), (message), __FILE__, __LINE__)
#define CHECK_INVALID(call, message) CHECK_FAILURE(call, JITK_STATUS_INVALID_ARGUMENT, message)

/* The exit status of a test program. */
static inline int finish(void) {
  printf("%d checks, %d failed\n", num_checks, num_failures);
  return num_failures == 0 && num_checks > 0 ? 0 : 1;
}

/* A runtime with the stub compiler and a store at `store` ("" = none). */
static inline jitk_runtime_t stub_runtime(const char *store) {
  jitk_runtime_options_t options = {.struct_size = sizeof options};
  jitk_runtime_t runtime = NULL;
  jitk_error_t error = NULL;
  options.store_path = store;
  options.compiler_library = JITK_STUB_COMPILER;
  options.jobs = 2;
  CHECK_OK(jitk_runtime_create(&options, &runtime, &error));
  return runtime;
}

#endif
