// jitk tune: measures the configurations of a kernel on a device and keeps the fastest in the store.

#include "src/ops/OpSchema.h"
#include "src/tools/checked/CheckedRun.h"
#include "src/tools/checked/Prepare.h"
#include "src/tools/jitk/Launcher.h"
#include "src/tools/jitk/NumberOption.h"
#include "src/tools/jitk/ProblemOptions.h"
#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace jitk::tool {
namespace {

struct Options {
  ProblemOptions problem;
  timing::Protocol protocol;
  size_t most = 8;
  bool json = false;
  RuntimeOptions runtime;
  DeviceOptions device;
};

/// One way to build the kernel, and what launches of it took.
struct Candidate {
  std::string name;                   ///< empty: as it is built by default
  std::string problem;                ///< why it is not timed
  std::unique_ptr<Launcher> launcher; ///< null where it is not
  std::vector<double> times;
};

/// Times differ from run to run: what the model takes stays unless another one gains more than that.
constexpr double kLeastGain = 0.98;

} // namespace

/// Those that the model expects the most of. The default is first: of sizes that are known at launch a kernel that may
/// have a variant for each range of them, which no configuration has; of others it is the first configuration.
static std::vector<std::string> namesOf(const Options &options, const api::Runtime &runtime,
                                        const api::Device &device) {
  std::vector<std::string> names;
  nlohmann::json configurations =
      nlohmann::json::parse(runtime.configurations(options.problem.description(), device.target()));
  if (!configurations.empty() && !options.problem.sizes().empty()) {
    names.emplace_back();
  }
  for (size_t i = 0; i < std::min(options.most, configurations.size()); ++i) {
    names.push_back(configurations[i]["name"]);
  }
  return names;
}

static std::string descriptionOf(const Options &options, const std::string &name) {
  return options.problem.line() + (name.empty() ? "" : " configuration=" + name);
}

/// Checks the candidate; what is wrong is not timed.
static Candidate makeCandidate(const Options &options, const api::Runtime &runtime, const api::Device &device,
                               const std::string &name) {
  Candidate candidate{name, "", nullptr, {}};
  std::string line = descriptionOf(options, name);
  DynamicSizes sizes = options.problem.sizes();
  reference::GivenValues values = options.problem.values();
  try {
    checked::Outcome outcome = checked::run(runtime, device, {line, sizes, 1, values});
    if (outcome.passed()) {
      candidate.launcher = std::make_unique<Launcher>(device, outcome.kernel, line, sizes, values);
    } else {
      candidate.problem = "the result is wrong";
    }
  } catch (const api::Exception &failure) {
    candidate.problem = failure.what();
  }
  return candidate;
}

/// The fastest one; null where none was timed.
static const Candidate *fastest(const std::vector<Candidate> &candidates) {
  const Candidate *best = nullptr;
  for (const Candidate &candidate : candidates) {
    double limit = best ? timing::median(best->times) * (best == &candidates.front() ? kLeastGain : 1) : 0;
    if (!candidate.times.empty() && (!best || timing::median(candidate.times) < limit)) {
      best = &candidate;
    }
  }
  return best;
}

static void print(const Options &options, const std::vector<Candidate> &candidates, const Candidate *best,
                  const api::Device &device) {
  if (options.json) {
    nlohmann::ordered_json json = {{"description", options.problem.description().text()},
                                   {"device", device.name()},
                                   {"build", jitk_build_id()},
                                   {"configuration", best ? nlohmann::ordered_json(best->name) : nullptr},
                                   {"candidates", nlohmann::ordered_json::array()}};
    for (const Candidate &candidate : candidates) {
      json["candidates"].push_back({{"name", candidate.name}});
      if (candidate.problem.empty()) {
        json["candidates"].back()["median_us"] = timing::median(candidate.times);
      } else {
        json["candidates"].back()["problem"] = candidate.problem;
      }
    }
    std::printf("%s\n", json.dump(2).c_str());
    return;
  }
  Table table({"configuration", ">us", ""});
  for (const Candidate &candidate : candidates) {
    table.add({candidate.name.empty() ? "default" : candidate.name,
               candidate.times.empty() ? "" : number(timing::median(candidate.times)),
               &candidate == best ? "kept" : candidate.problem});
  }
  std::printf("%s", table.render().c_str());
}

static void timeAll(const Options &options, const api::Device &device, std::vector<Candidate> &candidates) {
  std::vector<Candidate *> timed;
  std::vector<Enqueue> works;
  for (Candidate &candidate : candidates) {
    if (candidate.launcher) {
      timed.push_back(&candidate);
      works.emplace_back([&candidate](void *stream) { candidate.launcher->enqueue(stream); });
    }
  }
  std::vector<std::vector<double>> times = timeInTurns(device, options.device.clock().get(), works, options.protocol);
  for (size_t i = 0; i < timed.size(); ++i) {
    timed[i]->times = std::move(times[i]);
  }
}

static int tune(const Options &options) {
  options.problem.check();
  Description description = *parseDescription(options.problem.line());
  if (auto named = description.attributes().find("configuration");
      named != description.attributes().end() && named->second != AttributeValue(std::string())) {
    throw std::invalid_argument("configuration must be left to tune: got '" + description.word("configuration") + "'");
  }
  api::Runtime runtime = options.runtime.create();
  api::Device device = options.device.open(runtime);
  std::vector<std::string> names = namesOf(options, runtime, device);
  if (names.empty()) {
    std::printf("there is one way to build this kernel for %s\n", device.target().c_str());
    return kOk;
  }
  std::vector<std::string> descriptions;
  for (const std::string &name : names) {
    descriptions.push_back(descriptionOf(options, name));
  }
  checked::prepare(runtime, device.target(), descriptions);
  std::vector<Candidate> candidates;
  for (const std::string &name : names) {
    candidates.push_back(makeCandidate(options, runtime, device, name));
  }
  timeAll(options, device, candidates);
  const Candidate *best = fastest(candidates);
  if (best) {
    runtime.storeConfiguration(device, options.problem.description(), best->name);
  }
  print(options, candidates, best, device);
  bool isWhole = std::ranges::all_of(candidates, [](const auto &candidate) { return candidate.problem.empty(); });
  return isWhole ? kOk : kWrongResult;
}

void addTuneVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("tune", "time the configurations of a kernel on a device and keep the fastest in the "
                                          "store, for runs with --tuned");
  auto options = std::make_shared<Options>();
  options->problem.addTo(*verb, /*withSizes=*/true);
  addNumber(*verb, "--launches", options->protocol.calls, "most launches in one measurement", 1)->capture_default_str();
  addNumber(*verb, "--rounds", options->protocol.replays, "measurements of each, in turns", 1)->capture_default_str();
  addNumber(*verb, "--most", options->most, "configurations, those of which the cost model expects the most", size_t{1})
      ->capture_default_str();
  verb->add_flag("--json", options->json, "as JSON");
  options->device.addTo(*verb);
  options->runtime.addTo(*verb);
  verb->callback([=, &action] { action = [=] { return tune(*options); }; });
}

} // namespace jitk::tool
