// From a model's configuration to the closed set of kernel descriptions that serving it needs.
//
// A model family is one file that knows the layers' projections. Token counts are cut into buckets, powers of two from
// 16 to the largest batch: each matmul of a layer is planned once for each bucket with m static, so that tiles fit, and
// once for every other count through the bucket above it (an engine pads). What a layer needs and no op serves yet is
// listed by name.

#pragma once

#include "src/ops/Description.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitk {

struct PlanOptions {
  int64_t tensorParallel =
      1;                    ///< ranks that share each layer: columns of the first matmul of a pair, rows of the second
  int64_t maxTokens = 4096; ///< largest number of tokens in one step; prefill attention goes up to it too
};

struct PlannedKernel {
  Description description;
  std::vector<std::string> uses; ///< "layers.*.self_attn.o_proj", ascending, without repeats
};

/// What of the model has no op yet.
struct MissingOp {
  std::string name;
  std::string use;
};

struct ModelPlan {
  std::string model; ///< `model_type`
  PlanOptions options;
  std::vector<PlannedKernel> kernels; ///< distinct descriptions, in the order in which the layers name them first
  std::vector<MissingOp> missing;

  /// The plan file (docs/plan-format.md).
  std::string toJson() const;
};

/// Reads a configuration in the form that model hubs publish (config.json). Fails with InvalidArgument naming the
/// field: an unknown `model_type`, a missing field, one of the wrong type or range, values that contradict each other
/// or the options.
Result<ModelPlan> planModel(std::string_view configuration, const PlanOptions &options);

} // namespace jitk
