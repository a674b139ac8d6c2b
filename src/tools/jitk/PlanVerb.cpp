// jitk plan: a model's configuration to the kernels that serving it needs.

#include "src/ops/plan/ModelPlan.h"
#include "src/tools/jitk/FileOption.h"
#include "src/tools/jitk/NumberOption.h"
#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Verbs.h"

#include <cstdio>

namespace jitk::tool {

namespace {
struct Options {
  std::string configuration, output;
  ModelPlanOptions plan;
};
} // namespace

static int planKernels(const Options &options) {
  Result<ModelPlan> plan = planModel(readFile(options.configuration), options.plan);
  if (!plan.ok()) {
    std::fprintf(stderr, "jitk: %s: %s\n", options.configuration.c_str(), plan.status().toString().c_str());
    return kUsage;
  }
  if (options.output.empty()) {
    std::printf("%s", plan->toJson().c_str());
    return kOk;
  }
  writeFile(options.output, plan->toJson());
  std::printf("%s: %zu kernels for %s, tensor parallelism %lld, up to %lld tokens\n", options.output.c_str(),
              plan->kernels.size(), plan->model.c_str(), static_cast<long long>(options.plan.tensorParallel),
              static_cast<long long>(options.plan.maxTokens));
  std::string missing;
  for (const MissingOp &absent : plan->missing) {
    missing += (missing.empty() ? "" : ", ") + absent.op;
  }
  std::printf("no op yet for: %s\n", missing.c_str());
  return kOk;
}

void addPlanVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("plan", "plan the kernels of a model from its config.json");
  auto options = std::make_shared<Options>();
  verb->add_option("config", options->configuration, "the model's config.json")->required()->check(CLI::ExistingFile);
  addNumber(*verb, "--tp", options->plan.tensorParallel, "ranks that share each layer", 1, Dimension::kLargest)
      ->capture_default_str();
  addNumber(*verb, "--max-tokens", options->plan.maxTokens, "most tokens of one step", 1, Dimension::kLargest)
      ->capture_default_str();
  addFile(*verb, "--output,-o", options->output, "plan file to write (default: to standard output)");
  verb->callback([=, &action] { action = [=] { return planKernels(*options); }; });
}

} // namespace jitk::tool
