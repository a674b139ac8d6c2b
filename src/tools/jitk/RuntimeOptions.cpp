#include "src/tools/jitk/RuntimeOptions.h"

#include "src/support/Env.h"
#include "src/tools/jitk/FileOption.h"
#include "src/tools/jitk/NumberOption.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace jitk::tool {

void RuntimeOptions::addTo(CLI::App &verb, bool withJobs) {
  verb.add_option("--store", store,
                  "folder of the kernel store; '' for none (default: $JITK_STORE, else the user's cache)")
      ->type_name("DIR");
  addFile(verb, "--bundle", bundles, "bundle to look into before the store (repeatable; default: $JITK_BUNDLES)");
  verb.add_option("--assembler", assembler,
                  "what makes machine code (default: $JITK_ASSEMBLER, else the first one found)")
      ->check(CLI::IsMember({"ptxas", "nvjitlink", "driver"}));
  verb.add_flag("--tuned", tuned, "build kernels as `jitk tune` measured to be fastest, where it did");
  if (withJobs) {
    addNumber(verb, "--jobs", jobs, "worker threads (default: $JITK_JOBS, else one a core)", 1, 1024)->type_name("N");
  }
}

/// Clears a progress bar that may stand on the line.
static void warn(void *, jitk_log_level_t, const char *category, const char *message) {
  std::fprintf(stderr, "%sjitk: warning: %s: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", category, message);
}

api::Runtime RuntimeOptions::create() const {
  std::vector<const char *> paths;
  for (const std::string &bundle : bundles) {
    paths.push_back(bundle.c_str());
  }
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = store ? store->c_str() : nullptr;
  options.assembler = assembler.empty() ? nullptr : assembler.c_str();
  options.jobs = jobs;
  options.use_tuned = tuned;
  options.bundles = paths.empty() ? nullptr : paths.data();
  options.num_bundles = paths.size();
  options.log = environment().log ? nullptr : warn;
  return api::Runtime::create(&options);
}

void DeviceOptions::addTo(CLI::App &verb) {
  verb.add_option("--device", device, "cuda:0, emulator:sm_90a or emulator:sm_80")->capture_default_str();
  verb.add_option("--mode", mode, "emulator: when asynchronous instructions take effect")
      ->check(CLI::IsMember({"deferred", "immediate"}))
      ->capture_default_str();
  addNumber(verb, "--emulator-seed", emulatorSeed, "emulator: order in which threads run")->capture_default_str();
}

api::Device DeviceOptions::open(const api::Runtime &runtime) const {
  jitk_device_options_t options = {};
  options.struct_size = sizeof options;
  options.emulator_immediate = mode == "immediate";
  options.emulator_seed = emulatorSeed;
  return api::Device::open(runtime, device, &options);
}

std::unique_ptr<timing::Gpu> DeviceOptions::clock() const {
  constexpr std::string_view kGpu = "cuda:";
  return device.starts_with(kGpu) ? std::make_unique<timing::Gpu>(std::stoi(device.substr(kGpu.size()))) : nullptr;
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  // An empty file gives the stream nothing, which counts as a failure of it.
  if (!file || (file.peek() != std::ifstream::traits_type::eof() && !(text << file.rdbuf()))) {
    throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
  }
  return text.str();
}

void writeFile(const std::string &path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), std::streamsize(bytes.size()));
  file.close();
  if (!file) {
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
  }
}

} // namespace jitk::tool
