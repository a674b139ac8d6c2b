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
  int launches = 20, rounds = 11;
  size_t most = 8;
  bool json = false;
  RuntimeOptions runtime;
  DeviceOptions device;
};

/// One way to build the kernel, and what launches of it took.
struct Candidate {
  std::string name, problem; ///< empty: not timed
  std::vector<Launcher> launcher;
  std::vector<double> times;
};

/// Times differ from run to run: what the model takes stays unless another one gains more than that.
constexpr double kLeastGain = 0.98;

} // namespace

/// Those that the model expects the most of, the one first that it takes.
static std::vector<std::string> namesOf(const Options &options, const api::Runtime &runtime,
                                        const api::Device &device) {
  std::vector<std::string> names;
  for (const auto &each :
       nlohmann::json::parse(runtime.configurations(options.problem.description(), device.target()))) {
    if (names.size() < options.most) {
      names.push_back(each["name"]);
    }
  }
  return names;
}

/// Checks the candidate; what is wrong is not timed.
static Candidate makeCandidate(const Options &options, const api::Runtime &runtime, const api::Device &device,
                               const std::string &name) {
  Candidate candidate{name, "", {}, {}};
  std::string line = options.problem.line() + " configuration=" + name;
  DynamicSizes sizes = options.problem.sizes();
  reference::GivenValues values = options.problem.values();
  try {
    checked::Outcome outcome = checked::run(runtime, device, {line, sizes, 1, values});
    if (outcome.passed()) {
      candidate.launcher.emplace_back(device, outcome.kernel, line, sizes, values);
      candidate.launcher.front().time(options.launches); // warms up
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
    double limit = best ? medianOf(best->times) * (best == &candidates.front() ? kLeastGain : 1) : 0;
    if (!candidate.times.empty() && (!best || medianOf(candidate.times) < limit)) {
      best = &candidate;
    }
  }
  return best;
}

static void print(const Options &options, const std::vector<Candidate> &candidates, const std::string &chosen,
                  const api::Device &device) {
  if (options.json) {
    nlohmann::ordered_json json = {{"description", options.problem.description().text()},
                                   {"device", device.name()},
                                   {"build", jitk_build_id()},
                                   {"configuration", chosen},
                                   {"candidates", nlohmann::ordered_json::array()}};
    for (const Candidate &candidate : candidates) {
      json["candidates"].push_back({{"name", candidate.name}});
      if (candidate.problem.empty()) {
        json["candidates"].back()["median_us"] = medianOf(candidate.times);
      } else {
        json["candidates"].back()["problem"] = candidate.problem;
      }
    }
    std::printf("%s\n", json.dump(2).c_str());
    return;
  }
  Table table({"configuration", ">us", ""});
  for (const Candidate &candidate : candidates) {
    table.add({candidate.name, candidate.times.empty() ? "" : number(medianOf(candidate.times)),
               candidate.name == chosen ? "kept" : candidate.problem});
  }
  std::printf("%s", table.render().c_str());
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
    descriptions.push_back(options.problem.line() + " configuration=" + name);
  }
  checked::prepare(runtime, device.target(), descriptions);
  std::vector<Candidate> candidates;
  for (const std::string &name : names) {
    candidates.push_back(makeCandidate(options, runtime, device, name));
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (Candidate &candidate : candidates) {
      if (candidate.problem.empty()) {
        candidate.times.push_back(candidate.launcher.front().time(options.launches));
      }
    }
  }
  const Candidate *best = fastest(candidates);
  if (best) {
    runtime.storeConfiguration(device, options.problem.description(), best->name);
  }
  print(options, candidates, best ? best->name : "", device);
  bool isWhole = std::ranges::all_of(candidates, [](const auto &candidate) { return candidate.problem.empty(); });
  return isWhole ? kOk : kWrongResult;
}

void addTuneVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("tune", "time the configurations of a kernel on a device and keep the fastest in the "
                                          "store, for runs with --tuned");
  auto options = std::make_shared<Options>();
  options->problem.addTo(*verb, /*withSizes=*/true);
  addNumber(*verb, "--launches", options->launches, "back-to-back launches in one measurement", 1)
      ->capture_default_str();
  addNumber(*verb, "--rounds", options->rounds, "measurements of each, in turns", 1)->capture_default_str();
  addNumber(*verb, "--most", options->most, "configurations, those of which the cost model expects the most", size_t{1})
      ->capture_default_str();
  verb->add_flag("--json", options->json, "as JSON");
  options->device.addTo(*verb);
  options->runtime.addTo(*verb);
  verb->callback([=, &action] { action = [=] { return tune(*options); }; });
}

} // namespace jitk::tool
