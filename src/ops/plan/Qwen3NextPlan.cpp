// Qwen3-Next: three layers of gated delta rule to one of full attention, each with a mixture of experts.

#include "src/ops/plan/LayerPlanner.h"

#include <algorithm>

namespace jitk {
namespace {

struct Sizes {
  int64_t hidden, layers, fullInterval, expertWidth, sharedWidth, experts, activeExperts, vocabulary;
  int64_t heads, keyHeads, headDim;
  int64_t linearKeyHeads, linearValueHeads, linearKeyDim, linearValueDim;
};

} // namespace

static Sizes readSizes(Configuration &c) {
  return {.hidden = c.positive("hidden_size"),
          .layers = c.positive("num_hidden_layers"),
          .fullInterval = c.positive("full_attention_interval"),
          .expertWidth = c.positive("moe_intermediate_size"),
          .sharedWidth = c.positive("shared_expert_intermediate_size"),
          .experts = c.positive("num_experts"),
          .activeExperts = c.positive("num_experts_per_tok"),
          .vocabulary = c.positive("vocab_size"),
          .heads = c.positive("num_attention_heads"),
          .keyHeads = c.positive("num_key_value_heads"),
          .headDim = c.positive("head_dim"),
          .linearKeyHeads = c.positive("linear_num_key_heads"),
          .linearValueHeads = c.positive("linear_num_value_heads"),
          .linearKeyDim = c.positive("linear_key_head_dim"),
          .linearValueDim = c.positive("linear_value_head_dim")};
}

static void checkSizes(Configuration &c, const Sizes &s, int64_t ranks) {
  c.requireMultiple("num_attention_heads", s.heads, s.keyHeads, "num_key_value_heads");
  c.requireMultiple("linear_num_value_heads", s.linearValueHeads, s.linearKeyHeads, "linear_num_key_heads");
  if (s.activeExperts > s.experts) {
    c.contradict("num_experts_per_tok", "be at most num_experts " + std::to_string(s.experts),
                 std::to_string(s.activeExperts));
  }
  c.requireShares("num_attention_heads", s.heads, ranks, 1);
  if (s.keyHeads % ranks != 0 && ranks % s.keyHeads != 0) {
    c.contradict("num_key_value_heads", "divide, or be a multiple of, tensor parallelism " + std::to_string(ranks),
                 std::to_string(s.keyHeads));
  }
  c.requireShares("linear_num_key_heads", s.linearKeyHeads, ranks, 1);
  c.requireShares("shared_expert_intermediate_size", s.sharedWidth, ranks, 1);
  c.requireShares("moe_intermediate_size", s.expertWidth, ranks, 1);
  c.requireShares("vocab_size", s.vocabulary, ranks, 1);
}

static void planFullAttention(LayerPlanner &layers, const Sizes &s, int64_t ranks) {
  const std::string self = "layers.full.self_attn.";
  // Where there are more ranks than key heads, each rank holds a copy of one.
  int64_t heads = s.heads / ranks, keyHeads = std::max<int64_t>(1, s.keyHeads / ranks);
  // The query projection also gives the gate of the output.
  layers.projection(self + "q_proj", 2 * heads * s.headDim, s.hidden, WeightFormat::Plain);
  layers.projection(self + "k_proj", keyHeads * s.headDim, s.hidden, WeightFormat::Plain);
  layers.projection(self + "v_proj", keyHeads * s.headDim, s.hidden, WeightFormat::Plain);
  layers.projection(self + "o_proj", s.hidden, heads * s.headDim, WeightFormat::Plain);
  layers.prefillAttention(self + "prefill", heads, keyHeads, s.headDim, s.headDim);
  layers.pagedDecode(self + "decode", heads, keyHeads, s.headDim);
  layers.missing("rope", self + "rotary_emb");
  layers.missing("rms_norm", self + "q_norm");
  layers.missing("rms_norm", self + "k_norm");
  layers.missing("sigmoid_gate", self + "gate");
}

static void planLinearAttention(LayerPlanner &layers, const Sizes &s, int64_t ranks) {
  const std::string self = "layers.linear.linear_attn.";
  int64_t keys = s.linearKeyHeads * s.linearKeyDim / ranks, values = s.linearValueHeads * s.linearValueDim / ranks;
  layers.projection(self + "in_proj_qkvz", 2 * keys + 2 * values, s.hidden, WeightFormat::Plain);
  layers.projection(self + "in_proj_ba", 2 * s.linearValueHeads / ranks, s.hidden, WeightFormat::Plain);
  layers.projection(self + "out_proj", s.hidden, values, WeightFormat::Plain);
  layers.missing("causal_conv1d", self + "conv1d");
  layers.gatedDeltaRule(self, s.linearKeyHeads / ranks, s.linearValueHeads / ranks, s.linearKeyDim, s.linearValueDim);
  layers.missing("gated_rms_norm", self + "norm");
}

static void planExperts(LayerPlanner &layers, const Sizes &s, int64_t ranks) {
  const std::string mlp = "layers.*.mlp.";
  layers.perceptron(mlp + "shared_expert", s.sharedWidth / ranks, s.hidden, WeightFormat::Plain);
  layers.projection(mlp + "shared_expert_gate", 1, s.hidden, WeightFormat::Plain);
  layers.projection(mlp + "gate", s.experts, s.hidden, WeightFormat::Plain);
  layers.missing("router_top_k", mlp + "gate");
  layers.missing("moe_align_block_size", mlp + "experts");
  layers.missing("grouped_matmul", mlp + "experts.gate_up_proj");
  layers.missing("grouped_matmul", mlp + "experts.down_proj");
  layers.missing("silu_and_mul", mlp + "experts");
  layers.missing("silu_and_mul", mlp + "shared_expert");
  layers.missing("sigmoid_gate", mlp + "shared_expert_gate");
  layers.missing("moe_combine", mlp + "experts");
}

Status planQwen3Next(Configuration &c, ModelPlan &plan) {
  Sizes s = readSizes(c);
  LayerFacts facts{c.dtype(), c.positive("max_position_embeddings")};
  c.positive("linear_conv_kernel_dim");
  if (c.has("quantization_config")) {
    c.contradict("quantization_config", "be absent: weights of qwen3_next are planned in the model's dtype only",
                 "one");
  }
  int64_t ranks = plan.options.tensorParallel;
  JITK_TRY(c.takeStatus());
  checkSizes(c, s, ranks);
  JITK_TRY(c.takeStatus());

  LayerPlanner layers(plan, facts);
  if (s.fullInterval > 1) {
    planLinearAttention(layers, s, ranks);
  }
  if (s.fullInterval <= s.layers) {
    planFullAttention(layers, s, ranks);
  }
  planExperts(layers, s, ranks);
  layers.frame(s.vocabulary / ranks, s.hidden);
  return layers.takeStatus();
}

} // namespace jitk
