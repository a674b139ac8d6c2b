// A whole model's plan, from nothing to the seal: compiled, from the store, from a bundle; on how many workers, and in
// how much memory.
//
//   bench_plan PLAN.json... [--limit 200] [--jobs 1,2,4,8,16] [--target sm_90a | --device cuda:0]
//
// Each figure is of a new process. Efficiency is the time of one worker, divided by that of n and by n. Peaks are of
// the memory that the process had resident, the compiler library included; assemblers that are programs are apart.

#include "jitk/jitk.hpp"
#include "tests/support/TemporaryFolder.h"

#include "perf/commit/Commit.h"
#include "perf/overhead/Child.h"
#include "perf/overhead/Samples.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace jitk;
using namespace jitk::perf;
using Clock = std::chrono::steady_clock;

namespace {

struct Options {
  std::vector<std::string> plans;
  size_t limit = 200;
  int repeats = 5;
  std::vector<uint32_t> jobs = {1, 2};
  std::string target = "sm_90a", device;
  bool isolate = false;
};

/// One way to the kernels.
struct Way {
  std::string store, bundle; ///< "": none
  uint32_t jobs = 0;
  std::string exportTo; ///< a bundle that is written after the measurement; "": none
};

/// What a process found.
struct Outcome {
  double seconds;          ///< from an empty plan to the seal
  double baseMiB, peakMiB; ///< with an open runtime and device; at the end
  uint64_t numKernels;
  jitk_counters_t counters;
};

std::string read(const std::string &path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    throw std::runtime_error("cannot read " + path);
  }
  return text;
}

/// The first kernels of several plan files as one.
std::string joinPlans(const Options &options) {
  nlohmann::json kernels = nlohmann::json::array();
  std::set<std::string> known;
  for (const std::string &path : options.plans) {
    const nlohmann::json plan = nlohmann::json::parse(read(path));
    for (const nlohmann::json &kernel : plan.at("kernels")) {
      bool isNew = known.insert(kernel.at("op").dump() + kernel.at("attributes").dump()).second;
      if (isNew && kernels.size() < options.limit) {
        kernels.push_back(kernel);
      }
    }
  }
  return nlohmann::json{{"jitk_plan", 1}, {"kernels", std::move(kernels)}}.dump();
}

Outcome prepare(const Options &options, const std::string &text, const Way &way) {
  Outcome outcome = {};
  const char *bundle = way.bundle.c_str();
  jitk_runtime_options_t given = {};
  given.struct_size = sizeof given;
  given.store_path = way.store.c_str();
  given.jobs = way.jobs;
  given.bundles = &bundle;
  given.num_bundles = way.bundle.empty() ? 0 : 1;
  given.isolate_compiler = options.isolate;
  api::Runtime runtime = api::Runtime::create(&given);
  api::Device device;
  jitk_prepare_options_t how = {};
  how.target = options.target.c_str();
  if (!options.device.empty()) {
    device = api::Device::open(runtime, options.device); // an engine's is open before
    how.device = device.get();
    how.target = nullptr;
  }
  outcome.baseMiB = peakResidentMiB();
  Clock::time_point begin = Clock::now();
  api::Plan plan = api::Plan::create(runtime);
  plan.addJson(text);
  plan.prepare(how);
  plan.wait();
  plan.seal();
  outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  outcome.peakMiB = peakResidentMiB();
  outcome.numKernels = jitk_plan_size(plan.get());
  outcome.counters = runtime.counters();
  if (!way.exportTo.empty()) {
    const std::string target = device ? jitk_device_target(device.get()) : options.target;
    api::Call call;
    call.check(jitk_plan_export(plan.get(), target.c_str(), way.exportTo.c_str(), call.error()));
  }
  return outcome;
}

Outcome prepareInChild(const Options &options, const std::string &text, const Way &way) {
  return Child<Outcome>([&] { return prepare(options, text, way); }).wait();
}

void print(const char *what, uint32_t jobs, const Outcome &outcome, double seconds, double efficiency) {
  std::printf("%-10s %5u %8llu %8llu %9.3f", what, jobs, static_cast<unsigned long long>(outcome.numKernels),
              static_cast<unsigned long long>(outcome.counters.compilations), seconds);
  if (efficiency > 0) {
    std::printf(" %10.2f", efficiency);
  } else {
    std::printf(" %10s", "");
  }
  std::printf(" %9.1f %9.1f\n", outcome.baseMiB, outcome.peakMiB);
  std::fflush(stdout);
}

/// The median of several runs that compile nothing.
void printHits(const Options &options, const std::string &text, const char *what, const Way &way) {
  Samples seconds;
  Outcome outcome = {};
  for (int i = 0; i < options.repeats; ++i) {
    outcome = prepareInChild(options, text, way);
    if (outcome.counters.compilations != 0) {
      throw std::runtime_error(std::string(what) + " start compiled " + std::to_string(outcome.counters.compilations));
    }
    seconds.add(outcome.seconds);
  }
  print(what, way.jobs, outcome, seconds.median(), 0);
}

void run(const Options &options) {
  std::printf("commit %s, build %s, %u processors\n", kCommit, jitk_build_id(), std::thread::hardware_concurrency());
  const std::string text = joinPlans(options);
  std::printf("%-10s %5s %8s %8s %9s %10s %9s %9s\n", "start", "jobs", "kernels", "compiled", "seconds", "efficiency",
              "base MiB", "peak MiB");
  test::TemporaryFolder folder;
  std::map<uint32_t, Outcome> cold;
  for (uint32_t jobs : options.jobs) {
    cold[jobs] = prepareInChild(options, text,
                                {.store = folder.path("store" + std::to_string(jobs)),
                                 .bundle = "",
                                 .jobs = jobs,
                                 .exportTo = folder.path("bundle")});
  }
  for (const auto &[jobs, outcome] : cold) {
    double alone = cold.contains(1) ? cold[1].seconds : 0;
    print("cold", jobs, outcome, outcome.seconds, alone / outcome.seconds / jobs);
  }
  const uint32_t jobs = cold.rbegin()->first;
  printHits(options, text, "store",
            {.store = folder.path("store" + std::to_string(jobs)), .bundle = "", .jobs = jobs, .exportTo = ""});
  printHits(options, text, "bundle", {.store = "", .bundle = folder.path("bundle"), .jobs = jobs, .exportTo = ""});
  std::printf("bundle: %.2f MiB\n", static_cast<double>(std::filesystem::file_size(folder.path("bundle"))) / (1 << 20));
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("a model's plan, from nothing to the seal");
  app.add_option("plans", options.plans, "plan files, as jitk plan writes them")->required()->check(CLI::ExistingFile);
  app.add_option("--limit", options.limit, "how many of their kernels")->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "worker threads; several numbers")->delimiter(',');
  app.add_option("--repeats", options.repeats, "starts that compile nothing")->check(CLI::PositiveNumber);
  app.add_option("--target", options.target, "what is compiled for, without a device");
  app.add_option("--device", options.device, "where kernels are loaded, too");
  app.add_flag("--isolate", options.isolate, "compile in processes of their own");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
    return 0;
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "bench_plan: %s\n", failure.what());
    return 2;
  }
}
