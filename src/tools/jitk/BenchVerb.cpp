// jitk bench: the time of one launch, the short form of the programs in perf/, which time peers beside it.

#include "src/ops/UserKernel.h"
#include "src/reference/Work.h"
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

/// Of the compiler without the assembler.
static double ownMilliseconds(const jitk_kernel_info_t &info) { return info.build_ms + info.lower_ms + info.llvm_ms; }

/// The rate of the unit that bounds the problem, in words; with what part of the roof that is where the roof is known.
static std::string rateOf(const reference::Work &work, double microseconds, bool isHopper) {
  std::string rate = work.isBoundByMemory() ? number(work.bytes / microseconds * 1e-3) + " GB/s"
                                            : number(work.flops / microseconds * 1e-6) + " TFLOP/s";
  return isHopper ? rate + ", " + number(100 * work.roof() / microseconds) + " % of an H200's roof" : rate;
}

static void print(const Options &options, const checked::Outcome &outcome, const api::Device &device,
                  const reference::Work &work, const std::vector<double> &times) {
  double median = medianOf(times), least = times.front();
  std::string_view target = outcome.info.target;
  bool isEmulator = target.starts_with("emulator:");
  if (options.json) {
    nlohmann::ordered_json json = {{"description", outcome.info.description},
                                   {"build", jitk_build_id()},
                                   {"device", device.name()},
                                   {"target", outcome.info.target},
                                   {"checked", !outcome.figures.empty()},
                                   {"launches", options.launches},
                                   {"repeats", options.repeats},
                                   {"median_us", median},
                                   {"least_us", least},
                                   {"tflops", work.flops / median * 1e-6},
                                   {"gb_per_s", work.bytes / median * 1e-3},
                                   {"roof_us", work.roof()},
                                   {"registers", outcome.info.registers},
                                   {"spill_bytes", outcome.info.spill_bytes},
                                   {"shared_bytes", outcome.info.shared_bytes},
                                   {"threads", outcome.info.threads},
                                   {"compile_ms", ownMilliseconds(outcome.info)},
                                   {"assemble_ms", outcome.info.assemble_ms}};
    std::printf("%s\n", json.dump(2).c_str());
    return;
  }
  std::printf("%s\non %s (%s): %s us a launch, least %s us", labelOf(outcome.info.description).c_str(),
              device.name().c_str(), outcome.info.target, number(median).c_str(), number(least).c_str());
  if (!isEmulator) {
    std::printf(": %s\n%u registers, %u bytes of spills, %s of shared memory, %u threads; compiled in %s ms, assembled "
                "in %s ms",
                rateOf(work, median, target == "sm_90a").c_str(), outcome.info.registers, outcome.info.spill_bytes,
                byteCount(outcome.info.shared_bytes).c_str(), outcome.info.threads,
                number(ownMilliseconds(outcome.info)).c_str(), number(outcome.info.assemble_ms).c_str());
  }
  std::printf("\nmedian of %d x %d launches back to back by the host's clock, warm L2, %s; build %s\n", options.repeats,
              options.launches, outcome.figures.empty() ? "result not checked" : "result checked before",
              jitk_build_id());
}

static int bench(const Options &options) {
  options.problem.check();
  api::Runtime runtime = options.runtime.create();
  api::Device device = options.device.open(runtime);
  std::string line = options.problem.line();
  DynamicSizes sizes = options.problem.sizes();
  reference::GivenValues values = options.problem.values();
  // A wrong result in no time is no result. Of a kernel of the user's own only the guard bands say something.
  bool hasReference = !isUserKernel(*parseDescription(line));
  checked::Outcome outcome = checked::run(runtime, device, {line, sizes, 1, values}, hasReference);
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
  reference::Work work = *reference::workOf(*parseDescription(line), sizes, values);
  print(options, outcome, device, work, times);
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
