// What jitk costs beside the kernels themselves: compile time stage by stage, hits in the store, the emulator, the size
// of the libraries. Without a GPU.
//
//   bench_overhead                       all of it, as a table
//   bench_overhead --json FILE           and as JSON
//   bench_overhead --check               sizes and store hits against limits that hold on a loaded machine: exit status
//   1

#include "jitk/jitk.hpp"
#include "src/runtime/BuildId.h"
#include "src/runtime/CompilerLibrary.h"

#include "perf/commit/Commit.h"
#include "perf/overhead/BundleTimes.h"
#include "perf/overhead/CompileTimes.h"
#include "perf/overhead/EmulatorSpeed.h"
#include "perf/overhead/LibrarySizes.h"
#include "perf/overhead/StoreHits.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

using namespace jitk;
using namespace jitk::perf;
using nlohmann::json;

namespace {

constexpr double kMegabyte = 1024.0 * 1024.0;

/// A problem and the milliseconds that its compilation may take without the assembler; 0 = no target is set.
struct Subject {
  const char *description;
  double ownTarget;
};

constexpr Subject kSubjects[] = {
    {"matmul m=128 n=4096 k=7168 dtype=bf16 b_layout=col", 60},
    {"flash_attention batch=1 heads=32 kv_heads=8 seq_q=4096 head_dim=128 causal=true", 120},
    {"flash_attention batch=1 heads=16 seq_q=4096 head_dim=192 value_dim=128 causal=true", 0},
    {"fp8_block_matmul m=64 n=4096 k=7168 out_dtype=bf16", 0},
    {"fp8_block_matmul m=4096 n=4096 k=7168 out_dtype=bf16", 0},
    {"matmul m=4096 n=4096 k=7168 dtype=bf16 b_layout=col", 0},
};
constexpr const char *kTargets[] = {"sm_90a", "sm_80"};

struct Library {
  const char *name;
  double limit; ///< bytes
};
constexpr Library kLibraries[] = {{"libjitk.so", 2 * kMegabyte}, {"libjitk-compiler.so", 80 * kMegabyte}};

// Twenty times the 250 us aimed at: a loaded machine preempts.
constexpr double kHitLimit = 5000;

struct Options {
  int compilations = 10, hits = 40, launches = 10;
  std::string hitTarget = "sm_90a", only, jsonFile;
  bool check = false;
};

} // namespace

template <typename T> static T valueOf(Result<T> result) {
  if (!result.ok()) {
    throw std::runtime_error(result.status().toString());
  }
  return *std::move(result);
}

static json toJson(const Samples &samples) {
  return {{"median", samples.median()}, {"p95", samples.quantile(0.95)}, {"least", samples.least()}};
}

/// True if all are within their limits.
static bool reportSizes(json &report) {
  bool within = true;
  for (const Library &library : kLibraries) {
    double bytes = static_cast<double>(strippedBytes(besideLibjitk(library.name)));
    std::printf("%-22s %6.2f MB stripped (limit %.0f)\n", library.name, bytes / kMegabyte, library.limit / kMegabyte);
    report["library_bytes"][library.name] = bytes;
    within &= bytes < library.limit;
  }
  return within;
}

static bool reportHits(const Options &options, json &report) {
  StoreHits hits = measureStoreHits(kSubjects[0].description, options.hitTarget, options.hits);
  json &entry = report["store_hit_us"];
  entry = {{"description", hits.description},
           {"target", hits.target},
           {"code_bytes", hits.codeBytes},
           {"first", hits.first}};
  std::printf("store hits of %s for %s, %llu bytes of code, in microseconds:\n", hits.description.c_str(),
              hits.target.c_str(), static_cast<unsigned long long>(hits.codeBytes));
  std::printf("  %-26s %8.0f\n", "disk, first of the process", hits.first);
  const std::pair<const char *, const Samples *> rows[] = {{"disk_obtain", &hits.diskObtain},
                                                           {"disk_obtain_cold", &hits.coldObtain},
                                                           {"disk_prepare", &hits.diskPrepare},
                                                           {"memory_obtain", &hits.memoryObtain},
                                                           {"memory_prepare", &hits.memoryPrepare}};
  for (const auto &[name, samples] : rows) {
    entry[name] = toJson(*samples);
    std::printf("  %-26s p50 %7.1f  p95 %7.1f\n", name, samples->median(), samples->quantile(0.95));
  }
  return hits.diskObtain.median() < kHitLimit && hits.memoryObtain.median() < kHitLimit;
}

static void reportBundle(json &report) {
  constexpr int kEntries = 1000, kRepeats = 7;
  constexpr size_t kCodeBytes = 60'000;
  BundleTimes times = measureBundle(kEntries, kCodeBytes, kRepeats);
  json &entry = report["bundle_ms"];
  entry = {{"entries", kEntries}, {"code_bytes", kCodeBytes}, {"file_bytes", times.fileBytes}};
  std::printf("bundle of %d entries of %zu bytes of code, in milliseconds:\n", kEntries, kCodeBytes);
  const std::pair<const char *, const Samples *> rows[] = {
      {"open", &times.open}, {"find_all", &times.findAll}, {"import_all", &times.importAll}};
  for (const auto &[name, samples] : rows) {
    entry[name] = toJson(*samples);
    std::printf("  %-26s p50 %7.2f  p95 %7.2f\n", name, samples->median(), samples->quantile(0.95));
  }
}

static void reportCompilation(Compiler &compiler, const Subject &subject, const char *target, int count, json &report) {
  CompileTimes times = valueOf(measureCompileTimes(compiler, subject.description, target, count));
  json entry = {{"description", times.description},
                {"target", times.target},
                {"assembler", times.assembler},
                {"compilations", count},
                {"build_ms", toJson(times.build)},
                {"lower_ms", toJson(times.lower)},
                {"llvm_ms", toJson(times.llvm)},
                {"assemble_ms", toJson(times.assemble)},
                {"own_ms", toJson(times.own)},
                {"own_cpu_ms", times.ownCpu ? toJson(*times.ownCpu) : json()},
                {"own_target_ms", subject.ownTarget},
                {"registers", times.kernel.registers},
                {"spill_bytes", times.kernel.spillBytes},
                {"ptx_bytes", times.ptxBytes}};
  report["compile"].push_back(std::move(entry));
  std::printf("%-7s %7.1f %7.1f %7.1f %8.1f | %7.1f %7.1f %7.0f | %4u %6u %8zu  %s\n", target, times.build.median(),
              times.lower.median(), times.llvm.median(), times.assemble.median(), times.own.median(),
              times.ownCpu ? times.ownCpu->median() : 0.0, subject.ownTarget, times.kernel.registers,
              times.kernel.spillBytes, times.ptxBytes, subject.description);
  std::fflush(stdout);
}

static void reportCompilations(const Options &options, json &report) {
  OpenCompiler opened = valueOf(openCompilerLibrary(besideLibjitk("libjitk-compiler.so"), kBuildId));
  std::printf("compile times in milliseconds, medians of %d; own = build + lower + llvm; cpu = this thread's, own\n",
              options.compilations);
  std::printf("%-7s %7s %7s %7s %8s | %7s %7s %7s | %4s %6s %8s\n", "target", "build", "lower", "llvm", "assemble",
              "own", "cpu", "aim", "regs", "spills", "ptx");
  for (const char *target : kTargets) {
    for (const Subject &subject : kSubjects) {
      if (std::string_view(subject.description).starts_with(options.only)) {
        reportCompilation(*opened.compiler, subject, target, options.compilations, report);
      }
    }
  }
}

static void reportEmulator(const Options &options, json &report) {
  for (const char *target : {"emulator:sm_90a", "emulator:sm_80"}) {
    Samples milliseconds = measureEmulatorSpeed(target, options.launches);
    report["emulator_ms"][target] = toJson(milliseconds);
    std::printf("%s: %.2f ms for a 128 x 128 x 128 fp16 matmul on one worker\n", target, milliseconds.median());
  }
}

static std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown";
}

static int run(const Options &options) {
  std::printf("commit %s, build %s\n", perf::kCommit, jitk_build_id());
  json report = {{"processor", processorName()}, {"commit", perf::kCommit}, {"build", jitk_build_id()}};
  // First, as long as the process is new.
  bool within = reportHits(options, report);
  within &= reportSizes(report);
  if (!options.check) {
    reportBundle(report);
    reportCompilations(options, report);
    reportEmulator(options, report);
  }
  if (!options.jsonFile.empty() && !(std::ofstream(options.jsonFile) << report.dump(2) << '\n').flush()) {
    throw std::runtime_error("cannot write " + options.jsonFile);
  }
  return options.check && !within ? 1 : 0;
}

int main(int argc, char **argv) {
  Options options;
  CLI::App app("what jitk costs beside the kernels themselves");
  app.add_option("--compilations", options.compilations, "compilations of each problem")->check(CLI::PositiveNumber);
  app.add_option("--hits", options.hits, "fresh runtimes that look into the store")->check(CLI::PositiveNumber);
  app.add_option("--launches", options.launches, "launches on the emulator")->check(CLI::PositiveNumber);
  app.add_option("--hit-target", options.hitTarget, "target of the kernel in the store");
  app.add_option("--only", options.only, "compile only problems that begin so");
  app.add_option("--json", options.jsonFile, "write the figures to a file too");
  app.add_flag("--check", options.check, "compare sizes and store hits with their limits; skip the rest");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "bench_overhead: %s\n", failure.what());
    return 2;
  }
}
