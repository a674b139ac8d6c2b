// A program that opens libjitk itself, as interpreters do, and closes it, or ends, while kernels are compiled.
//
//   unload [COUNT]       see exits.hpp
//   unload WAY DELAY     ends in that way after DELAY microseconds, with 30 kernels on the way and nothing released

#include "jitk/jitk.h"

#include "exits.hpp"

#include <dlfcn.h>

namespace {

/// A function of the library; ends the program if there is none.
template <typename Function> Function *find(void *library, Function *, const char *name) {
  void *symbol = ::dlsym(library, name);
  if (!symbol) {
    std::printf("%s\n", ::dlerror());
    std::exit(3);
  }
  return reinterpret_cast<Function *>(symbol);
}

#define JITK(name) find(library, static_cast<decltype(&name)>(nullptr), #name)

bool prepare(void *library, jitk_progress_callback_t progress) {
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  options.jobs = 2;
  options.compiler_library = JITK_COMPILER;
  jitk_runtime_t runtime = nullptr;
  jitk_plan_t plan = nullptr;
  if (JITK(jitk_runtime_create)(&options, &runtime, nullptr) != JITK_STATUS_OK ||
      JITK(jitk_plan_create)(runtime, &plan, nullptr) != JITK_STATUS_OK) {
    return false;
  }
  for (int i = 0; i < 30; ++i) {
    std::string text = "matmul m=64 n=64 k=" + std::to_string(8 + 8 * i);
    jitk_description_t description = nullptr;
    (void)JITK(jitk_description_parse)(text.c_str(), &description, nullptr);
    (void)JITK(jitk_plan_add)(plan, description, 0, nullptr);
  }
  jitk_prepare_options_t prepare = {};
  prepare.struct_size = sizeof prepare;
  prepare.target = "emulator:sm_80";
  prepare.progress = progress;
  return JITK(jitk_plan_size)(plan) == 30 && JITK(jitk_plan_prepare)(plan, &prepare, nullptr) == JITK_STATUS_OK;
}

int end(const std::string &way, unsigned delay) {
  void *library = ::dlopen(JITK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::printf("%s\n", ::dlerror());
    return 3;
  }
  bool inCallback = way == "callback";
  auto giveUp = [](void *, const jitk_progress_t *) { std::exit(0); };
  if (!prepare(library, inCallback ? static_cast<jitk_progress_callback_t>(giveUp) : nullptr)) {
    return 3;
  }
  if (inCallback) {
    ::sleep(60);
    return 1;
  }
  std::this_thread::sleep_for(std::chrono::microseconds(delay / 2));
  if (way == "close") {
    ::dlclose(library);
    std::this_thread::sleep_for(std::chrono::microseconds(delay / 2));
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3) {
    return end(argv[1], static_cast<unsigned>(std::atoi(argv[2])));
  }
  return tryExits(argc, argv, {"close", "return", "callback"});
}
