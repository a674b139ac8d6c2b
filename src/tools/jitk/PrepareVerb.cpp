// jitk prepare: compiles the kernels of a plan into the store.

#include "src/ops/JsonText.h"
#include "src/tools/jitk/FileOption.h"
#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

namespace jitk::tool {
namespace {

struct Options {
  std::string plan, target = "sm_90a", bundle, trace;
  RuntimeOptions runtime;
  bool json = false;
};

/// One finished kernel, with what outlives the callback.
struct Record {
  std::string description, key, error;
  jitk_status_t status;
  jitk_kernel_info_t info; ///< its strings are gone
};

/// Set by Ctrl-C: what is being compiled is finished and stored, the rest is not begun.
std::atomic<bool> interrupted = false;

void interrupt(int) {
  interrupted = true;
  constexpr std::string_view kMessage =
      "\njitk: interrupted: finishing what is being compiled; Ctrl-C again ends at once\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
}

/// Collects records and draws the bar. Written by one worker at a time, read when the preparation has ended.
class Progress {
public:
  Progress(const api::Plan &plan, bool quiet) : plan_(plan), bar_(!quiet && isatty(STDERR_FILENO)) {}

  static void callback(void *user, const jitk_progress_t *progress) { static_cast<Progress *>(user)->add(*progress); }

  const std::vector<Record> &records() const { return records_; }

  void clear() const {
    if (bar_) {
      std::fprintf(stderr, "\r\033[K");
    }
  }

private:
  void add(const jitk_progress_t &progress) {
    const jitk_kernel_info_t &info = *progress.info;
    records_.push_back({info.description, info.key ? info.key : "",
                        progress.error ? jitk_error_message(progress.error) : "", progress.status, info});
    // Here, not in the handler, which must not call the library; no worker begins another kernel before this returns.
    if (interrupted) {
      plan_.cancel();
    }
    if (bar_) {
      constexpr size_t kWidth = 40;
      size_t filled = progress.done * kWidth / progress.total;
      std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
      std::fprintf(stderr, "\r\033[K[%s] %zu/%zu %.60s", bar.c_str(), progress.done, progress.total, info.description);
    }
  }

  const api::Plan &plan_;
  bool bar_;
  std::vector<Record> records_;
};

} // namespace

static const char *tierName(jitk_tier_t tier) {
  switch (tier) {
  case JITK_TIER_MEMORY:
    return "memory";
  case JITK_TIER_DISK:
    return "store";
  case JITK_TIER_BUNDLE:
    return "bundle";
  case JITK_TIER_SHARED:
    return "shared";
  case JITK_TIER_COMPILED:
    return "compiled";
  case JITK_TIER_JOINED:
    return "joined";
  case JITK_TIER_LOADED:
    return "loaded";
  case JITK_TIER_EQUAL:
    return "equal";
  default:
    return "failed";
  }
}

static void printTable(const std::vector<Record> &records) {
  Table table({"kernel", ">build ms", ">lower ms", ">LLVM ms", ">assemble ms", ">registers", ">spills", ">shared",
               ">size", "from"});
  for (const Record &record : records) {
    const jitk_kernel_info_t &info = record.info;
    if (record.status == JITK_STATUS_OK) {
      table.add({labelOf(record.description), number(info.build_ms), number(info.lower_ms), number(info.llvm_ms),
                 number(info.assemble_ms), ofGpu(info.registers, info.target), ofGpu(info.spill_bytes, info.target),
                 byteCount(info.shared_bytes), byteCount(info.code_bytes), tierName(info.tier)});
    }
  }
  if (!table.empty()) {
    std::printf("%s\n", table.render().c_str());
  }
}

static void printJson(const std::vector<Record> &records) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Record &record : records) {
    const jitk_kernel_info_t &info = record.info;
    all.push_back({{"description", record.description},
                   {"key", record.key},
                   {"status", jitk_status_name(record.status)},
                   {"error", record.error},
                   {"from", tierName(info.tier)},
                   {"build_ms", info.build_ms},
                   {"lower_ms", info.lower_ms},
                   {"llvm_ms", info.llvm_ms},
                   {"assemble_ms", info.assemble_ms},
                   {"registers", info.registers},
                   {"spill_bytes", info.spill_bytes},
                   {"shared_bytes", info.shared_bytes},
                   {"code_bytes", info.code_bytes}});
  }
  std::printf("%s\n", jsonText(all).c_str());
}

/// What fails all kernels (no compiler, no assembler) is said a few times only.
static constexpr size_t kFailuresShown = 5;

/// Prints how many kernels came from where, and the first failures. Returns the exit code of
/// the gravest: ours before the plan's before the machine's.
static ExitCode summarize(const std::vector<Record> &records, double seconds) {
  size_t found = 0, compiled = 0, equal = 0, failed = 0, cancelled = 0;
  ExitCode code = kOk;
  for (const Record &record : records) {
    if (record.status == JITK_STATUS_OK) {
      ++(record.info.tier == JITK_TIER_COMPILED ? compiled : record.info.tier == JITK_TIER_EQUAL ? equal : found);
    } else if (record.status == JITK_STATUS_CANCELLED) {
      ++cancelled;
    } else {
      ExitCode own = exitCodeOf(record.status);
      code = code == kOk ? own : std::min(code, own);
      if (++failed <= kFailuresShown) {
        std::fprintf(stderr, "jitk: %s: %s\n", labelOf(record.description).c_str(), record.error.c_str());
      }
    }
  }
  if (failed > kFailuresShown) {
    std::fprintf(stderr, "jitk: %zu more kernels failed: --json shows all\n", failed - kFailuresShown);
  }
  std::fprintf(stderr, "%zu kernels in %s s: %zu found, %zu compiled, %zu failed, %zu not begun%s\n", records.size(),
               number(seconds).c_str(), found, compiled, failed, cancelled,
               equal > 0 ? (", " + std::to_string(equal) + " the same as others").c_str() : "");
  return code;
}

/// Whether the store has what was compiled for it: where it could not be written, or is too small, the work is lost
/// with this process.
static ExitCode checkStored(const api::Runtime &runtime, const std::vector<Record> &records) {
  auto store = nlohmann::json::parse(runtime.listStore());
  std::set<std::string> keys;
  for (const auto &entry : store["entries"]) {
    keys.insert(entry["key"].get<std::string>());
  }
  size_t missing = 0, compiled = 0;
  for (const Record &record : records) {
    bool isNew = record.info.tier == JITK_TIER_COMPILED || record.info.tier == JITK_TIER_EQUAL;
    if (record.status == JITK_STATUS_OK && isNew) {
      ++compiled;
      missing += keys.contains(record.key) ? 0 : 1;
    }
  }
  if (missing == 0) {
    return kOk;
  }
  std::fprintf(stderr, "jitk: %zu of %zu new kernels are not in the store %s\n", missing, compiled,
               store["folder"].get<std::string>().c_str());
  return kEnvironment;
}

/// The first Ctrl-C sets `interrupted`, the second ends the process: a store is whole at any time.
static void handleInterrupts() {
  struct sigaction action = {};
  action.sa_handler = interrupt;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
}

/// Adds the kernels of a plan file; what is wrong with the file is said with its name.
static void addPlanFile(api::Plan &plan, const std::string &path) {
  try {
    plan.addJson(readFile(path));
  } catch (const api::Exception &failure) {
    if (exitCodeOf(failure.status()) != kUsage) {
      throw;
    }
    throw std::invalid_argument(path + ": " + failure.what());
  }
}

static int prepare(const Options &options) {
  api::Runtime runtime = options.runtime.create();
  if (options.bundle.empty()) {
    runtime.listStore(); // fails where there is no store, and so nowhere to put the kernels
  }
  api::Plan plan = api::Plan::create(runtime);
  addPlanFile(plan, options.plan);
  Progress progress(plan, options.json);
  handleInterrupts();

  jitk_prepare_options_t prepareOptions = {};
  prepareOptions.target = options.target.c_str();
  prepareOptions.progress = Progress::callback;
  prepareOptions.progress_user = &progress;
  auto begin = std::chrono::steady_clock::now();
  plan.prepare(prepareOptions);
  jitk_plan_wait(plan.get(), api::Plan::kForever, nullptr); // each kernel's failure is in its record
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;

  progress.clear();
  if (options.json) {
    printJson(progress.records());
  } else {
    printTable(progress.records());
  }
  std::fflush(stdout); // both may go to one file: the table stands before what is said of it
  if (!options.trace.empty()) {
    writeFile(options.trace, plan.trace());
  }
  ExitCode code = summarize(progress.records(), elapsed.count());
  if (interrupted) {
    std::fprintf(stderr, "jitk: interrupted: what was compiled is in the store\n");
    return kEnvironment;
  }
  if (code != kOk) {
    return code;
  }
  if (!options.bundle.empty()) {
    plan.exportBundle(options.target, options.bundle);
    return kOk;
  }
  return checkStored(runtime, progress.records());
}

void addPrepareVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("prepare", "compile the kernels of a plan into the store");
  auto options = std::make_shared<Options>();
  verb->add_option("plan", options->plan, "plan file, as jitk plan writes it")->required()->check(CLI::ExistingFile);
  verb->add_option("--target", options->target, "sm_90a, sm_80, ..., or emulator:sm_90a")->capture_default_str();
  addFile(*verb, "--export", options->bundle, "also write the plan's kernels into this file, a bundle");
  addFile(*verb, "--trace", options->trace, "also write when each stage ran, as Chrome's trace events");
  verb->add_flag("--json", options->json, "records as JSON");
  options->runtime.addTo(*verb, /*withJobs=*/true);
  verb->callback([=, &action] { action = [=] { return prepare(*options); }; });
}

} // namespace jitk::tool
