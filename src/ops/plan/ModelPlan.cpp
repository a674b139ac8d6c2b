#include "src/ops/plan/ModelPlan.h"

#include "src/ops/DescriptionJson.h"
#include "src/ops/plan/LayerPlanner.h"

#include <nlohmann/json.hpp>

namespace jitk {

/// An option that no size may be would give dimensions that no schema takes.
static Status checkOption(std::string_view name, int64_t value) {
  if (value < 1 || value > Dimension::kLargest) {
    return invalidArgument(std::string(name) + " must be between 1 and " + std::to_string(Dimension::kLargest) +
                           ": got " + std::to_string(value));
  }
  return okStatus();
}

/// A configuration that is put together of two models' would be planned as the one and served as the other.
static void checkArchitectures(Configuration &configuration, const std::string &model, std::string_view wanted) {
  if (!configuration.has("architectures")) {
    return;
  }
  for (const std::string &found : configuration.words("architectures")) {
    if (found != wanted) {
      configuration.contradict("architectures", "be " + std::string(wanted) + " where model_type is " + model,
                               "'" + found + "'");
    }
  }
}

Result<ModelPlan> planModel(std::string_view text, const ModelPlanOptions &options) {
  JITK_TRY(checkOption("tensor parallelism", options.tensorParallel));
  JITK_TRY(checkOption("the largest number of tokens", options.maxTokens));
  JITK_ASSIGN(Configuration configuration, Configuration::parse(text));
  ModelPlan plan;
  plan.options = options;
  plan.model = configuration.word("model_type");
  JITK_TRY(configuration.takeStatus());
  if (plan.model == "deepseek_v3") {
    checkArchitectures(configuration, plan.model, "DeepseekV3ForCausalLM");
    JITK_TRY(planDeepSeekV3(configuration, plan));
  } else if (plan.model == "qwen3_next") {
    checkArchitectures(configuration, plan.model, "Qwen3NextForCausalLM");
    JITK_TRY(planQwen3Next(configuration, plan));
  } else {
    return invalidArgument("field model_type must be deepseek_v3 or qwen3_next: got '" + plan.model + "'");
  }
  return plan;
}

std::string ModelPlan::toJson() const {
  nlohmann::ordered_json json = {{"jitk_plan", 1},
                                 {"model", model},
                                 {"tensor_parallel", options.tensorParallel},
                                 {"max_tokens", options.maxTokens},
                                 {"kernels", nlohmann::ordered_json::array()},
                                 {"missing", nlohmann::ordered_json::array()}};
  for (const PlannedKernel &kernel : kernels) {
    json["kernels"].push_back(
        {{"op", kernel.description.op()}, {"attributes", attributesToJson(kernel.description)}, {"uses", kernel.uses}});
  }
  for (const MissingOp &absent : missing) {
    json["missing"].push_back({{"op", absent.op}, {"uses", absent.uses}});
  }
  return json.dump(2) + "\n";
}

} // namespace jitk
