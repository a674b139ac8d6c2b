// Qwen3-Next: three layers of gated delta rule to one of full attention, each with a mixture of experts.

#include "src/ops/plan/Configuration.h"
#include "src/ops/plan/LayerPlanner.h"

#include <algorithm>

namespace jitk {
namespace {

struct Sizes {
  int64_t hidden, expertIntermediate, sharedIntermediate, experts, vocabulary;
  int64_t heads, keyHeads, headDim;
  int64_t linearKeyHeads, linearValueHeads, linearKeyDim, linearValueDim;
};

} // namespace

static Sizes readSizes(Configuration &c) {
  return {c.positive("hidden_size"),
          c.positive("moe_intermediate_size"),
          c.positive("shared_expert_intermediate_size"),
          c.positive("num_experts"),
          c.positive("vocab_size"),
          c.positive("num_attention_heads"),
          c.positive("num_key_value_heads"),
          c.positive("head_dim"),
          c.positive("linear_num_key_heads"),
          c.positive("linear_num_value_heads"),
          c.positive("linear_key_head_dim"),
          c.positive("linear_value_head_dim")};
}

static void planFullAttention(LayerPlanner &layers, const Sizes &s, int64_t ranks) {
  const std::string self = "layers.full.self_attn.";
  // Where there are more ranks than key heads, each rank holds a copy of one.
  int64_t heads = s.heads / ranks, keyHeads = std::max<int64_t>(1, s.keyHeads / ranks);
  // The query projection also gives the output gate.
  layers.projection(self + "q_proj", 2 * heads * s.headDim, s.hidden, WeightFormat::Bf16);
  layers.projection(self + "k_proj", keyHeads * s.headDim, s.hidden, WeightFormat::Bf16);
  layers.projection(self + "v_proj", keyHeads * s.headDim, s.hidden, WeightFormat::Bf16);
  layers.projection(self + "o_proj", s.hidden, heads * s.headDim, WeightFormat::Bf16);
  layers.prefillAttention(self + "prefill", heads, keyHeads, s.headDim, s.headDim);
  layers.missing("paged_attention_decode", self + "decode");
  layers.missing("rope", self + "rotary_emb");
  layers.missing("sigmoid_gate", self + "gate");
}

static void planLinearAttention(LayerPlanner &layers, const Sizes &s, int64_t ranks) {
  const std::string self = "layers.linear.linear_attn.";
  int64_t keys = s.linearKeyHeads * s.linearKeyDim / ranks, values = s.linearValueHeads * s.linearValueDim / ranks;
  layers.projection(self + "in_proj_qkvz", 2 * keys + 2 * values, s.hidden, WeightFormat::Bf16);
  layers.projection(self + "in_proj_ba", 2 * s.linearValueHeads / ranks, s.hidden, WeightFormat::Bf16);
  layers.projection(self + "out_proj", s.hidden, values, WeightFormat::Bf16);
  layers.missing("causal_conv1d", self + "conv1d");
  layers.missing("gated_delta_rule", self + "recurrence");
  layers.missing("gated_rms_norm", self + "norm");
}

static void planExperts(LayerPlanner &layers, const Sizes &s, int64_t ranks) {
  const std::string mlp = "layers.*.mlp.";
  int64_t shared = s.sharedIntermediate / ranks;
  layers.projection(mlp + "gate", s.experts, s.hidden, WeightFormat::Bf16);
  layers.projection(mlp + "shared_expert.gate_up_proj", 2 * shared, s.hidden, WeightFormat::Bf16);
  layers.projection(mlp + "shared_expert.down_proj", s.hidden, shared, WeightFormat::Bf16);
  layers.projection(mlp + "shared_expert_gate", 1, s.hidden, WeightFormat::Bf16);
  layers.missing("router_top_k", mlp + "gate");
  layers.missing("moe_align_block_size", mlp + "experts");
  layers.missing("grouped_matmul", mlp + "experts");
  layers.missing("silu_and_mul", mlp + "experts");
  layers.missing("moe_combine", mlp + "experts");
}

static void checkSizes(Configuration &c, const Sizes &s, int64_t ranks) {
  constexpr std::string_view kRanks = "tensor parallelism";
  c.requireMultiple("num_attention_heads", s.heads, s.keyHeads, "num_key_value_heads");
  c.requireMultiple("linear_num_value_heads", s.linearValueHeads, s.linearKeyHeads, "linear_num_key_heads");
  c.requireMultiple("num_attention_heads", s.heads, ranks, kRanks);
  c.requireMultiple("linear_num_key_heads", s.linearKeyHeads, ranks, kRanks);
  c.requireMultiple("shared_expert_intermediate_size", s.sharedIntermediate, ranks, kRanks);
  c.requireMultiple("moe_intermediate_size", s.expertIntermediate, ranks, kRanks);
  c.requireMultiple("vocab_size", s.vocabulary, ranks, kRanks);
  if (s.keyHeads % ranks != 0 && ranks % s.keyHeads != 0) {
    c.contradict("num_key_value_heads", "divide, or be divided by, tensor parallelism " + std::to_string(ranks),
                 std::to_string(s.keyHeads));
  }
}

Status planQwen3Next(Configuration &c, ModelPlan &plan) {
  Sizes s = readSizes(c);
  c.positive("num_hidden_layers");
  c.positive("full_attention_interval");
  c.positive("num_experts_per_tok");
  c.positive("linear_conv_kernel_dim");
  int64_t ranks = plan.options.tensorParallel;
  checkSizes(c, s, ranks);
  if (c.has("quantization_config")) {
    c.contradict("quantization_config", "be absent: only bf16 weights are planned for qwen3_next", "one");
  }
  JITK_TRY(c.takeStatus());

  LayerPlanner layers(plan);
  planLinearAttention(layers, s, ranks);
  planFullAttention(layers, s, ranks);
  planExperts(layers, s, ranks);
  layers.projection("lm_head", s.vocabulary / ranks, s.hidden, WeightFormat::Bf16);
  layers.missing("embedding", "embed_tokens");
  layers.missing("rms_norm", "layers.*.input_layernorm");
  if (ranks > 1) {
    layers.missing("all_reduce", "layers.*");
  }
  layers.missing("sampling", "lm_head");
  return layers.takeStatus();
}

} // namespace jitk
