// jitk prepare: compiles the kernels of a plan into the store.

#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace jitk::tool {
namespace {

struct Options {
  std::string plan, target = "sm_90a";
  RuntimeOptions runtime;
  bool json = false;
};

/// One finished kernel, with what outlives the callback.
struct Record {
  std::string description, key, error;
  jitk_status_t status;
  jitk_kernel_info_t info;
};

/// Set by Ctrl-C: what is being compiled is finished and stored, the rest is not begun.
std::atomic<bool> interrupted = false;

void interrupt(int) { interrupted = true; }

/// Collects records and draws the bar.
class Progress {
public:
  explicit Progress(const api::Plan &plan, bool quiet) : plan_(plan), bar_(!quiet && isatty(STDERR_FILENO)) {}

  static void callback(void *user, const jitk_progress_t *progress) { static_cast<Progress *>(user)->add(*progress); }

  const std::vector<Record> &records() const { return records_; }

  void clear() const {
    if (bar_) {
      std::fprintf(stderr, "\r\033[K");
    }
  }

private:
  void add(const jitk_progress_t &progress) {
    records_.push_back({progress.info->description, progress.info->key ? progress.info->key : "",
                        progress.error ? jitk_error_message(progress.error) : "", progress.status, *progress.info});
    if (interrupted) {
      plan_.cancel();
    }
    if (bar_) {
      constexpr size_t kWidth = 40;
      size_t filled = progress.done * kWidth / progress.total;
      std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
      std::fprintf(stderr, "\r\033[K[%s] %zu/%zu %.60s", bar.c_str(), progress.done, progress.total,
                   progress.info->description);
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
  case JITK_TIER_COMPILED:
    return "compiled";
  case JITK_TIER_JOINED:
    return "joined";
  case JITK_TIER_LOADED:
    return "loaded";
  default:
    return "failed";
  }
}

static void printTable(const std::vector<Record> &records) {
  // The description last: it is longer than a terminal is wide.
  Table table({">build ms", ">lower ms", ">LLVM ms", ">assemble ms", ">registers", ">spills", ">shared", ">size",
               "from", "kernel"});
  for (const Record &record : records) {
    const jitk_kernel_info_t &info = record.info;
    if (record.status == JITK_STATUS_OK) {
      table.add({number(info.build_ms), number(info.lower_ms), number(info.llvm_ms), number(info.assemble_ms),
                 std::to_string(info.registers), std::to_string(info.spill_bytes), byteCount(info.shared_bytes),
                 byteCount(info.code_bytes), tierName(info.tier), record.description});
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
  std::printf("%s\n", all.dump(2).c_str());
}

/// The last lines: how many of each kind, and every failure. Returns the exit code: 3 if only the machine is at fault.
static int summarize(const std::vector<Record> &records) {
  size_t hits = 0, compiled = 0, failed = 0, cancelled = 0, unavailable = 0;
  for (const Record &record : records) {
    cancelled += record.status == JITK_STATUS_CANCELLED;
    if (record.status != JITK_STATUS_OK && record.status != JITK_STATUS_CANCELLED) {
      ++failed;
      unavailable += record.status == JITK_STATUS_UNAVAILABLE;
      std::fprintf(stderr, "jitk: %s: %s\n", record.description.c_str(), record.error.c_str());
    }
    compiled += record.status == JITK_STATUS_OK && record.info.tier == JITK_TIER_COMPILED;
    hits += record.status == JITK_STATUS_OK && record.info.tier != JITK_TIER_COMPILED;
  }
  std::fprintf(stderr, "%zu kernels: %zu from the store, %zu compiled, %zu failed, %zu not begun\n", records.size(),
               hits, compiled, failed, cancelled);
  return failed == 0 ? kOk : failed == unavailable ? kEnvironment : kWrongResult;
}

static int prepare(const Options &options) {
  api::Runtime runtime = options.runtime.create();
  api::Plan plan = api::Plan::create(runtime);
  plan.addJson(readFile(options.plan));
  Progress progress(plan, options.json);
  std::signal(SIGINT, interrupt);

  jitk_prepare_options_t prepareOptions = {};
  prepareOptions.target = options.target.c_str();
  prepareOptions.progress = Progress::callback;
  prepareOptions.progress_user = &progress;
  plan.prepare(prepareOptions);
  try {
    plan.wait();
  } catch (const api::Exception &) {
    // Each kernel's failure is in its record.
  }
  progress.clear();
  if (options.json) {
    printJson(progress.records());
  } else {
    printTable(progress.records());
  }
  int code = summarize(progress.records());
  if (interrupted) {
    std::fprintf(stderr, "jitk: interrupted; what was compiled is in the store\n");
    return kEnvironment;
  }
  return code;
}

void addPrepareVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("prepare", "compile the kernels of a plan into the store");
  auto options = std::make_shared<Options>();
  verb->add_option("plan", options->plan, "plan file, as jitk plan writes it")->required()->check(CLI::ExistingFile);
  verb->add_option("--target", options->target, "sm_90a, sm_80, ..., or emulator:sm_90a")->capture_default_str();
  verb->add_flag("--json", options->json, "records as JSON");
  options->runtime.addTo(*verb, /*withJobs=*/true);
  verb->callback([=, &action] { action = [=] { return prepare(*options); }; });
}

} // namespace jitk::tool
