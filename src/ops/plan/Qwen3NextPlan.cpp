// Qwen3-Next: layers of gated delta rule and of full attention, each with a mixture of experts but for a few.

#include "src/ops/plan/LayerPlanner.h"

#include <algorithm>
#include <set>

namespace jitk {
namespace {

struct Sizes {
  int64_t hidden, layers, expertWidth, sharedWidth, experts, activeExperts, vocabulary;
  int64_t heads, keyHeads, headDim;
  int64_t linearKeyHeads, linearValueHeads, linearKeyDim, linearValueDim;
};

/// Which kinds of layers there are.
struct LayerKinds {
  bool hasFull = false, hasLinear = false; ///< attention
  bool hasExperts = false, hasDense = false;
};

} // namespace

static Sizes readSizes(Configuration &c) {
  return {.hidden = c.positive("hidden_size"),
          .layers = c.positive("num_hidden_layers"),
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

/// The attention of layer `layer` by `full_attention_interval`.
static std::string attentionAt(int64_t layer, int64_t interval) {
  return (layer + 1) % interval == 0 ? "full_attention" : "linear_attention";
}

/// Checks `layer_types` against the number of layers and, where that stands, `full_attention_interval`.
static void checkLayerTypes(Configuration &c, const std::vector<std::string> &types, int64_t layers) {
  if (int64_t(types.size()) != layers) {
    c.contradict("layer_types", "name each of num_hidden_layers " + std::to_string(layers),
                 std::to_string(types.size()));
  }
  int64_t interval = c.has("full_attention_interval") ? c.positive("full_attention_interval") : 0;
  for (size_t layer = 0; layer < types.size(); ++layer) {
    std::string field = "layer_types[" + std::to_string(layer) + "]", found = "'" + types[layer] + "'";
    if (types[layer] != "full_attention" && types[layer] != "linear_attention") {
      c.contradict(field, "be full_attention or linear_attention", found);
    } else if (interval > 0 && types[layer] != attentionAt(int64_t(layer), interval)) {
      c.contradict(field, "agree with full_attention_interval " + std::to_string(interval), found);
    }
  }
}

static LayerKinds readAttentionKinds(Configuration &c, int64_t layers) {
  if (!c.has("layer_types")) {
    int64_t interval = c.positive("full_attention_interval");
    return {.hasFull = interval <= layers, .hasLinear = interval > 1};
  }
  std::vector<std::string> types = c.words("layer_types");
  checkLayerTypes(c, types, layers);
  return {.hasFull = std::ranges::count(types, "full_attention") > 0,
          .hasLinear = std::ranges::count(types, "linear_attention") > 0};
}

/// The kinds by attention, and by what follows it: experts in each `decoder_sparse_step`-th layer but for those of
/// `mlp_only_layers`, one wide perceptron in all others.
static LayerKinds readLayerKinds(Configuration &c, int64_t layers) {
  LayerKinds kinds = readAttentionKinds(c, layers);
  int64_t step = c.has("decoder_sparse_step") ? c.positive("decoder_sparse_step") : 1;
  std::vector<int64_t> listed = c.has("mlp_only_layers") ? c.naturals("mlp_only_layers") : std::vector<int64_t>();
  std::set<int64_t> withoutExperts;
  for (int64_t layer : listed) {
    if (layer >= layers) {
      c.contradict("mlp_only_layers", "name layers below num_hidden_layers " + std::to_string(layers),
                   std::to_string(layer));
    }
    if ((layer + 1) % step == 0) {
      withoutExperts.insert(layer);
    }
  }
  kinds.hasExperts = int64_t(withoutExperts.size()) < layers / step;
  kinds.hasDense = step > 1 || !listed.empty();
  return kinds;
}

/// What the plan takes for granted of fields that need not be there.
static void checkAssumptions(Configuration &c) {
  c.requireIfGiven("attention_bias", "false");
  c.requireIfGiven("hidden_act", "\"silu\"");
  c.requireIfGiven("use_sliding_window", "false");
  if (c.has("quantization_config")) {
    c.contradict("quantization_config", "be absent: weights of qwen3_next are planned in the model's dtype only",
                 "one");
  }
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

/// `mlp` names the layers with experts.
static void planExperts(LayerPlanner &layers, const std::string &mlp, const Sizes &s, int64_t ranks) {
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

/// The wide perceptron of the layers without experts, whose width no other layer needs.
static void planDense(Configuration &c, LayerPlanner &layers, const Sizes &s, int64_t ranks) {
  int64_t width = c.positive("intermediate_size");
  c.requireShares("intermediate_size", width, ranks, 1);
  layers.perceptron("layers.dense.mlp", width / ranks, s.hidden, WeightFormat::Plain);
  layers.missing("silu_and_mul", "layers.dense.mlp");
}

Status planQwen3Next(Configuration &c, ModelPlan &plan) {
  Sizes s = readSizes(c);
  LayerKinds kinds = readLayerKinds(c, s.layers);
  LayerFacts facts{c.dtype(), c.positive("max_position_embeddings")};
  c.positive("linear_conv_kernel_dim");
  checkAssumptions(c);
  int64_t ranks = plan.options.tensorParallel;
  JITK_TRY(c.takeStatus());
  checkSizes(c, s, ranks);
  JITK_TRY(c.takeStatus());

  LayerPlanner layers(plan, facts);
  if (kinds.hasLinear) {
    planLinearAttention(layers, s, ranks);
  }
  if (kinds.hasFull) {
    planFullAttention(layers, s, ranks);
  }
  if (kinds.hasDense) {
    planDense(c, layers, s, ranks);
    JITK_TRY(c.takeStatus());
  }
  if (kinds.hasExperts) {
    planExperts(layers, kinds.hasDense ? "layers.moe.mlp." : "layers.*.mlp.", s, ranks);
  }
  layers.frame(s.vocabulary / ranks, s.hidden);
  return layers.takeStatus();
}

} // namespace jitk
