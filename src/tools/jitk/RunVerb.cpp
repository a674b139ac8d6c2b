// jitk run: one kernel on random data, checked against the float64 reference.

#include "src/ops/JsonText.h"
#include "src/tools/checked/CheckedRun.h"
#include "src/tools/jitk/FileOption.h"
#include "src/tools/jitk/NumberOption.h"
#include "src/tools/jitk/ProblemOptions.h"
#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <system_error>

namespace jitk::tool {
namespace {

struct Options {
  ProblemOptions problem;
  uint64_t seed = 0;
  bool check = false, json = false;
  std::string dump;
  RuntimeOptions runtime;
  DeviceOptions device;
};

} // namespace

static void writeDumps(const Options &options, const api::Runtime &runtime, const std::string &target) {
  std::error_code failure;
  if (std::filesystem::create_directories(options.dump, failure); failure) {
    throw std::runtime_error("cannot create the folder " + options.dump + ": " + failure.message());
  }
  api::Artifact artifact = api::Artifact::compile(runtime, options.problem.description(), target);
  const std::pair<jitk_dump_t, const char *> files[] = {{JITK_DUMP_COMMON_IR, "commonir.mlir"},
                                                        {JITK_DUMP_TTGIR, "ttgir.mlir"},
                                                        {JITK_DUMP_LLVM_IR, "llvm.ll"},
                                                        {JITK_DUMP_PTX, "kernel.ptx"},
                                                        {JITK_DUMP_RECIPE, "recipe.json"}};
  for (const auto &[kind, name] : files) {
    if (std::string_view text = artifact.dump(kind); !text.empty()) {
      writeFile((std::filesystem::path(options.dump) / name).string(), text);
    }
  }
}

static void print(const Options &options, const checked::Outcome &outcome, const api::Device &device) {
  std::string_view target = outcome.info.target;
  std::string registers = target.starts_with("emulator:")
                              ? "" // which has none of a GPU's
                              : std::to_string(outcome.info.registers) + " registers, " +
                                    std::to_string(outcome.info.spill_bytes) + " bytes of spills, ";
  std::printf("%s\non %s (%s), seed %llu: %s%s of shared memory\n", labelOf(outcome.info.description).c_str(),
              device.name().c_str(), outcome.info.target, static_cast<unsigned long long>(options.seed),
              registers.c_str(), byteCount(outcome.info.shared_bytes).c_str());
  Table table({"output", ">elements", ">wrong", ">max error", ">RMS error / RMS", ">error / bound"});
  for (const reference::ErrorFigures &figures : outcome.figures) {
    table.add({figures.tensor, std::to_string(figures.checked), std::to_string(figures.failed),
               number(figures.maxAbsolute), number(figures.rmsRatio), number(figures.maxOfBound)});
  }
  if (!table.empty()) {
    std::printf("%s", table.render().c_str());
  }
  for (const reference::ErrorFigures &figures : outcome.figures) {
    if (!figures.firstFailure.empty()) {
      std::printf("first wrong element: %s\n", figures.firstFailure.c_str());
    }
  }
  for (const std::string &damage : outcome.damage) {
    std::printf("%s\n", damage.c_str());
  }
  if (options.check) {
    std::printf("%s%s\n", outcome.passed() ? "ok" : "WRONG", outcome.sampled ? " (a sample of rows was compared)" : "");
  }
}

static void printJson(const Options &options, const checked::Outcome &outcome) {
  nlohmann::ordered_json json = {{"description", outcome.info.description},
                                 {"target", outcome.info.target},
                                 {"seed", options.seed},
                                 {"passed", outcome.passed()},
                                 {"checked", options.check},
                                 {"sampled", outcome.sampled},
                                 {"damage", outcome.damage},
                                 {"outputs", nlohmann::ordered_json::array()}};
  for (const reference::ErrorFigures &figures : outcome.figures) {
    json["outputs"].push_back({{"tensor", figures.tensor},
                               {"elements", figures.checked},
                               {"wrong", figures.failed},
                               {"max_error", figures.maxAbsolute},
                               {"rms_ratio", figures.rmsRatio},
                               {"error_over_bound", figures.maxOfBound},
                               {"first_failure", figures.firstFailure}});
  }
  std::printf("%s\n", jsonText(json).c_str());
}

static int run(Options options) {
  if (options.seed == 0) {
    options.seed = std::random_device()();
  }
  options.problem.check();
  api::Runtime runtime = options.runtime.create();
  api::Device device = options.device.open(runtime);
  if (!options.dump.empty()) {
    writeDumps(options, runtime, device.target());
  }
  checked::Outcome outcome = checked::run(
      runtime, device, {options.problem.line(), options.problem.sizes(), options.seed, options.problem.values()},
      options.check);
  if (options.json) {
    printJson(options, outcome);
  } else {
    print(options, outcome, device);
  }
  return outcome.passed() ? kOk : kWrongResult;
}

void addRunVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("run", "run one kernel on random data");
  auto options = std::make_shared<Options>();
  options->problem.addTo(*verb, /*withSizes=*/true);
  verb->add_flag("--check", options->check, "compare with the float64 reference; exit 1 if it differs");
  addNumber(*verb, "--seed", options->seed, "of the random data; 0 draws one")->capture_default_str();
  addFile(*verb, "--dump", options->dump, "folder for CommonIR, TTGIR, LLVM IR, PTX and the launch recipe", "DIR");
  verb->add_flag("--json", options->json, "figures as JSON");
  options->device.addTo(*verb);
  options->runtime.addTo(*verb);
  verb->callback([=, &action] { action = [=] { return run(*options); }; });
}

} // namespace jitk::tool
