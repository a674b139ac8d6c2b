#include "src/ops/plan/LayerPlanner.h"

#include "src/ops/Number.h"
#include "src/ops/OpSchema.h"

#include <algorithm>

namespace jitk {

std::vector<int64_t> tokenBuckets(int64_t maxTokens) {
  // 16, not 1: the least number of rows that a tensor core multiplies.
  std::vector<int64_t> buckets;
  for (int64_t bucket = 16; bucket < maxTokens; bucket *= 2) {
    buckets.push_back(bucket);
  }
  buckets.push_back(maxTokens);
  return buckets;
}

LayerPlanner::LayerPlanner(ModelPlan &plan, LayerFacts facts)
    : plan_(plan), facts_(std::move(facts)), buckets_(tokenBuckets(plan.options.maxTokens)) {}

/// Keeps uses ascending and distinct.
static void insertUse(std::vector<std::string> &uses, const std::string &use) {
  auto place = std::ranges::lower_bound(uses, use);
  if (place == uses.end() || *place != use) {
    uses.insert(place, use);
  }
}

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
  insertUse(plan_.kernels[entry->second].uses, use);
}

void LayerPlanner::projection(const std::string &use, int64_t outputs, int64_t inputs, WeightFormat format,
                              std::string_view outDtype) {
  std::string shape = " n=" + std::to_string(outputs) + " k=" + std::to_string(inputs) +
                      " out_dtype=" + std::string(outDtype.empty() ? facts_.dtype : outDtype);
  for (int64_t tokens : buckets_) {
    std::string m = " m=*<=" + std::to_string(tokens);
    add(use, format == WeightFormat::BlockFp8 ? "fp8_block_matmul" + m + shape
                                              : "matmul" + m + shape + " dtype=" + facts_.dtype + " b_layout=col");
  }
}

void LayerPlanner::perceptron(const std::string &prefix, int64_t width, int64_t hidden, WeightFormat format) {
  projection(prefix + ".gate_up_proj", 2 * width, hidden, format);
  projection(prefix + ".down_proj", hidden, width, format);
}

void LayerPlanner::experts(const std::string &prefix, int64_t count, int64_t width, int64_t hidden) {
  auto layer = [&](const char *name, int64_t outputs, int64_t inputs) {
    add(prefix + name, "grouped_fp8_block_matmul m=* groups=" + std::to_string(count) + " n=" +
                           std::to_string(outputs) + " k=" + std::to_string(inputs) + " out_dtype=" + facts_.dtype);
  };
  layer(".gate_up_proj", 2 * width, hidden);
  layer(".down_proj", hidden, width);
}

void LayerPlanner::prefillAttention(const std::string &use, int64_t heads, int64_t keyHeads, int64_t headDim,
                                    int64_t valueDim, double scale) {
  std::string rest = " seq_k=*<=" + std::to_string(facts_.longestContext) + " heads=" + std::to_string(heads) +
                     " kv_heads=" + std::to_string(keyHeads) + " head_dim=" + std::to_string(headDim) +
                     " value_dim=" + std::to_string(valueDim) + " causal=true varlen=true dtype=" + facts_.dtype;
  if (scale > 0) {
    rest += " scale=" + numberText(float(scale));
  }
  for (int64_t tokens : buckets_) {
    add(use, "flash_attention batch=* seq_q=*<=" + std::to_string(tokens) + rest);
  }
}

/// A decode step with its schedule to make, as the first layer has it, and with one to reuse, as all others do.
void LayerPlanner::decode(const std::string &use, const std::string &op, const std::string &rest) {
  std::string text = op + " batch=*<=" + std::to_string(plan_.options.maxTokens) +
                     " max_kv=*<=" + std::to_string(facts_.longestContext) + " splits=*" + rest + " reuse_schedule=";
  add(use, text + "false");
  add(use, text + "true");
}

void LayerPlanner::latentDecode(const std::string &use, int64_t heads, int64_t latentDim, int64_t ropeDim) {
  decode(use, "mla_decode",
         " heads=" + std::to_string(heads) + " latent_dim=" + std::to_string(latentDim) +
             " rope_dim=" + std::to_string(ropeDim) + " kv_format=" + facts_.dtype);
}

void LayerPlanner::pagedDecode(const std::string &use, int64_t heads, int64_t keyHeads, int64_t headDim) {
  decode(use, "paged_attention",
         " heads=" + std::to_string(heads) + " kv_heads=" + std::to_string(keyHeads) +
             " head_dim=" + std::to_string(headDim) + " dtype=" + facts_.dtype);
}

void LayerPlanner::gatedDeltaRule(const std::string &prefix, int64_t keyHeads, int64_t valueHeads, int64_t keyDim,
                                  int64_t valueDim) {
  std::string rest = " qk_heads=" + std::to_string(keyHeads) + " v_heads=" + std::to_string(valueHeads) +
                     " key_dim=" + std::to_string(keyDim) + " value_dim=" + std::to_string(valueDim) +
                     " dtype=" + facts_.dtype + " qk_l2norm=true state_pool=true slots=* state_layout=value-major";
  std::string bound = "*<=" + std::to_string(plan_.options.maxTokens);
  add(prefix + "prefill", "gated_delta_rule mode=chunk batch=* tokens=" + bound + " varlen=true" + rest);
  add(prefix + "decode", "gated_delta_rule mode=recurrent batch=" + bound + " tokens=1" + rest);
}

void LayerPlanner::frame(int64_t vocabulary, int64_t hidden) {
  projection("lm_head", vocabulary, hidden, WeightFormat::Plain);
  missing("embedding", "embed_tokens");
  missing("rms_norm", "layers.*.input_layernorm");
  missing("rms_norm", "layers.*.post_attention_layernorm");
  missing("rms_norm", "norm");
  if (plan_.options.tensorParallel > 1) {
    missing("all_reduce", "layers.*");
    missing("all_gather", "lm_head");
  }
  missing("sampling", "lm_head");
}

void LayerPlanner::missing(const std::string &op, const std::string &use) {
  auto known = std::ranges::find(plan_.missing, op, &MissingOp::op);
  if (known == plan_.missing.end()) {
    known = plan_.missing.insert(plan_.missing.end(), {op, {}});
  }
  insertUse(known->uses, use);
}

Status LayerPlanner::takeStatus() { return std::move(status_); }

} // namespace jitk
