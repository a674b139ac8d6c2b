// jitk bench: the time of one launch, the short form of the programs in perf/.

#include "src/tools/checked/CheckedRun.h"
#include "src/tools/jitk/Launcher.h"
#include "src/tools/jitk/NumberOption.h"
#include "src/tools/jitk/ProblemOptions.h"
#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace jitk::tool {
namespace {

struct Options {
  ProblemOptions problem;
  int launches = 20, repeats = 30;
  bool json = false;
  RuntimeOptions runtime;
  DeviceOptions device;
};

} // namespace

static void print(const Options &options, const checked::Outcome &outcome, const api::Device &device,
                  const std::vector<double> &times) {
  double median = medianOf(times), least = times.front();
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
