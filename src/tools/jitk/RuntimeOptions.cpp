#include "src/tools/jitk/RuntimeOptions.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace jitk::tool {

void RuntimeOptions::addTo(CLI::App &verb, bool withJobs) {
  verb.add_option_function<std::string>(
          "--store",
          [this](const std::string &path) {
            store = path;
            hasStore = true;
          },
          "folder of the kernel store; '' for none (default: $JITK_STORE, else the user's cache folder)")
      ->type_name("DIR");
  verb.add_option("--assembler", assembler, "nvjitlink, ptxas or driver (default: the first one found)")
      ->type_name("NAME");
  if (withJobs) {
    verb.add_option("--jobs", jobs, "worker threads (default: $JITK_JOBS, else one a core)")->type_name("N");
  }
}

api::Runtime RuntimeOptions::create() const {
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = hasStore ? store.c_str() : nullptr;
  options.assembler = assembler.empty() ? nullptr : assembler.c_str();
  options.jobs = jobs;
  return api::Runtime::create(&options);
}

void DeviceOptions::addTo(CLI::App &verb) {
  verb.add_option("--device", device, "cuda:0, emulator:sm_90a or emulator:sm_80")->capture_default_str();
  verb.add_option("--mode", mode, "emulator: when asynchronous instructions take effect")
      ->check(CLI::IsMember({"deferred", "immediate"}))
      ->capture_default_str();
  verb.add_option("--emulator-seed", emulatorSeed, "emulator: order in which threads run")->capture_default_str();
}

api::Device DeviceOptions::open(const api::Runtime &runtime) const {
  jitk_device_options_t options = {};
  options.struct_size = sizeof options;
  options.emulator_immediate = mode == "immediate";
  options.emulator_seed = emulatorSeed;
  return api::Device::open(runtime, device, &options);
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
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

std::string descriptionLine(const std::string &op, const std::vector<std::string> &attributes) {
  std::string line = op;
  for (const std::string &attribute : attributes) {
    line += " " + attribute;
  }
  return line;
}

} // namespace jitk::tool
