// jitk bench: the time of one launch, the short form of the programs in perf/.

#include "src/reference/Instance.h"
#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace jitk::tool {
namespace {

struct Options {
  std::string op;
  std::vector<std::string> attributes;
  int launches = 20, repeats = 30;
  RuntimeOptions runtime;
  DeviceOptions device;
};

} // namespace

template <typename T> static T valueOf(Result<T> result) {
  if (!result.ok()) {
    throw std::invalid_argument(result.status().toString());
  }
  return *std::move(result);
}

static int bench(const Options &options) {
  std::string line = descriptionLine(options.op, options.attributes);
  api::Runtime runtime = options.runtime.create();
  api::Device device = options.device.open(runtime);
  Description description = valueOf(parseDescription(line));
  api::Kernel kernel = api::Kernel::obtain(runtime, device, api::Description::parse(line));

  std::vector<api::Buffer> buffers;
  std::vector<uint64_t> addresses;
  for (const reference::HostTensor &tensor : valueOf(reference::makeTensors(description, {}, 1))) {
    buffers.emplace_back(device, std::max<size_t>(tensor.bytes.size(), 1));
    device.copyToDevice(buffers.back().address(), tensor.bytes.data(), tensor.bytes.size());
    addresses.push_back(buffers.back().address());
  }
  std::vector<double> times;
  for (int repeat = 0; repeat <= options.repeats; ++repeat) {
    auto begin = std::chrono::steady_clock::now();
    for (int launch = 0; launch < options.launches; ++launch) {
      kernel.launch(addresses);
    }
    device.synchronize();
    std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
    if (repeat > 0) { // the first one warms up
      times.push_back(elapsed.count() / options.launches);
    }
  }
  std::ranges::sort(times);
  std::printf("%s on %s: %s us a launch (median of %d x %d back-to-back launches by the host's clock, warm L2; least "
              "%s)\n",
              kernel.info().description, device.name().c_str(), number(times[times.size() / 2]).c_str(),
              options.repeats, options.launches, number(times.front()).c_str());
  return kOk;
}

void addBenchVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("bench", "time one kernel with static dimensions");
  auto options = std::make_shared<Options>();
  verb->add_option("op", options->op, "an op of jitk ops")->required();
  verb->add_option("attributes", options->attributes, "name=value ...");
  verb->add_option("--launches", options->launches, "back-to-back launches in one measurement")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--repeats", options->repeats, "measurements")->check(CLI::PositiveNumber)->capture_default_str();
  options->device.addTo(*verb);
  options->runtime.addTo(*verb);
  verb->callback([=, &action] { action = [=] { return bench(*options); }; });
}

} // namespace jitk::tool
