/* The way of an engine: runtime, device, plan, prepare, seal, launch; with the stub compiler. */

#include "check.h"

#include <stdlib.h>

typedef struct seen_t {
  size_t num_records;
  size_t total;
  int good;
  char last_key[64];
} seen_t;

static void on_progress(void *user, const jitk_progress_t *progress) {
  seen_t *seen = user;
  ++seen->num_records;
  seen->total = progress->total;
  seen->good &= progress->done == seen->num_records && progress->status == JITK_STATUS_OK && !progress->error &&
                progress->info->tier == JITK_TIER_COMPILED && progress->info->registers == 32 &&
                progress->info->assemble_ms == 4 && strcmp(progress->info->target, "emulator:sm_90a") == 0;
  snprintf(seen->last_key, sizeof seen->last_key, "%s", progress->info->key);
}

static void check_queries(jitk_kernel_t kernel) {
  jitk_error_t error = NULL;
  jitk_kernel_info_t info = {.struct_size = sizeof info};
  uint64_t bytes = 1;
  int64_t size = 100;
  CHECK(jitk_kernel_num_tensors(kernel) == 3);
  CHECK_TEXT(jitk_kernel_tensor_name(kernel, 2), "c");
  CHECK(jitk_kernel_tensor_name(kernel, 3) == NULL);
  CHECK(jitk_kernel_tensor_alignment(kernel, 0) == 16);
  CHECK(jitk_kernel_tensor_alignment(kernel, 3) == 0);
  CHECK(jitk_kernel_num_dimensions(kernel) == 1);
  CHECK_TEXT(jitk_kernel_dimension_name(kernel, 0), "m");
  CHECK(jitk_kernel_num_scalars(kernel) == 0);
  CHECK(jitk_kernel_scalar_name(kernel, 0) == NULL);
  CHECK_OK(jitk_kernel_workspace_bytes(kernel, &size, 1, &bytes, &error));
  CHECK(bytes == 0);
  CHECK_OK(jitk_kernel_info(kernel, &info, &error));
  CHECK(info.num_steps == 1 && info.code_bytes == 256 && info.shared_bytes == 1024);
  CHECK_TEXT(info.description,
             "matmul a_layout=row accumulate=false activation=none b_layout=row bias=false dtype=bf16 k=64 "
             "m=*<=512 n=64 out_dtype=bf16 residual=false");
}

static void check_launch(jitk_device_t device, jitk_kernel_t kernel) {
  jitk_error_t error = NULL;
  uint64_t memory = 0;
  int64_t size = 100;
  unsigned char bytes[4] = {1, 2, 3, 4};
  uint64_t tensors[3];
  jitk_launch_t launch = {.struct_size = sizeof launch};
  CHECK_OK(jitk_device_allocate(device, 4096, &memory, &error));
  CHECK_OK(jitk_device_fill(device, memory, 0xcd, 4096, &error));
  CHECK_OK(jitk_device_copy_to_device(device, memory, bytes, 2, &error));
  CHECK_OK(jitk_device_copy_to_host(device, bytes, memory, 4, &error));
  CHECK(bytes[1] == 2 && bytes[2] == 0xcd);
  tensors[0] = memory;
  tensors[1] = memory + 1024;
  tensors[2] = memory + 2048;
  launch.tensors = tensors;
  launch.num_tensors = 3;
  launch.dimensions = &size;
  launch.num_dimensions = 1;
  launch.device = device;
  CHECK_OK(jitk_kernel_launch(kernel, &launch, &error));
  size = 0;
  launch.tensors = NULL;
  launch.num_tensors = 0;
  CHECK_OK(jitk_kernel_launch(kernel, &launch, &error));
  CHECK_OK(jitk_device_synchronize(device, &error));
  CHECK_OK(jitk_device_free(device, memory, &error));
}

static void check_plan_file(jitk_plan_t plan) {
  jitk_error_t error = NULL;
  jitk_text_t text = NULL;
  CHECK(jitk_plan_size(plan) == 2);
  CHECK_OK(jitk_plan_to_json(plan, &text, &error));
  CHECK(strstr(jitk_text_data(text), "\"m\": \"*<=512\"") != NULL);
  CHECK(jitk_text_size(text) == strlen(jitk_text_data(text)));
  CHECK_OK(jitk_plan_add_json(plan, jitk_text_data(text), &error));
  CHECK(jitk_plan_size(plan) == 2);
  jitk_text_release(text);
}

static void check_artifact(jitk_runtime_t runtime, jitk_description_t description, const char *key) {
  jitk_error_t error = NULL;
  jitk_artifact_t artifact = NULL;
  jitk_kernel_info_t info = {.struct_size = sizeof info};
  size_t size = 0;
  CHECK_OK(jitk_runtime_compile(runtime, description, "emulator:sm_90a", &artifact, &error));
  CHECK_TEXT(jitk_artifact_dump(artifact, JITK_DUMP_TTGIR, &size), "ttgir");
  CHECK(size == 5);
  CHECK(strstr(jitk_artifact_dump(artifact, JITK_DUMP_RECIPE, NULL), "ceildiv(m, 128)") != NULL);
  CHECK(memcmp(jitk_artifact_dump(artifact, JITK_DUMP_CODE, &size), "\177ELF", 4) == 0);
  CHECK(size == 256);
  CHECK(jitk_artifact_dump(artifact, (jitk_dump_t)99, &size) == NULL);
  CHECK_OK(jitk_artifact_info(artifact, &info, &error));
  CHECK_TEXT(info.key, key);
  jitk_artifact_release(artifact);
}

/* The store's kernels go into a bundle and come back; a runtime with the bundle needs no store. */
static void check_bundle(jitk_runtime_t runtime, jitk_plan_t plan, jitk_description_t description, const char *path) {
  jitk_error_t error = NULL;
  size_t count = 0;
  jitk_runtime_options_t options = {.struct_size = sizeof options};
  jitk_runtime_t other = NULL;
  jitk_device_t device = NULL;
  jitk_kernel_t kernel = NULL;
  jitk_kernel_info_t info = {.struct_size = sizeof info};
  CHECK_OK(jitk_store_export(runtime, path, &count, &error));
  CHECK(count == 2);
  CHECK_OK(jitk_plan_export(plan, "emulator:sm_90a", path, &error));
  CHECK_OK(jitk_store_import(runtime, path, &count, &error));
  CHECK(count == 2);
  options.store_path = "";
  options.compiler_library = JITK_STUB_COMPILER;
  options.bundles = &path;
  options.num_bundles = 1;
  CHECK_OK(jitk_runtime_create(&options, &other, &error));
  CHECK_OK(jitk_device_open(other, "emulator:sm_90a", NULL, &device, &error));
  CHECK_OK(jitk_runtime_kernel(other, device, description, &kernel, &error));
  CHECK_OK(jitk_kernel_info(kernel, &info, &error));
  CHECK(info.tier == JITK_TIER_BUNDLE);
  jitk_kernel_release(kernel);
  jitk_device_release(device);
  jitk_runtime_release(other);
}

static void check_store(jitk_runtime_t runtime, jitk_description_t description, const char *key) {
  jitk_error_t error = NULL;
  jitk_text_t list = NULL;
  jitk_artifact_t artifact = NULL;
  jitk_kernel_info_t info = {.struct_size = sizeof info};
  size_t size = 0, none = 1;
  CHECK_OK(jitk_store_explain(runtime, description, "emulator:sm_90a", &list, &error));
  CHECK(strstr(jitk_text_data(list), "\"found\": \"store\"") != NULL);
  jitk_text_release(list);
  CHECK_OK(jitk_store_explain(runtime, description, "sm_90a", &list, &error));
  CHECK(strstr(jitk_text_data(list), "\"found\": null") != NULL);
  CHECK(strstr(jitk_text_data(list), "\"stored\": \"emulator:sm_90a\"") != NULL);
  jitk_text_release(list);
  CHECK_OK(jitk_store_list(runtime, 1, &list, &error));
  CHECK(strstr(jitk_text_data(list), key) != NULL);
  jitk_text_release(list);
  CHECK_OK(jitk_store_read(runtime, key, &artifact, &error));
  CHECK(memcmp(jitk_artifact_dump(artifact, JITK_DUMP_CODE, &size), "\177ELF", 4) == 0);
  CHECK(strstr(jitk_artifact_dump(artifact, JITK_DUMP_RECIPE, NULL), "ceildiv(m, 128)") != NULL);
  jitk_artifact_dump(artifact, JITK_DUMP_TTGIR, &none);
  CHECK(none == 0);
  CHECK_OK(jitk_artifact_info(artifact, &info, &error));
  CHECK_TEXT(info.key, key);
  CHECK(info.tier == JITK_TIER_DISK && info.code_bytes == size && info.registers == 32);
  jitk_artifact_release(artifact);
  CHECK_OK(jitk_store_collect(runtime, 0, &error));
  CHECK(jitk_store_read(runtime, key, &artifact, NULL) == JITK_STATUS_INVALID_ARGUMENT && artifact == NULL);
  CHECK_OK(jitk_store_list(runtime, 0, &list, &error));
  CHECK(strstr(jitk_text_data(list), key) == NULL);
  jitk_text_release(list);
}

/* What was not prepared is served by the generic kernel of its op; the plan keeps no more than it may. */
static void check_misses(jitk_runtime_t runtime, jitk_device_t device, jitk_description_t planned) {
  jitk_error_t error = NULL;
  jitk_plan_options_t options = {.struct_size = sizeof options, .on_miss = JITK_MISS_BACKGROUND};
  jitk_prepare_options_t prepare = {.struct_size = sizeof prepare, .device = device};
  jitk_plan_t plan = NULL;
  jitk_description_t unknown = NULL;
  jitk_kernel_t kernel = NULL;
  jitk_kernel_info_t info = {.struct_size = sizeof info};
  CHECK_OK(jitk_plan_create_with_options(runtime, &options, &plan, &error));
  CHECK_OK(jitk_plan_add(plan, planned, 0, &error));
  CHECK_OK(jitk_plan_prepare(plan, &prepare, &error));
  CHECK_OK(jitk_plan_wait_kernel(plan, planned, UINT32_MAX, &error));
  CHECK_OK(jitk_plan_seal(plan, &error));
  CHECK_OK(jitk_description_parse("matmul m=*<=512 n=80 k=64", &unknown, &error));
  CHECK_OK(jitk_plan_kernel(plan, device, unknown, &kernel, &error));
  CHECK_OK(jitk_kernel_info(kernel, &info, &error));
  CHECK(info.stands_in == 1);
  CHECK(info.threads == 128);
  CHECK_TEXT(info.description,
             "matmul a_layout=row accumulate=false activation=none b_layout=row bias=false dtype=bf16 k=* m=* n=* "
             "out_dtype=bf16 residual=false");
  CHECK(jitk_kernel_num_dimensions(kernel) == 1);
  CHECK_TEXT(jitk_kernel_dimension_name(kernel, 0), "m");
  jitk_kernel_release(kernel);
  jitk_plan_release(plan);
  options.on_miss = JITK_MISS_FAIL;
  CHECK_OK(jitk_plan_create_with_options(runtime, &options, &plan, &error));
  CHECK_FAILURE(
      jitk_plan_kernel(plan, device, unknown, &kernel, &error), JITK_STATUS_NOT_PREPARED,
      "plan has no kernel for matmul a_layout=row accumulate=false activation=none b_layout=row bias=false dtype=bf16 "
      "k=64 m=*<=512 n=80 out_dtype=bf16 residual=false on "
      "emulator:sm_90a");
  jitk_plan_release(plan);
  options.on_miss = (jitk_miss_t)3;
  CHECK_INVALID(jitk_plan_create_with_options(runtime, &options, &plan, &error),
                "options.on_miss must be between 0 and 2: got 3");
  jitk_description_release(unknown);
}

/* Two kernels were compiled and loaded, and nothing else happened; the trace has them with their stages. */
static void check_counters(jitk_runtime_t runtime, jitk_plan_t plan) {
  jitk_error_t error = NULL;
  jitk_counters_t counters = {.struct_size = sizeof counters};
  jitk_text_t trace = NULL;
  CHECK_OK(jitk_runtime_counters(runtime, &counters, &error));
  CHECK(counters.compiled == 2 && counters.compilations == 2 && counters.failed == 0);
  CHECK(counters.failed_compilations == 0 && counters.found_on_disk == 0 && counters.joined == 0);
  CHECK(counters.loads == 2 && counters.loaded_bytes == 512 && counters.lock_timeouts == 0);
  counters.loads = 77;
  counters.struct_size = offsetof(jitk_counters_t, loads);
  CHECK_OK(jitk_runtime_counters(runtime, &counters, &error));
  CHECK(counters.loads == 77);
  CHECK_OK(jitk_plan_trace(plan, &trace, &error));
  CHECK(strstr(jitk_text_data(trace), "\"traceEvents\"") != NULL);
  CHECK(strstr(jitk_text_data(trace), "\"tier\": \"compiled\"") != NULL);
  CHECK(strstr(jitk_text_data(trace), "\"name\": \"assemble\"") != NULL);
  CHECK(strstr(jitk_text_data(trace), "m=*<=512 n=64") != NULL);
  jitk_text_release(trace);
}

static void check_reports(jitk_runtime_t runtime, jitk_description_t description) {
  jitk_error_t error = NULL;
  jitk_text_t text = NULL;
  CHECK_OK(jitk_runtime_report(runtime, &text, &error));
  CHECK(strstr(jitk_text_data(text), jitk_build_id()) != NULL);
  CHECK(strstr(jitk_text_data(text), "stub assembler 1") != NULL);
  jitk_text_release(text);
  CHECK_OK(jitk_runtime_key(runtime, description, "sm_90a", &text, &error));
  CHECK(strstr(jitk_text_data(text), "\"assembler\": \"stub assembler 1\"") != NULL);
  jitk_text_release(text);
  CHECK_OK(jitk_runtime_configurations(runtime, description, "sm_90a", &text, &error));
  CHECK(strstr(jitk_text_data(text), "\"name\": \"small\"") < strstr(jitk_text_data(text), "\"name\": \"large\""));
  jitk_text_release(text);
  CHECK(jitk_op_count() > 0);
  CHECK(jitk_op_name(jitk_op_count()) == NULL);
  CHECK_OK(jitk_op_info("matmul", &text, &error));
  CHECK(strstr(jitk_text_data(text), "\"b_layout\"") != NULL);
  jitk_text_release(text);
}

int main(int argc, char **argv) {
  const char *store = argc > 1 ? argv[1] : "";
  const char *names[] = {"m", "n", "k"};
  const char *values[] = {"*<=512", "64", "64"};
  jitk_error_t error = NULL;
  jitk_runtime_t runtime = stub_runtime(store);
  jitk_device_t device = NULL;
  jitk_description_t description = NULL, same = NULL;
  jitk_plan_t plan = NULL;
  jitk_kernel_t kernel = NULL;
  jitk_prepare_options_t prepare = {.struct_size = sizeof prepare};
  seen_t seen = {0, 0, 1, ""};

  if (store[0]) {
    CHECK_OK(jitk_store_collect(runtime, 0, &error)); /* what an earlier run left */
  }
  CHECK_OK(jitk_device_open(runtime, "emulator:sm_90a", NULL, &device, &error));
  CHECK_TEXT(jitk_device_name(device), "stub");
  CHECK_TEXT(jitk_device_target(device), "emulator:sm_90a");
  CHECK_OK(jitk_description_create("matmul", names, values, 3, &description, &error));
  CHECK_OK(jitk_description_parse(jitk_description_text(description), &same, &error));
  CHECK_TEXT(jitk_description_text(same), jitk_description_text(description));
  CHECK_TEXT(jitk_description_op(same), "matmul");

  CHECK_OK(jitk_plan_create(runtime, &plan, &error));
  CHECK_OK(jitk_plan_add(plan, description, 0, &error));
  CHECK_OK(jitk_plan_add(plan, same, 0, &error));
  CHECK_OK(jitk_plan_add_json(plan,
                              "{\"jitk_plan\": 1, \"kernels\": [{\"op\": \"matmul\", \"attributes\": "
                              "{\"m\": 1, \"n\": 64, \"k\": 64}}]}",
                              &error));
  check_plan_file(plan);
  prepare.device = device;
  prepare.progress = on_progress;
  prepare.progress_user = &seen;
  CHECK_OK(jitk_plan_prepare(plan, &prepare, &error));
  CHECK_OK(jitk_plan_wait(plan, UINT32_MAX, &error));
  CHECK(seen.good && seen.num_records == 2 && seen.total == 2);
  CHECK_OK(jitk_plan_seal(plan, &error));
  CHECK_OK(jitk_plan_kernel(plan, device, same, &kernel, &error));

  check_counters(runtime, plan);
  check_queries(kernel);
  check_launch(device, kernel);
  check_misses(runtime, device, description);
  check_reports(runtime, description);
  {
    jitk_kernel_info_t info = {.struct_size = sizeof info};
    CHECK_OK(jitk_kernel_info(kernel, &info, &error));
    check_artifact(runtime, description, info.key);
    if (store[0]) {
      char path[4096];
      snprintf(path, sizeof path, "%s.bundle", store);
      CHECK_OK(jitk_store_collect(runtime, 0, &error));
      CHECK_OK(jitk_plan_export(plan, "emulator:sm_90a", path, &error));
      CHECK_OK(jitk_store_import(runtime, path, NULL, &error));
      check_bundle(runtime, plan, description, path);
      check_store(runtime, description, info.key);
    }
  }

  /* Any order of release is fine: the kernel keeps what it needs. */
  jitk_runtime_release(runtime);
  jitk_plan_release(plan);
  check_launch(device, kernel);
  jitk_device_release(device);
  jitk_kernel_retain(kernel);
  jitk_kernel_release(kernel);
  jitk_kernel_release(kernel);
  jitk_description_release(description);
  jitk_description_release(same);
  return finish();
}
