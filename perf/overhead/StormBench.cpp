// A cold storm: many processes that begin at once and want the same kernels, over one empty store, as the ranks of an
// engine do at its first start. How long it takes beside one process alone, whether each kernel is compiled once, and
// how late a thread wakes meanwhile that wants to run each millisecond, as a heartbeat does.
//
//   bench_storm --processes 8,64 --kernels 50 --trials 5 [--worker-nice 10] [--jobs 16] [--folder /dev/shm]
//
// Trials of one process and of many take turns; the ratio is the median of the pairs. Without a GPU.

#include "jitk/jitk.hpp"
#include "tests/support/TemporaryFolder.h"

#include "perf/commit/Commit.h"
#include "perf/overhead/Child.h"
#include "perf/overhead/Samples.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace jitk;
using namespace jitk::perf;
using Clock = std::chrono::steady_clock;

namespace {

struct Options {
  std::vector<int> processes = {8, 64};
  int kernels = 50, trials = 5;
  bool heartbeats = true;
  uint32_t jobs = 0, workerNice = 0;
  std::string target = "sm_90a", folder = "/tmp", compiler;
};

double milliseconds(Clock::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

/// A thread that wants to run each millisecond. How late it ran, in milliseconds, until it is stopped.
class Heartbeat {
public:
  Heartbeat() : thread_([this] { beat(); }) {}
  ~Heartbeat() { stop(); }
  const Samples &stop() {
    stopped_ = true;
    if (thread_.joinable()) {
      thread_.join();
    }
    return lateness_;
  }

private:
  void beat() {
    constexpr std::chrono::milliseconds kPeriod(1);
    for (Clock::time_point due = Clock::now() + kPeriod; !stopped_; due = std::max(due, Clock::now()) + kPeriod) {
      std::this_thread::sleep_until(due);
      lateness_.add(milliseconds(Clock::now() - due));
    }
  }

  std::atomic<bool> stopped_ = false;
  Samples lateness_;
  std::thread thread_; ///< last: it uses all of the above
};

/// What one process found.
struct Outcome {
  Clock::time_point end;
  uint64_t compilations;
  double typicalLateness, worstLateness, peakMiB;
};

/// Processes that wait here are let go at once: when the parent closes its end.
class Gate {
public:
  Gate() {
    if (::pipe(ready_) != 0 || ::pipe(go_) != 0) {
      throw std::runtime_error("cannot make a pipe");
    }
  }
  ~Gate() {
    for (int end : {ready_[0], ready_[1], go_[0], go_[1]}) {
      ::close(end);
    }
  }
  Gate(const Gate &) = delete;

  void wait() {
    ::close(go_[1]);
    char byte = 0;
    if (::write(ready_[1], &byte, 1) != 1 || ::read(go_[0], &byte, 1) != 0) {
      throw std::runtime_error("the gate is broken");
    }
  }
  Clock::time_point open(size_t count) {
    for (char byte; count > 0; --count) {
      if (::read(ready_[0], &byte, 1) != 1) {
        throw std::runtime_error("a process did not come to the gate");
      }
    }
    Clock::time_point now = Clock::now();
    ::close(go_[1]);
    go_[1] = ::dup(go_[0]); // something for the destructor to close
    return now;
  }

private:
  int ready_[2], go_[2];
};

Outcome prepareAll(const Options &options, const std::string &store, Gate &gate) {
  jitk_runtime_options_t given = {};
  given.struct_size = sizeof given;
  given.store_path = store.c_str();
  given.jobs = options.jobs;
  given.worker_nice = options.workerNice;
  given.compiler_library = options.compiler.empty() ? nullptr : options.compiler.c_str();
  api::Runtime runtime = api::Runtime::create(&given);
  api::Plan plan = api::Plan::create(runtime);
  for (int i = 0; i < options.kernels; ++i) {
    plan.add(api::Description::parse("matmul m=* k=1024 n=" + std::to_string(128 * (i + 1))));
  }
  jitk_prepare_options_t prepare = {};
  prepare.target = options.target.c_str();
  gate.wait();
  std::optional<Heartbeat> heartbeat;
  if (options.heartbeats) {
    heartbeat.emplace();
  }
  plan.prepare(prepare);
  plan.wait();
  Outcome outcome = {};
  outcome.end = Clock::now();
  outcome.compilations = runtime.counters().compilations;
  if (heartbeat) {
    const Samples &lateness = heartbeat->stop();
    outcome.typicalLateness = lateness.quantile(0.999);
    outcome.worstLateness = lateness.quantile(1);
  }
  outcome.peakMiB = peakResidentMiB();
  return outcome;
}

/// What a storm of some number of processes came to.
struct Storm {
  double milliseconds = 0, typicalLateness = 0, worstLateness = 0, peakMiB = 0;
  uint64_t compilations = 0;
};

Storm storm(const Options &options, int numProcesses) {
  test::TemporaryFolder folder{std::filesystem::path(options.folder)};
  Gate gate;
  std::vector<Child<Outcome>> children;
  for (int i = 0; i < numProcesses; ++i) {
    children.emplace_back([&] { return prepareAll(options, folder.path("store"), gate); });
  }
  Clock::time_point begin = gate.open(children.size());
  Storm result;
  for (Child<Outcome> &child : children) {
    Outcome outcome = child.wait();
    result.milliseconds = std::max(result.milliseconds, milliseconds(outcome.end - begin));
    result.typicalLateness = std::max(result.typicalLateness, outcome.typicalLateness);
    result.worstLateness = std::max(result.worstLateness, outcome.worstLateness);
    result.peakMiB = std::max(result.peakMiB, outcome.peakMiB);
    result.compilations += outcome.compilations;
  }
  return result;
}

/// The trials of one number of processes.
struct Row {
  Samples milliseconds, ratio, typicalLateness, worstLateness;
  double peakMiB = 0;
  uint64_t fewest = UINT64_MAX, most = 0;

  void add(const Storm &storm, const Storm &alone) {
    milliseconds.add(storm.milliseconds);
    ratio.add(storm.milliseconds / alone.milliseconds);
    typicalLateness.add(storm.typicalLateness);
    worstLateness.add(storm.worstLateness);
    peakMiB = std::max(peakMiB, storm.peakMiB);
    fewest = std::min(fewest, storm.compilations);
    most = std::max(most, storm.compilations);
  }
  void print(int numProcesses) const {
    std::printf("%9d %6llu..%-6llu %9.0f %9.0f %7.2f %7.2f %9.2f %9.2f %9.0f\n", numProcesses,
                static_cast<unsigned long long>(fewest), static_cast<unsigned long long>(most), milliseconds.median(),
                milliseconds.quantile(0.95), ratio.median(), ratio.quantile(0.95), typicalLateness.median(),
                worstLateness.quantile(1), peakMiB);
  }
};

void run(const Options &options) {
  std::printf("commit %s, build %s, %u processors\n", kCommit, jitk_build_id(), std::thread::hardware_concurrency());
  std::map<int, Row> rows;
  for (int trial = 0; trial < options.trials; ++trial) {
    Storm alone = storm(options, 1);
    rows[1].add(alone, alone);
    for (int numProcesses : options.processes) {
      rows[numProcesses].add(storm(options, numProcesses), alone);
    }
  }
  std::printf("%d kernels, %d trials; lateness is of a thread that wants to run each millisecond, in ms\n",
              options.kernels, options.trials);
  std::printf("%9s %14s %9s %9s %7s %7s %9s %9s %9s\n", "processes", "compilations", "ms, p50", "p95", "ratio", "p95",
              "late 99.9", "worst", "peak MiB");
  for (const auto &[numProcesses, row] : rows) {
    row.print(numProcesses);
  }
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("processes that want the same kernels at once, over one empty store");
  app.add_option("--processes", options.processes, "how many begin at once; several numbers")->delimiter(',');
  app.add_option("--kernels", options.kernels, "kernels that each wants")->check(CLI::PositiveNumber);
  app.add_option("--trials", options.trials, "storms of each size")->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "worker threads of each process (default: one a core)");
  app.add_option("--worker-nice", options.workerNice, "as in jitk_runtime_options_t; 4294967295 = none");
  app.add_option("--target", options.target, "what is compiled for");
  app.add_option("--folder", options.folder, "where the store is made");
  app.add_flag("!--no-heartbeats", options.heartbeats, "no such thread: many of them are work for few processors");
  app.add_option("--compiler", options.compiler, "compiler library (default: the one beside libjitk)");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
    return 0;
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "bench_storm: %s\n", failure.what());
    return 2;
  }
}
