/* What the library refuses, with the whole message. */

#include "check.h"

#include <stdlib.h>

static jitk_error_t error = NULL;

static jitk_description_t describe(const char *text) {
  jitk_description_t description = NULL;
  CHECK_OK(jitk_description_parse(text, &description, &error));
  return description;
}

static void descriptions(void) {
  const char *names[] = {"m", "n", "k"};
  const char *values[] = {"64", NULL, "64"};
  jitk_description_t description = (jitk_description_t)&error;
  jitk_text_t text = NULL;
  CHECK_INVALID(jitk_description_create("nonsense", NULL, NULL, 0, &description, &error),
                "op must be one of flash_attention, fp8_block_matmul, gated_delta_rule, grouped_fp8_block_matmul, "
                "matmul, mla_decode, paged_attention, user_kernel: got 'nonsense'");
  CHECK(description == NULL);
  CHECK_INVALID(jitk_description_create("matmul", names, values, 3, &description, &error), "a value must not be null");
  CHECK_INVALID(jitk_description_create("matmul", NULL, values, 3, &description, &error), "names must not be null");
  CHECK_INVALID(jitk_description_create(NULL, NULL, NULL, 0, &description, &error), "op must not be null");
  CHECK_INVALID(jitk_description_create("matmul", NULL, NULL, 0, NULL, &error), "description must not be null");
  CHECK_INVALID(
      jitk_description_parse("matmul m=1 n=1 k=1 colour=red", &description, &error),
      "attribute of matmul must be one of m, n, k, dtype, out_dtype, a_layout, b_layout, bias, residual, accumulate, "
      "activation, a_stride, b_stride, residual_stride, c_stride, configuration: got 'colour'");
  CHECK_INVALID(jitk_description_parse("matmul m=0 n=1 k=1", &description, &error),
                "dimension must be a positive number, or *, *%16, *<=4096 or *%16<=4096: got '0'; in attribute m");
  CHECK_INVALID(jitk_description_parse("matmul m=-1 n=1 k=1", &description, &error),
                "dimension must be a positive number, or *, *%16, *<=4096 or *%16<=4096: got '-1'; in attribute m");
  CHECK_INVALID(jitk_description_parse("matmul m=1 n=1 k=4294967296", &description, &error),
                "attribute k must be between 1 and 2147483392: got '4294967296'");
  CHECK_INVALID(jitk_op_info("nonsense", &text, &error),
                "op must be one of flash_attention, fp8_block_matmul, gated_delta_rule, grouped_fp8_block_matmul, "
                "matmul, mla_decode, paged_attention, user_kernel: got 'nonsense'");
  CHECK(text == NULL);
  /* Without anywhere to put the details a status is enough. */
  CHECK(jitk_description_parse("nonsense", &description, NULL) == JITK_STATUS_INVALID_ARGUMENT);
}

/* `*read` is refused with the message, and set back to what is accepted. */
static void check_option(jitk_runtime_options_t *read, const char *message) {
  jitk_runtime_t runtime = (jitk_runtime_t)&error;
  CHECK_INVALID(jitk_runtime_create(read, &runtime, &error), message);
  CHECK(runtime == NULL);
  memset(read, 0, sizeof *read);
  read->struct_size = sizeof *read;
  read->store_path = "";
}

static void ignore_line(void *user, jitk_log_level_t level, const char *category, const char *message) {
  (void)user, (void)level, (void)category, (void)message;
}

/* Options one by one. */
static void each_option(void) {
  const char *paths[] = {"", NULL};
  jitk_runtime_options_t read = {.struct_size = sizeof read, .store_path = ""};
  read.log_level = JITK_LOG_LEVEL_DEBUG;
  check_option(&read, "options.log_level needs options.log");
  read.log = ignore_line;
  read.log_level = (jitk_log_level_t)-1;
  check_option(&read, "options.log_level must be between 0 and 4: got -1");
  read.assembler = "ptaxs";
  check_option(&read, "options.assembler must be one of ptxas, nvjitlink, driver (did you mean ptxas?): got 'ptaxs'");
  read.num_bundles = 1;
  check_option(&read, "options.bundles must not be null");
  read.num_bundles = 1;
  read.bundles = paths;
  check_option(&read, "a path of options.bundles must not be empty");
  read.num_bundles = 1;
  read.bundles = paths + 1;
  check_option(&read, "a path of options.bundles must not be null");
  read.shared_store = "redis://";
  check_option(&read, "shared store must be redis://[[user]:password@]host[:port][/database] or "
                      "redis+unix://[[user]:password@]/path: got one without a host; in options.shared_store");
  read.compile_deadline_ms = 1;
  check_option(&read, "options.compile_deadline_ms and compile_memory_bytes need options.isolate_compiler");
  read.compile_memory_bytes = 1;
  check_option(&read, "options.compile_deadline_ms and compile_memory_bytes need options.isolate_compiler");
}

static void options(void) {
  struct {
    jitk_runtime_options_t options;
    uint64_t of_the_future;
  } newer;
  jitk_runtime_options_t read = {.struct_size = sizeof read};
  jitk_runtime_t runtime = NULL;
  memset(&newer, 0, sizeof newer);
  read.struct_size = 0;
  CHECK_INVALID(jitk_runtime_create(&read, &runtime, &error),
                "options.struct_size must be the size of the struct: got 0");
  read.struct_size = sizeof read;
  read.store_path = "";
  read.log_level = (jitk_log_level_t)9;
  CHECK_INVALID(jitk_runtime_create(&read, &runtime, &error), "options.log_level must be between 0 and 4: got 9");
  read.log_level = JITK_LOG_LEVEL_DEFAULT;
  read.jobs = 4000;
  CHECK_INVALID(jitk_runtime_create(&read, &runtime, &error), "options.jobs must be at most 1024: got 4000");
  read.jobs = 0;
  read.worker_nice = 20;
  CHECK_INVALID(jitk_runtime_create(&read, &runtime, &error),
                "options.worker_nice must be at most 19, or UINT32_MAX: got 20");
  read.worker_nice = 0;
  read.shared_store = "rediss://:secret@host";
  CHECK_INVALID(jitk_runtime_create(&read, &runtime, &error),
                "shared store must be redis://[[user]:password@]host[:port][/database] or "
                "redis+unix://[[user]:password@]/path: got one that begins otherwise; in options.shared_store");
  read.shared_store = NULL;
  CHECK(runtime == NULL);

  newer.options.struct_size = sizeof newer;
  newer.options.store_path = "";
  CHECK_OK(jitk_runtime_create(&newer.options, &runtime, &error));
  jitk_runtime_release(runtime);
  newer.of_the_future = 1;
  CHECK(jitk_runtime_create(&newer.options, &runtime, NULL) == JITK_STATUS_INVALID_ARGUMENT);

  /* A size that ends within a pointer is that of no version. */
  read.struct_size = offsetof(jitk_runtime_options_t, store_path) + 4;
  CHECK_INVALID(jitk_runtime_create(&read, &runtime, &error),
                "options.struct_size must be the size of the struct: got 12");

  /* An older struct: what it does not reach has its default. */
  read.struct_size = offsetof(jitk_runtime_options_t, compiler_library);
  read.assembler = "nonsense";
  read.log_level = (jitk_log_level_t)9;
  CHECK_OK(jitk_runtime_create(&read, &runtime, &error));
  jitk_runtime_release(runtime);
}

static void devices(jitk_runtime_t runtime, jitk_device_t device) {
  jitk_device_t other = NULL;
  jitk_device_options_t emulated = {.struct_size = sizeof emulated};
  uint64_t address = 7;
  CHECK_INVALID(jitk_device_open(runtime, "toaster", NULL, &other, &error),
                "device must be cuda:N, emulator:sm_NN: got 'toaster'");
  CHECK_INVALID(jitk_device_open(runtime, "cuda:x", NULL, &other, &error),
                "CUDA device must be cuda:0, cuda:1, ...: got 'cuda:x'");
  CHECK_INVALID(jitk_device_open(runtime, "emulator:9", NULL, &other, &error),
                "target must be sm_NN or emulator:sm_NN, with an 'a' at the end from sm_90 on: got 'emulator:9'");
  CHECK_INVALID(jitk_device_open(NULL, "cuda:0", NULL, &other, &error), "runtime must not be null");
  emulated.emulator_seed = 1;
  CHECK_INVALID(
      jitk_device_open(runtime, "cuda:0", &emulated, &other, &error),
      "options.emulator_immediate, emulator_workers and emulator_seed are for an emulator: got device 'cuda:0'");
  emulated.emulator_workers = 1025;
  CHECK_INVALID(jitk_device_open(runtime, "emulator:sm_90a", &emulated, &other, &error),
                "options.emulator_workers must be at most 1024: got 1025");
  emulated.struct_size = 4;
  CHECK_INVALID(jitk_device_open(runtime, "emulator:sm_90a", &emulated, &other, &error),
                "options.struct_size must be the size of the struct: got 4");
  CHECK_FAILURE(jitk_device_allocate(device, SIZE_MAX / 2, &address, &error), JITK_STATUS_OUT_OF_MEMORY,
                "stub device has less memory");
  CHECK(address == 7);
  CHECK_INVALID(jitk_device_free(device, 4096, &error), "address was not allocated");
  CHECK_OK(jitk_device_free(device, 0, &error));
  CHECK_INVALID(jitk_device_copy_to_host(device, NULL, 4096, 1, &error), "destination must not be null");
  CHECK_OK(jitk_device_copy_to_host(device, NULL, 4096, 0, &error));
}

static void launches(jitk_runtime_t runtime, jitk_device_t device) {
  uint64_t tensors[] = {0x1000, 0x2000, 0x3000};
  int64_t size = 64;
  float scalar = 1;
  jitk_scalar_t typed = {JITK_SCALAR_FLOAT, {1.0}};
  jitk_kernel_t kernel = NULL;
  jitk_device_t other = NULL;
  jitk_description_t description = describe("matmul m=*%16<=512 n=64 k=64");
  jitk_launch_t launch = {.struct_size = sizeof launch, .tensors = tensors, .num_tensors = 3, .dimensions = &size};
  launch.num_dimensions = 1;
  CHECK_OK(jitk_runtime_kernel(runtime, device, description, &kernel, &error));
  CHECK_OK(jitk_kernel_launch(kernel, &launch, &error));

  tensors[1] = 0x2008;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error),
                "address of tensor b must be aligned to 16 bytes: got 0x2008");
  tensors[1] = 0;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error), "address of tensor b must not be null: got 0x0");
  tensors[1] = 0x2000;
  size = -16;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error), "dimension m must be zero or more: got -16");
  size = 528;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error), "dimension m must be at most 512: got 528");
  size = 17;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error), "dimension m must be a multiple of 16: got 17");
  size = 64;
  launch.num_tensors = 2;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error), "number of tensors must be 3: got 2");
  launch.num_tensors = 3;
  launch.scalars = &scalar;
  launch.num_scalars = 1;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error), "number of scalars must be 0: got 1");
  launch.scalars = NULL;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error), "launch.scalars must not be null");
  launch.scalars = &scalar;
  launch.num_typed_scalars = 1;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error), "launch.typed_scalars must not be null");
  launch.typed_scalars = &typed;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error), "launch must have scalars or typed_scalars: got both");
  launch.num_scalars = 0;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error), "number of scalars must be 0: got 1");
  launch.num_typed_scalars = 0;
  CHECK_OK(jitk_device_open(runtime, "emulator:sm_80", NULL, &other, &error));
  launch.device = other;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error),
                "launch.device must be the device that the kernel was loaded on, emulator:sm_90a: got emulator:sm_80");
  jitk_device_release(other);
  CHECK_OK(jitk_device_open(runtime, "emulator:sm_90a", NULL, &other, &error));
  launch.device = other;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error),
                "launch.device must be the device that the kernel was loaded on, emulator:sm_90a: got another one of "
                "that name");
  launch.device = device;
  CHECK_OK(jitk_kernel_launch(kernel, &launch, &error));
  launch.flags = 3;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error),
                "launch.flags must be 0 or JITK_LAUNCH_PROGRAMMATIC: got 3");
  launch.flags = 0;
  launch.struct_size = 4;
  CHECK_INVALID(jitk_kernel_launch(kernel, &launch, &error),
                "launch.struct_size must be the size of the struct: got 4");
  CHECK_INVALID(jitk_kernel_launch(kernel, NULL, &error), "launch must not be null");
  CHECK_INVALID(jitk_kernel_launch(NULL, &launch, &error), "kernel must not be null");

  jitk_device_release(other);
  jitk_kernel_release(kernel);
  jitk_description_release(description);
}

static void compilation(jitk_runtime_t runtime, jitk_device_t device) {
  jitk_kernel_t kernel = NULL;
  jitk_description_t unlucky = describe("matmul m=1 n=13 k=64");
  jitk_description_t broken = describe("matmul m=1 n=17 k=64");
  CHECK(jitk_runtime_kernel(runtime, device, unlucky, &kernel, &error) == JITK_STATUS_UNSUPPORTED);
  CHECK(kernel == NULL);
  CHECK_TEXT(jitk_error_message(error), "n must not be 13: got 13");
  CHECK_TEXT(jitk_error_stage(error), "build");
  CHECK_TEXT(jitk_error_tool_output(error), "stub: bad luck");
  CHECK(strlen(jitk_error_key(error)) == 41);
  jitk_error_release(error);
  CHECK_FAILURE(
      jitk_runtime_kernel(runtime, device, broken, &kernel, &error), JITK_STATUS_INTERNAL,
      "compiled code must be a whole ELF file: got 0 bytes that are none; after compiling matmul "
      "a_layout=row accumulate=false activation=none b_layout=row bias=false dtype=bf16 k=64 m=1 n=17 out_dtype=bf16 "
      "residual=false");
  jitk_description_release(unlucky);
  jitk_description_release(broken);
}

static void plans(jitk_runtime_t runtime, jitk_device_t device) {
  jitk_plan_t plan = NULL;
  jitk_kernel_t kernel = NULL;
  jitk_description_t description = describe("matmul m=1 n=64 k=64");
  jitk_prepare_options_t prepare = {.struct_size = sizeof prepare};
  jitk_plan_options_t chosen = {.struct_size = sizeof chosen, .on_miss = (jitk_miss_t)3};
  CHECK_INVALID(jitk_plan_create_with_options(runtime, &chosen, &plan, &error),
                "options.on_miss must be between 0 and 2: got 3");
  CHECK(plan == NULL);
  CHECK_OK(jitk_plan_create(runtime, &plan, &error));
  CHECK_INVALID(jitk_plan_export(plan, "emulator:sm_90a", "", &error), "path must not be empty");
  CHECK_INVALID(jitk_plan_prepare(plan, &prepare, &error),
                "one of options.device and options.target must be given: got neither");
  prepare.device = device;
  prepare.target = "sm_90a";
  CHECK_INVALID(jitk_plan_prepare(plan, &prepare, &error),
                "one of options.device and options.target must be given: got both");
  CHECK_INVALID(jitk_plan_prepare(plan, NULL, &error), "options must not be null");
  CHECK_INVALID(jitk_plan_add(plan, NULL, 0, &error), "description must not be null");
  CHECK_INVALID(jitk_plan_add_json(plan, "[]", &error), "plan file must be a JSON object");
  CHECK_OK(jitk_plan_seal(plan, &error));
  CHECK_INVALID(jitk_plan_add(plan, description, 0, &error), "plan must not be sealed");
  CHECK_FAILURE(jitk_plan_kernel(plan, device, description, &kernel, &error), JITK_STATUS_NOT_PREPARED,
                "plan is sealed and has no kernel for matmul a_layout=row accumulate=false activation=none "
                "b_layout=row bias=false "
                "dtype=bf16 k=64 m=1 n=64 out_dtype=bf16 residual=false on "
                "emulator:sm_90a");
  CHECK(kernel == NULL);
  jitk_plan_release(plan);
  jitk_description_release(description);
}

/* A path is any bytes but a zero; a report is UTF-8. */
static void strange_paths(void) {
  char folder[] = "/tmp/jitk-\xff-XXXXXX";
  jitk_runtime_t runtime = NULL;
  jitk_text_t text = NULL;
  CHECK(mkdtemp(folder) != NULL);
  runtime = stub_runtime(folder);
  CHECK_OK(jitk_runtime_report(runtime, &text, &error));
  CHECK(strstr(jitk_text_data(text), "\"/tmp/jitk-\xef\xbf\xbd-") != NULL);
  jitk_text_release(text);
  CHECK_OK(jitk_store_list(runtime, 1, &text, &error));
  CHECK(strstr(jitk_text_data(text), "\"/tmp/jitk-\xef\xbf\xbd-") != NULL);
  jitk_text_release(text);
  CHECK_INVALID(jitk_store_export(runtime, "", NULL, &error), "path must not be empty");
  CHECK_INVALID(jitk_store_import(runtime, "", NULL, &error), "path must not be empty");
  jitk_runtime_release(runtime);
}

static void stores(jitk_runtime_t runtime) {
  jitk_text_t list = NULL;
  CHECK_FAILURE(jitk_store_list(runtime, 0, &list, &error), JITK_STATUS_UNAVAILABLE,
                "runtime has no disk store: none was asked for");
  CHECK_FAILURE(jitk_store_collect(runtime, 0, &error), JITK_STATUS_UNAVAILABLE,
                "runtime has no disk store: none was asked for");
}

/* What is to be stored as the fastest: each mistake has words of its own. */
static void configurations(jitk_runtime_t runtime, jitk_device_t device) {
  jitk_description_t open = describe("matmul m=1 n=1 k=1");
  jitk_description_t named = describe("matmul m=1 n=1 k=1 configuration=small");
  jitk_description_t single = describe("gated_delta_rule tokens=1 qk_heads=1 key_dim=64");
  CHECK_INVALID(jitk_runtime_store_configuration(runtime, device, open, "medium", &error),
                "configuration must be small, large: got 'medium'");
  CHECK_INVALID(jitk_runtime_store_configuration(runtime, device, named, "large", &error),
                "description must name no configuration, for which others are stored: got 'small'");
  CHECK(jitk_runtime_store_configuration(runtime, device, single, "large", &error) == JITK_STATUS_INVALID_ARGUMENT);
  CHECK(strstr(jitk_error_message(error),
               "description must be one whose kernel can be built in several ways: got gated_delta_rule") != NULL);
  jitk_error_release(error);
  error = NULL;
  jitk_description_release(single);
  jitk_description_release(named);
  jitk_description_release(open);
}

static void nulls(void) {
  jitk_runtime_retain(NULL);
  jitk_runtime_release(NULL);
  jitk_device_release(NULL);
  jitk_description_release(NULL);
  jitk_plan_release(NULL);
  jitk_plan_cancel(NULL);
  jitk_kernel_release(NULL);
  jitk_artifact_release(NULL);
  jitk_error_release(NULL);
  jitk_text_release(NULL);
  CHECK_TEXT(jitk_error_message(NULL), "");
  CHECK_TEXT(jitk_text_data(NULL), "");
  CHECK_TEXT(jitk_device_name(NULL), "");
  CHECK(jitk_kernel_num_tensors(NULL) == 0);
  CHECK(jitk_plan_size(NULL) == 0);
  CHECK(jitk_artifact_dump(NULL, JITK_DUMP_PTX, NULL) == NULL);
  CHECK_TEXT(jitk_status_name((jitk_status_t)99), "UNKNOWN");
  CHECK_TEXT(jitk_status_name(JITK_STATUS_NOT_PREPARED), "NOT_PREPARED");
}

int main(void) {
  jitk_runtime_t runtime = stub_runtime("");
  jitk_device_t device = NULL;
  CHECK_OK(jitk_device_open(runtime, "emulator:sm_90a", NULL, &device, &error));
  descriptions();
  each_option();
  options();
  devices(runtime, device);
  launches(runtime, device);
  compilation(runtime, device);
  plans(runtime, device);
  stores(runtime);
  configurations(runtime, device);
  strange_paths();
  nulls();
  jitk_device_release(device);
  jitk_runtime_release(runtime);
  return finish();
}
