// A process that ends while kernels are compiled ends as it said, whatever the workers are doing.
//
//   exit [COUNT]       see exits.hpp
//   exit WAY DELAY     ends in that way after DELAY microseconds, with 30 kernels on the way and nothing released

#include "jitk/jitk.hpp"

#include "exits.hpp"

namespace {

constexpr const char *kTarget = "emulator:sm_80";

/// What an engine holds; freed by `main` in no way but "static", where it is the engine's own static that does it.
struct Engine {
  jitk_runtime_t runtime = nullptr;
  jitk_device_t device = nullptr;
  jitk_plan_t plan = nullptr;
  bool releases = false;

  ~Engine() {
    if (releases) {
      jitk_plan_release(plan);
      jitk_device_release(device);
      jitk_runtime_release(runtime);
    }
  }
};

Engine engine;

/// Ends the program: what must work before the delay did not.
void demand(jitk_status_t status, const char *what, jitk_error_t error) {
  if (status != JITK_STATUS_OK) {
    std::printf("%s: %s: %s\n", what, jitk_status_name(status), jitk_error_message(error));
    std::fflush(stdout);
    ::_exit(3);
  }
}

jitk_description_t describe(int number) {
  std::string text = "matmul m=64 n=64 k=" + std::to_string(8 + 8 * number);
  jitk_description_t description = nullptr;
  jitk_error_t error = nullptr;
  demand(jitk_description_parse(text.c_str(), &description, &error), "parse", error);
  return description;
}

void begin(bool isolated, jitk_miss_t onMiss) {
  jitk_error_t error = nullptr;
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  options.jobs = 2;
  options.isolate_compiler = isolated;
  options.compiler_library = JITK_COMPILER;
  options.compiler_program = JITK_COMPILER_PROGRAM;
  demand(jitk_runtime_create(&options, &engine.runtime, &error), "runtime", error);
  jitk_plan_options_t plan = {};
  plan.struct_size = sizeof plan;
  plan.on_miss = onMiss;
  demand(jitk_plan_create_with_options(engine.runtime, &plan, &engine.plan, &error), "plan", error);
}

void prepare(jitk_progress_callback_t progress) {
  jitk_error_t error = nullptr;
  for (int i = 0; i < 30; ++i) {
    demand(jitk_plan_add(engine.plan, describe(i), 0, &error), "add", error);
  }
  jitk_prepare_options_t options = {};
  options.struct_size = sizeof options;
  options.target = kTarget;
  options.progress = progress;
  demand(jitk_plan_prepare(engine.plan, &options, &error), "prepare", error);
}

/// Kernels that the background policy makes.
void ask() {
  jitk_error_t error = nullptr;
  demand(jitk_device_open(engine.runtime, kTarget, nullptr, &engine.device, &error), "device", error);
  for (int i = 0; i < 30; ++i) {
    jitk_kernel_t kernel = nullptr;
    (void)jitk_plan_kernel(engine.plan, engine.device, describe(i), &kernel, nullptr); // NOT_PREPARED: it is made
  }
}

/// Kernels that the engine's own thread compiles.
void compile() {
  jitk_error_t error = nullptr;
  demand(jitk_device_open(engine.runtime, kTarget, nullptr, &engine.device, &error), "device", error);
  std::thread([] {
    for (int i = 0; i < 30; ++i) {
      jitk_kernel_t kernel = nullptr;
      (void)jitk_runtime_kernel(engine.runtime, engine.device, describe(i), &kernel, nullptr);
    }
  }).detach();
}

int end(const std::string &way, unsigned delay) {
  begin(way == "isolated", way == "background" ? JITK_MISS_BACKGROUND : JITK_MISS_COMPILE);
  engine.releases = way == "static";
  if (way == "background") {
    ask();
  } else if (way == "thread") {
    compile();
  } else if (way == "callback") {
    // An engine that gives up at the first failure, on the thread that learns of it.
    prepare([](void *, const jitk_progress_t *) { std::exit(0); });
    ::sleep(60);
    return 1;
  } else {
    prepare(nullptr);
  }
  std::this_thread::sleep_for(std::chrono::microseconds(delay));
  if (way == "exit") {
    std::exit(0);
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3) {
    return end(argv[1], static_cast<unsigned>(std::atoi(argv[2])));
  }
  return tryExits(argc, argv, {"return", "exit", "background", "isolated", "static", "thread", "callback"});
}
