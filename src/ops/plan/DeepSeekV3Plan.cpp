// DeepSeek-V3: multi-head latent attention, dense layers first, then mixtures of experts.

#include "src/ops/plan/LayerPlanner.h"

#include <cmath>

namespace jitk {
namespace {

struct Sizes {
  int64_t hidden, layers, denseLayers, expertPeriod, denseWidth, expertWidth, sharedExperts, experts, activeExperts;
  int64_t heads, queryRank, latentRank, nopeDim, ropeDim, valueDim, vocabulary;
  int64_t predictors; ///< layers behind the others that guess further tokens
};

} // namespace

static Sizes readSizes(Configuration &c) {
  return {.hidden = c.positive("hidden_size"),
          .layers = c.positive("num_hidden_layers"),
          .denseLayers = c.natural("first_k_dense_replace"),
          .expertPeriod = c.has("moe_layer_freq") ? c.positive("moe_layer_freq") : 1,
          .denseWidth = c.positive("intermediate_size"),
          .expertWidth = c.positive("moe_intermediate_size"),
          .sharedExperts = c.positive("n_shared_experts"),
          .experts = c.positive("n_routed_experts"),
          .activeExperts = c.positive("num_experts_per_tok"),
          .heads = c.positive("num_attention_heads"),
          .queryRank = c.positive("q_lora_rank"),
          .latentRank = c.positive("kv_lora_rank"),
          .nopeDim = c.positive("qk_nope_head_dim"),
          .ropeDim = c.positive("qk_rope_head_dim"),
          .valueDim = c.positive("v_head_dim"),
          .vocabulary = c.positive("vocab_size"),
          .predictors = c.has("num_nextn_predict_layers") ? c.natural("num_nextn_predict_layers") : 0};
}

static WeightFormat readWeightFormat(Configuration &c) {
  if (!c.has("quantization_config")) {
    return WeightFormat::Plain;
  }
  c.require("quantization_config.quant_method", "\"fp8\"");
  c.require("quantization_config.fmt", "\"e4m3\"");
  c.require("quantization_config.activation_scheme", "\"dynamic\"");
  c.require("quantization_config.weight_block_size", "[128,128]");
  c.requireIfGiven("quantization_config.modules_to_not_convert", "[]");
  return WeightFormat::BlockFp8;
}
static_assert(kScaleBlock == 128);

/// What the plan takes for granted of fields that need not be there.
static void checkAssumptions(Configuration &c) {
  c.requireIfGiven("attention_bias", "false");
  c.requireIfGiven("hidden_act", "\"silu\"");
}

/// What stretches the context: `rope_scaling`, or `rope_parameters` as newer files call it.
static std::string_view ropeField(Configuration &c) {
  if (!c.has("rope_parameters")) {
    return "rope_scaling";
  }
  if (c.has("rope_scaling")) {
    c.contradict("rope_scaling", "be absent where rope_parameters stands", "both");
  }
  return "rope_parameters";
}

/// The scale of the scores. YaRN grows it with the logarithm of the factor by which it stretches the context.
static double readScale(Configuration &c, const Sizes &s) {
  double scale = 1 / std::sqrt(double(s.nopeDim + s.ropeDim));
  std::string rope(ropeField(c));
  if (!c.has(rope)) {
    return scale;
  }
  std::string type = c.word(rope + ".rope_type", rope + ".type");
  if (type == "default") {
    return scale;
  }
  if (type != "yarn") {
    c.contradict(rope + (c.has(rope + ".rope_type") ? ".rope_type" : ".type"), "be default or yarn", "'" + type + "'");
  }
  double factor = c.number(rope + ".factor", 1);
  double weight = c.has(rope + ".mscale_all_dim") ? c.number(rope + ".mscale_all_dim", 0) : 0;
  double growth = 1 + 0.1 * weight * std::log(factor);
  return scale * growth * growth;
}

static void checkHeads(Configuration &c, const Sizes &s, int64_t ranks, WeightFormat format) {
  if (c.has("num_key_value_heads") && c.positive("num_key_value_heads") != s.heads) {
    c.contradict("num_key_value_heads", "equal num_attention_heads " + std::to_string(s.heads),
                 std::to_string(c.positive("num_key_value_heads")));
  }
  c.requireIfGiven("qk_head_dim", std::to_string(s.nopeDim + s.ropeDim));
  c.requireShares("num_attention_heads", s.heads, ranks, 1);
  if (format == WeightFormat::BlockFp8 && s.heads % ranks == 0) {
    // A head's rows of q_b and kv_b and its columns of o may be cut from the whole weights only between scales.
    c.requireShares("qk_nope_head_dim", s.heads * (s.nopeDim + s.ropeDim), ranks, kScaleBlock);
    c.requireShares("v_head_dim", s.heads * s.valueDim, ranks, kScaleBlock);
  }
}

/// The router takes experts from the best groups only.
static void checkGroups(Configuration &c, const Sizes &s) {
  if (!c.has("n_group") && !c.has("topk_group")) {
    return;
  }
  int64_t groups = c.positive("n_group"), activeGroups = c.positive("topk_group");
  c.requireMultiple("n_routed_experts", s.experts, groups, "n_group");
  if (activeGroups > groups) {
    c.contradict("topk_group", "be at most n_group " + std::to_string(groups), std::to_string(activeGroups));
  }
  if (int64_t most = activeGroups * (s.experts / groups); s.activeExperts > most) {
    c.contradict("num_experts_per_tok", "be at most the " + std::to_string(most) + " experts of topk_group groups",
                 std::to_string(s.activeExperts));
  }
}

static void checkSizes(Configuration &c, const Sizes &s, int64_t ranks, WeightFormat format) {
  int64_t block = format == WeightFormat::BlockFp8 ? kScaleBlock : 1;
  checkHeads(c, s, ranks, format);
  if (s.denseLayers > s.layers) {
    c.contradict("first_k_dense_replace", "be at most num_hidden_layers " + std::to_string(s.layers),
                 std::to_string(s.denseLayers));
  }
  if (s.activeExperts > s.experts) {
    c.contradict("num_experts_per_tok", "be at most n_routed_experts " + std::to_string(s.experts),
                 std::to_string(s.activeExperts));
  }
  checkGroups(c, s);
  c.requireShares("intermediate_size", s.denseWidth, ranks, block);
  c.requireShares("moe_intermediate_size", s.expertWidth, ranks, block);
  c.requireShares("vocab_size", s.vocabulary, ranks, 1);
}

static void planAttention(LayerPlanner &layers, const Sizes &s, double scale, int64_t ranks, WeightFormat format) {
  const std::string self = "layers.*.self_attn.";
  int64_t heads = s.heads / ranks, queryDim = s.nopeDim + s.ropeDim;
  // The projections to the latent spaces are whole on every rank; heads are shared out.
  layers.projection(self + "q_a_proj", s.queryRank, s.hidden, format);
  layers.projection(self + "q_b_proj", heads * queryDim, s.queryRank, format);
  layers.projection(self + "kv_a_proj_with_mqa", s.latentRank + s.ropeDim, s.hidden, format);
  layers.projection(self + "kv_b_proj", heads * (s.nopeDim + s.valueDim), s.latentRank, format);
  layers.projection(self + "o_proj", s.hidden, heads * s.valueDim, format);
  layers.prefillAttention(self + "prefill", heads, heads, queryDim, s.valueDim, scale);
  // Decode stays in the latent space: kv_b is absorbed, head by head, into the query and the output.
  layers.missing("batched_matmul", self + "kv_b_proj.absorbed");
  layers.latentDecode(self + "decode", heads, s.latentRank, s.ropeDim);
  layers.missing("rope", self + "rotary_emb");
  layers.missing("rms_norm", self + "q_a_layernorm");
  layers.missing("rms_norm", self + "kv_a_layernorm");
}

static void planExperts(LayerPlanner &layers, const Sizes &s, int64_t ranks, WeightFormat format) {
  const std::string mlp = "layers.moe.mlp.";
  layers.perceptron(mlp + "shared_experts", s.sharedExperts * s.expertWidth / ranks, s.hidden, format);
  // The router keeps plain weights in the published checkpoint; its scores are compared after a bias is added, in fp32.
  layers.projection(mlp + "gate", s.experts, s.hidden, WeightFormat::Plain, "fp32");
  layers.missing("router_top_k", mlp + "gate");
  layers.missing("moe_align_block_size", mlp + "experts");
  if (format == WeightFormat::BlockFp8) {
    layers.experts(mlp + "experts", s.experts, s.expertWidth / ranks, s.hidden);
  } else {
    layers.missing("grouped_matmul", mlp + "experts.gate_up_proj");
    layers.missing("grouped_matmul", mlp + "experts.down_proj");
  }
  layers.missing("silu_and_mul", mlp + "experts");
  layers.missing("silu_and_mul", mlp + "shared_experts");
  layers.missing("moe_combine", mlp + "experts");
}

/// Layers that hold experts: from `first_k_dense_replace` on, those that `moe_layer_freq` divides.
static int64_t countExpertLayers(const Sizes &s) {
  auto multiplesBelow = [&](int64_t layer) { return (layer + s.expertPeriod - 1) / s.expertPeriod; };
  return multiplesBelow(s.layers) - multiplesBelow(s.denseLayers);
}

Status planDeepSeekV3(Configuration &c, ModelPlan &plan) {
  Sizes s = readSizes(c);
  LayerFacts facts{c.dtype(), c.positive("max_position_embeddings")};
  WeightFormat format = readWeightFormat(c);
  double scale = readScale(c, s);
  checkAssumptions(c);
  int64_t ranks = plan.options.tensorParallel;
  JITK_TRY(c.takeStatus());
  checkSizes(c, s, ranks, format);
  JITK_TRY(c.takeStatus());

  LayerPlanner layers(plan, facts);
  planAttention(layers, s, scale, ranks, format);
  int64_t expertLayers = countExpertLayers(s);
  if (expertLayers < s.layers) {
    layers.perceptron("layers.dense.mlp", s.denseWidth / ranks, s.hidden, format);
    layers.missing("silu_and_mul", "layers.dense.mlp");
  }
  if (expertLayers > 0) {
    planExperts(layers, s, ranks, format);
  }
  if (format == WeightFormat::BlockFp8) {
    layers.missing("quantize_fp8_1x128", "layers.*");
  }
  layers.frame(s.vocabulary / ranks, s.hidden);
  if (s.predictors > 0) {
    layers.missing("multi_token_prediction", "layers.nextn");
  }
  return layers.takeStatus();
}

} // namespace jitk
