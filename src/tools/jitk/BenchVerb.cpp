// jitk bench: the time of one launch, the short form of bench_kernels, by the same protocol and beside the same peer.

#include "src/ops/UserKernel.h"
#include "src/reference/Work.h"
#include "src/tools/checked/CheckedRun.h"
#include "src/tools/jitk/Launcher.h"
#include "src/tools/jitk/NumberOption.h"
#include "src/tools/jitk/ProblemOptions.h"
#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"
#include "src/tools/timing/CublasPeer.h"
#include "src/tools/timing/Occupancy.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace jitk::tool {
namespace {

struct Options {
  ProblemOptions problem;
  timing::Protocol protocol;
  std::string peer = "cublaslt";
  bool json = false;
  RuntimeOptions runtime;
  DeviceOptions device;
};

/// What takes turns with the kernel.
struct Peer {
  std::string name, missing;               ///< "cuBLASLt, best of 8"; why it was not timed
  std::unique_ptr<ProblemTensors> tensors; ///< where they are not the kernel's
  std::unique_ptr<timing::CublasPeer> library;
  Enqueue enqueue; ///< null: not timed
};

struct Timing {
  double median = 0, least = 0, peer = 0;
  Timing(const std::vector<std::vector<double>> &times)
      : median(timing::median(times.front())), least(*std::ranges::min_element(times.front())),
        peer(times.size() > 1 ? timing::median(times[1]) : 0) {}
};

} // namespace

/// cuBLASLt's product of the problem: of a matmul the same, of fp8 the one in bf16. Without a name where there is none.
static Peer findPeer(const Options &options, const api::Device &device, const timing::Gpu *gpu,
                     const ProblemTensors &tensors) {
  Description description = *parseDescription(options.problem.line());
  DynamicSizes sizes = options.problem.sizes();
  std::optional<timing::Yardstick> yardstick = timing::bf16Yardstick(description, sizes);
  bool isProduct = timing::hasCublasPeer(description);
  Peer peer;
  if (!gpu || options.peer == "none" || (!isProduct && !yardstick)) {
    return peer;
  }
  peer.name = isProduct ? "cuBLASLt, best of 8" : yardstick->name;
  try {
    peer.library = std::make_unique<timing::CublasPeer>(device, *gpu);
    if (!isProduct) {
      peer.tensors =
          std::make_unique<ProblemTensors>(device, yardstick->tensors, DynamicSizes(), reference::GivenValues());
    }
    const ProblemTensors &of = isProduct ? tensors : *peer.tensors;
    uint64_t c = of.address("c"), residual = of.address("residual");
    peer.enqueue = peer.library->best(isProduct ? timing::productOf(description, sizes) : yardstick->product,
                                      {.a = of.address("a"),
                                       .b = of.address("b"),
                                       .c = c,
                                       .bias = of.address("bias"),
                                       .addend = residual ? residual : c});
  } catch (const std::runtime_error &missing) {
    peer.missing = missing.what();
  }
  return peer;
}

/// Of the compiler without the assembler.
static double ownMilliseconds(const jitk_kernel_info_t &info) { return info.build_ms + info.lower_ms + info.llvm_ms; }

/// The rate of the unit that bounds the problem, in words; with what part of the roof that is where the roof is known.
static std::string rateOf(const reference::Work &work, double microseconds, bool isHopper) {
  std::string rate = work.isBoundByMemory() ? number(work.bytes / microseconds * 1e-3) + " GB/s"
                                            : number(work.flops / microseconds * 1e-6) + " TFLOP/s";
  return isHopper ? rate + ", " + number(100 * work.roof() / microseconds) + " % of an H200's roof" : rate;
}

static void printJson(const Options &options, const checked::Outcome &outcome, const api::Device &device,
                      const reference::Work &work, const Timing &timing, const Peer &peer) {
  nlohmann::ordered_json json = {{"description", outcome.info.description},
                                 {"build", jitk_build_id()},
                                 {"device", device.name()},
                                 {"target", outcome.info.target},
                                 {"checked", !outcome.figures.empty()},
                                 {"launches", options.protocol.calls},
                                 {"repeats", options.protocol.replays},
                                 {"median_us", timing.median},
                                 {"least_us", timing.least},
                                 {"tflops", work.flops / timing.median * 1e-6},
                                 {"gb_per_s", work.bytes / timing.median * 1e-3},
                                 {"roof_us", work.roof()},
                                 {"registers", outcome.info.registers},
                                 {"spill_bytes", outcome.info.spill_bytes},
                                 {"shared_bytes", outcome.info.shared_bytes},
                                 {"threads", outcome.info.threads},
                                 {"occupancy", timing::occupancyOf(outcome.info)},
                                 {"compile_ms", ownMilliseconds(outcome.info)},
                                 {"assemble_ms", outcome.info.assemble_ms}};
  if (peer.enqueue) {
    json["peers"][peer.name] = {{"median_us", timing.peer}, {"ratio", timing.peer / timing.median}};
  } else if (!peer.name.empty()) {
    json["missing"] = {peer.name + ": " + peer.missing};
  }
  std::printf("%s\n", json.dump(2).c_str());
}

static void print(const Options &options, const checked::Outcome &outcome, const api::Device &device,
                  const reference::Work &work, const Timing &timing, const Peer &peer) {
  std::string_view target = outcome.info.target;
  const char *checked = outcome.figures.empty() ? "result not checked" : "result checked before";
  std::printf("%s\non %s (%s): %s us a launch, least %s us", labelOf(outcome.info.description).c_str(),
              device.name().c_str(), outcome.info.target, number(timing.median).c_str(), number(timing.least).c_str());
  if (target.starts_with("emulator:")) {
    std::printf("\nmedian of %d x %d launches back to back by the host's clock, %s; build %s\n",
                options.protocol.replays, options.protocol.calls, checked, jitk_build_id());
    return;
  }
  std::printf(": %s\n%u registers, %u bytes of spills, %s of shared memory, %u threads, occupancy %s %%; compiled in "
              "%s ms, assembled in %s ms\n",
              rateOf(work, timing.median, target == "sm_90a").c_str(), outcome.info.registers, outcome.info.spill_bytes,
              byteCount(outcome.info.shared_bytes).c_str(), outcome.info.threads,
              number(100 * timing::occupancyOf(outcome.info)).c_str(), number(ownMilliseconds(outcome.info)).c_str(),
              number(outcome.info.assemble_ms).c_str());
  if (peer.enqueue) {
    std::printf("%s: %s us, ratio %s\n", peer.name.c_str(), number(timing.peer).c_str(),
                number(timing.peer / timing.median).c_str());
  } else if (!peer.name.empty()) {
    std::printf("%s: not timed: %s\n", peer.name.c_str(), peer.missing.c_str());
  }
  std::printf("%s; warm L2, %s; build %s\n", options.protocol.text().c_str(), checked, jitk_build_id());
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
  std::unique_ptr<timing::Gpu> gpu = options.device.clock();
  Peer peer = findPeer(options, device, gpu.get(), launcher.tensors());
  std::vector<Enqueue> works = {[&](void *stream) { launcher.enqueue(stream); }};
  if (peer.enqueue) {
    works.push_back(peer.enqueue);
  }
  Timing timing(timeInTurns(device, gpu.get(), works, options.protocol));
  reference::Work work = *reference::workOf(*parseDescription(line), sizes, values);
  (options.json ? printJson : print)(options, outcome, device, work, timing, peer);
  return kOk;
}

void addBenchVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("bench", "check one kernel, then time it");
  auto options = std::make_shared<Options>();
  options->problem.addTo(*verb, /*withSizes=*/true);
  addNumber(*verb, "--launches", options->protocol.calls, "most launches in one measurement: a graph", 1)
      ->capture_default_str();
  addNumber(*verb, "--repeats", options->protocol.replays, "measurements", 1)->capture_default_str();
  verb->add_option("--peer", options->peer, "on a GPU, beside a product: cublaslt, where it is found, or none")
      ->check(CLI::IsMember({"cublaslt", "none"}))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "as JSON");
  options->device.addTo(*verb);
  options->runtime.addTo(*verb);
  verb->callback([=, &action] { action = [=] { return bench(*options); }; });
}

} // namespace jitk::tool
