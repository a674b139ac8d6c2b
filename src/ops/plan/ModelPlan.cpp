#include "src/ops/plan/ModelPlan.h"

#include "src/ops/plan/Configuration.h"
#include "src/ops/plan/LayerPlanner.h"

#include <nlohmann/json.hpp>

namespace jitk {

Result<ModelPlan> planModel(std::string_view text, const PlanOptions &options) {
  if (options.tensorParallel < 1) {
    return invalidArgument("tensor parallelism must be at least 1: got " + std::to_string(options.tensorParallel));
  }
  if (options.maxTokens < 1) {
    return invalidArgument("the largest number of tokens must be at least 1: got " + std::to_string(options.maxTokens));
  }
  JITK_ASSIGN(Configuration configuration, Configuration::parse(text));
  ModelPlan plan;
  plan.options = options;
  plan.model = configuration.word("model_type");
  JITK_TRY(configuration.takeStatus());
  if (plan.model == "deepseek_v3") {
    JITK_TRY(planDeepSeekV3(configuration, plan));
  } else if (plan.model == "qwen3_next") {
    JITK_TRY(planQwen3Next(configuration, plan));
  } else {
    return invalidArgument("field model_type must be deepseek_v3 or qwen3_next: got '" + plan.model + "'");
  }
  return plan;
}

/// Attributes as a plan file writes them: numbers and truth values bare, dimensions and words as text.
static nlohmann::ordered_json attributesOf(const Description &description) {
  nlohmann::ordered_json attributes = nlohmann::ordered_json::object();
  for (const auto &[name, value] : description.attributes()) {
    if (const auto *dimension = std::get_if<Dimension>(&value)) {
      if (dimension->isStatic()) {
        attributes[name] = dimension->value;
      } else {
        attributes[name] = dimension->toString();
      }
    } else if (const auto *integer = std::get_if<int64_t>(&value)) {
      attributes[name] = *integer;
    } else if (const auto *flag = std::get_if<bool>(&value)) {
      attributes[name] = *flag;
    } else {
      attributes[name] = std::get<std::string>(value);
    }
  }
  return attributes;
}

std::string ModelPlan::toJson() const {
  nlohmann::ordered_json json;
  json["jitk_plan"] = 1;
  json["model"] = model;
  json["tensor_parallel"] = options.tensorParallel;
  json["max_tokens"] = options.maxTokens;
  json["kernels"] = nlohmann::ordered_json::array();
  for (const PlannedKernel &kernel : kernels) {
    json["kernels"].push_back(
        {{"op", kernel.description.op()}, {"attributes", attributesOf(kernel.description)}, {"uses", kernel.uses}});
  }
  json["missing"] = nlohmann::ordered_json::array();
  for (const MissingOp &op : missing) {
    json["missing"].push_back({{"op", op.name}, {"use", op.use}});
  }
  return json.dump(2) + "\n";
}

} // namespace jitk
