// From a model's configuration to the closed set of kernel descriptions that serving it needs.
//
// A model family is one file that knows the layers' projections. Weights are static, token counts are not: each matmul
// is planned once for each token bucket, a power of two from 16 to the largest batch, as a kernel whose m is dynamic up
// to that bucket. A step of t tokens runs the kernel of the least bucket that holds t, without padding. What a layer
// needs and no op serves yet is listed by name, so that a plan says what it leaves to the engine.

#pragma once

#include "src/ops/Description.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitk {

struct ModelPlanOptions {
  int64_t tensorParallel = 1; ///< ranks that share each layer; the plan is that of any one of them
  int64_t maxTokens = 4096;   ///< largest number of tokens in one step
};

struct PlannedKernel {
  Description description;
  std::vector<std::string> uses; ///< "layers.*.self_attn.o_proj", ascending, without repeats
};

/// What of the model has no op yet.
struct MissingOp {
  std::string op;
  std::vector<std::string> uses; ///< as a kernel's
};

struct ModelPlan {
  std::string model; ///< `model_type`
  ModelPlanOptions options;
  std::vector<PlannedKernel> kernels; ///< distinct descriptions, in the order in which the layers name them first
  std::vector<MissingOp> missing;     ///< distinct names, in the same order

  /// The plan file (docs/plan-format.md).
  std::string toJson() const;
};

/// 16, 32, ... below `maxTokens`, then `maxTokens` itself.
std::vector<int64_t> tokenBuckets(int64_t maxTokens);

/// Reads a configuration in the form that model hubs publish (config.json). Fails with InvalidArgument naming the
/// field: an unknown `model_type`, a missing field, one of the wrong type or range, values that contradict each other
/// or the options.
Result<ModelPlan> planModel(std::string_view configuration, const ModelPlanOptions &options);

} // namespace jitk
