// Collects the kernels of a model's layers.

#pragma once

#include "src/ops/plan/ModelPlan.h"

#include <map>

namespace jitk {

/// How a projection is stored.
enum class WeightFormat : uint8_t { Bf16, BlockFp8 };

/// Adds kernels to a plan, once for each token bucket; equal descriptions share an entry.
class LayerPlanner {
public:
  explicit LayerPlanner(ModelPlan &plan);

  /// `tokens x inputs` times the transposed weight `outputs x inputs`, for each bucket.
  void projection(const std::string &use, int64_t outputs, int64_t inputs, WeightFormat format);
  /// Prefill attention over whole prompts of each bucket's length.
  void prefillAttention(const std::string &use, int64_t heads, int64_t keyHeads, int64_t headDim, int64_t valueDim);
  void missing(const std::string &name, const std::string &use);

  /// The first description that a schema refused; OK if there is none.
  Status takeStatus();

private:
  void add(const std::string &use, const std::string &text);

  ModelPlan &plan_;
  std::vector<int64_t> buckets_;
  std::map<std::string, size_t> known_; ///< canonical text to index in the plan
  Status status_;
};

// The model families.
Status planDeepSeekV3(class Configuration &configuration, ModelPlan &plan);
Status planQwen3Next(class Configuration &configuration, ModelPlan &plan);

} // namespace jitk
