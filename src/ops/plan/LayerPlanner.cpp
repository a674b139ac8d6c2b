#include "src/ops/plan/LayerPlanner.h"

#include "src/ops/OpSchema.h"

#include <algorithm>

namespace jitk {

/// 16, 32, ... up to the first power of two that holds `maxTokens`, which itself is the last bucket.
static std::vector<int64_t> tokenBuckets(int64_t maxTokens) {
  std::vector<int64_t> buckets;
  for (int64_t bucket = 16; bucket < maxTokens; bucket *= 2) {
    buckets.push_back(bucket);
  }
  buckets.push_back(maxTokens);
  return buckets;
}

LayerPlanner::LayerPlanner(ModelPlan &plan) : plan_(plan), buckets_(tokenBuckets(plan.options.maxTokens)) {}

void LayerPlanner::add(const std::string &use, const std::string &text) {
  Result<Description> description = parseDescription(text);
  if (!description.ok()) {
    if (status_.ok()) {
      status_ = std::move(description).takeStatus().withNote("while planning " + use);
    }
    return;
  }
  auto [entry, isNew] = known_.try_emplace(description->toString(), plan_.kernels.size());
  if (isNew) {
    plan_.kernels.push_back({*std::move(description), {}});
  }
  std::vector<std::string> &uses = plan_.kernels[entry->second].uses;
  auto place = std::ranges::lower_bound(uses, use);
  if (place == uses.end() || *place != use) {
    uses.insert(place, use);
  }
}

void LayerPlanner::projection(const std::string &use, int64_t outputs, int64_t inputs, WeightFormat format) {
  std::string shape = " n=" + std::to_string(outputs) + " k=" + std::to_string(inputs);
  for (int64_t tokens : buckets_) {
    std::string m = " m=" + std::to_string(tokens);
    add(use, format == WeightFormat::BlockFp8 ? "fp8_block_matmul" + m + shape + " out_dtype=bf16"
                                              : "matmul" + m + shape + " dtype=bf16 b_layout=col");
  }
}

void LayerPlanner::prefillAttention(const std::string &use, int64_t heads, int64_t keyHeads, int64_t headDim,
                                    int64_t valueDim) {
  std::string shape = " heads=" + std::to_string(heads) + " kv_heads=" + std::to_string(keyHeads) +
                      " head_dim=" + std::to_string(headDim) + " value_dim=" + std::to_string(valueDim);
  for (int64_t tokens : buckets_) {
    std::string length = std::to_string(tokens);
    add(use, "flash_attention batch=*<=1024 seq_q=" + length + " seq_k=" + length + shape +
                 " causal=true varlen=true dtype=bf16");
  }
}

void LayerPlanner::missing(const std::string &name, const std::string &use) { plan_.missing.push_back({name, use}); }

Status LayerPlanner::takeStatus() { return std::move(status_); }

} // namespace jitk
