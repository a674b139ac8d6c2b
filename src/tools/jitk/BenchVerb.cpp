// jitk bench: the time of one launch, the short form of the programs in perf/.

#include "src/reference/Instance.h"
#include "src/tools/checked/CheckedRun.h"
#include "src/tools/jitk/NumberOption.h"
#include "src/tools/jitk/ProblemOptions.h"
#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace jitk::tool {
namespace {

struct Options {
  ProblemOptions problem;
  int launches = 20, repeats = 30;
  bool json = false;
  RuntimeOptions runtime;
  DeviceOptions device;
};

/// A kernel with tensors to launch it on.
class Launcher {
public:
  Launcher(const api::Device &device, api::Kernel kernel, const std::string &line, const DynamicSizes &sizes,
           const reference::GivenValues &values)
      : device_(device), kernel_(std::move(kernel)) {
    // The description was accepted and the sizes were run before.
    Result<std::vector<reference::HostTensor>> tensors =
        reference::makeTensors(*parseDescription(line), sizes, 1, values);
    scalars_ = reference::makeScalars(*parseDescription(line), values);
    for (const reference::HostTensor &tensor : *tensors) {
      buffers_.emplace_back(device, std::max<size_t>(tensor.bytes.size(), 1));
      device.copyToDevice(buffers_.back().address(), tensor.bytes.data(), tensor.bytes.size());
      addresses_.push_back(buffers_.back().address());
    }
    for (const std::string &name : kernel_.dimensions()) {
      dimensions_.push_back(sizes.find(name)->second);
    }
    workspace_ = api::Buffer(device, std::max<uint64_t>(kernel_.workspaceBytes(dimensions_), 1));
  }

  /// Microseconds of one of `launches` launches back to back, by the host's clock.
  double time(int launches) const {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) {
      kernel_.launch(addresses_, dimensions_, scalars_, workspace_.address(), workspace_.size());
    }
    device_.synchronize();
    std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
    return elapsed.count() / launches;
  }

private:
  api::Device device_;
  api::Kernel kernel_;
  std::vector<api::Buffer> buffers_;
  std::vector<uint64_t> addresses_;
  std::vector<int64_t> dimensions_;
  std::vector<float> scalars_;
  api::Buffer workspace_;
};

} // namespace

static void print(const Options &options, const checked::Outcome &outcome, const api::Device &device,
                  const std::vector<double> &times) {
  double median = times[times.size() / 2], least = times.front();
  if (options.json) {
    nlohmann::ordered_json json = {{"description", outcome.info.description},
                                   {"build", jitk_build_id()},
                                   {"device", device.name()},
                                   {"target", outcome.info.target},
                                   {"launches", options.launches},
                                   {"repeats", options.repeats},
                                   {"median_us", median},
                                   {"least_us", least}};
    std::printf("%s\n", json.dump(2).c_str());
    return;
  }
  std::printf("%s\non %s (%s): %s us a launch, least %s us\nmedian of %d x %d launches back to back by the host's "
              "clock, warm L2, result checked before; build %s\n",
              outcome.info.description, device.name().c_str(), outcome.info.target, number(median).c_str(),
              number(least).c_str(), options.repeats, options.launches, jitk_build_id());
}

static int bench(const Options &options) {
  options.problem.check();
  api::Runtime runtime = options.runtime.create();
  api::Device device = options.device.open(runtime);
  std::string line = options.problem.line();
  DynamicSizes sizes = options.problem.sizes();
  reference::GivenValues values = options.problem.values();
  // A wrong result in no time is no result.
  checked::Outcome outcome = checked::run(runtime, device, {line, sizes, 1, values});
  if (!outcome.passed()) {
    std::fprintf(stderr, "jitk: the result is wrong, so it is not timed: see jitk run --check --seed 1\n");
    return kWrongResult;
  }
  Launcher launcher(device, outcome.kernel, line, sizes, values);
  launcher.time(options.launches); // warms up
  std::vector<double> times;
  for (int i = 0; i < options.repeats; ++i) {
    times.push_back(launcher.time(options.launches));
  }
  std::ranges::sort(times);
  print(options, outcome, device, times);
  return kOk;
}

void addBenchVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("bench", "check one kernel, then time it");
  auto options = std::make_shared<Options>();
  options->problem.addTo(*verb, /*withSizes=*/true);
  addNumber(*verb, "--launches", options->launches, "back-to-back launches in one measurement", 1)
      ->capture_default_str();
  addNumber(*verb, "--repeats", options->repeats, "measurements", 1)->capture_default_str();
  verb->add_flag("--json", options->json, "as JSON");
  options->device.addTo(*verb);
  options->runtime.addTo(*verb);
  verb->callback([=, &action] { action = [=] { return bench(*options); }; });
}

} // namespace jitk::tool
