// DeepSeek-V3: multi-head latent attention, dense layers first, then mixtures of experts.

#include "src/ops/plan/Configuration.h"
#include "src/ops/plan/LayerPlanner.h"

namespace jitk {
namespace {

struct Sizes {
  int64_t hidden, intermediate, expertIntermediate, sharedExperts, experts;
  int64_t heads, queryRank, latentRank, nopeDim, ropeDim, valueDim, vocabulary;
};

} // namespace

static Sizes readSizes(Configuration &c) {
  return {c.positive("hidden_size"),      c.positive("intermediate_size"), c.positive("moe_intermediate_size"),
          c.positive("n_shared_experts"), c.positive("n_routed_experts"),  c.positive("num_attention_heads"),
          c.positive("q_lora_rank"),      c.positive("kv_lora_rank"),      c.positive("qk_nope_head_dim"),
          c.positive("qk_rope_head_dim"), c.positive("v_head_dim"),        c.positive("vocab_size")};
}

static WeightFormat weightFormat(Configuration &c) {
  if (!c.has("quantization_config")) {
    return WeightFormat::Bf16;
  }
  if (std::string method = c.nestedWord("quantization_config", "quant_method"); method != "fp8") {
    c.contradict("quantization_config.quant_method", "be fp8", "'" + method + "'");
  }
  if (std::string format = c.nestedWord("quantization_config", "fmt"); format != "e4m3") {
    c.contradict("quantization_config.fmt", "be e4m3", "'" + format + "'");
  }
  c.requireBlock("quantization_config", "weight_block_size", 128, 128);
  return WeightFormat::BlockFp8;
}

static void planAttention(LayerPlanner &layers, const Sizes &s, int64_t ranks, WeightFormat format) {
  const std::string self = "layers.*.self_attn.";
  int64_t heads = s.heads / ranks, queryDim = s.nopeDim + s.ropeDim;
  // The projections to the latent spaces are whole on every rank; heads are shared out.
  layers.projection(self + "q_a_proj", s.queryRank, s.hidden, format);
  layers.projection(self + "q_b_proj", heads * queryDim, s.queryRank, format);
  layers.projection(self + "kv_a_proj_with_mqa", s.latentRank + s.ropeDim, s.hidden, format);
  layers.projection(self + "kv_b_proj", heads * (s.nopeDim + s.valueDim), s.latentRank, format);
  layers.projection(self + "o_proj", s.hidden, heads * s.valueDim, format);
  layers.prefillAttention(self + "prefill", heads, heads, queryDim, s.valueDim);
  layers.missing("mla_decode", self + "decode");
  layers.missing("rope", self + "rotary_emb");
}

static void planFeedForward(LayerPlanner &layers, const Sizes &s, int64_t ranks, WeightFormat format) {
  layers.projection("layers.dense.mlp.gate_up_proj", 2 * s.intermediate / ranks, s.hidden, format);
  layers.projection("layers.dense.mlp.down_proj", s.hidden, s.intermediate / ranks, format);
  int64_t shared = s.sharedExperts * s.expertIntermediate / ranks;
  layers.projection("layers.moe.mlp.shared_experts.gate_up_proj", 2 * shared, s.hidden, format);
  layers.projection("layers.moe.mlp.shared_experts.down_proj", s.hidden, shared, format);
  // The router keeps bf16 weights in the published checkpoint.
  layers.projection("layers.moe.mlp.gate", s.experts, s.hidden, WeightFormat::Bf16);
  layers.missing("router_top_k", "layers.moe.mlp.gate");
  layers.missing("moe_align_block_size", "layers.moe.mlp.experts");
  layers.missing(format == WeightFormat::BlockFp8 ? "grouped_fp8_block_matmul" : "grouped_matmul",
                 "layers.moe.mlp.experts");
  layers.missing("silu_and_mul", "layers.*.mlp");
  layers.missing("moe_combine", "layers.moe.mlp.experts");
}

Status planDeepSeekV3(Configuration &c, ModelPlan &plan) {
  Sizes s = readSizes(c);
  c.positive("num_hidden_layers");
  c.positive("num_experts_per_tok");
  int64_t ranks = plan.options.tensorParallel;
  WeightFormat format = weightFormat(c);
  c.requireMultiple("num_attention_heads", s.heads, ranks, "tensor parallelism");
  c.requireMultiple("intermediate_size", s.intermediate, ranks, "tensor parallelism");
  c.requireMultiple("moe_intermediate_size", s.expertIntermediate, ranks, "tensor parallelism");
  c.requireMultiple("vocab_size", s.vocabulary, ranks, "tensor parallelism");
  if (c.has("num_key_value_heads") && c.positive("num_key_value_heads") != s.heads) {
    c.contradict("num_key_value_heads", "equal num_attention_heads " + std::to_string(s.heads),
                 std::to_string(c.positive("num_key_value_heads")));
  }
  JITK_TRY(c.takeStatus());

  LayerPlanner layers(plan);
  planAttention(layers, s, ranks, format);
  planFeedForward(layers, s, ranks, format);
  layers.projection("lm_head", s.vocabulary / ranks, s.hidden, WeightFormat::Bf16);
  layers.missing("embedding", "embed_tokens");
  layers.missing("rms_norm", "layers.*.input_layernorm");
  if (format == WeightFormat::BlockFp8) {
    layers.missing("quantize_fp8_1x128", "layers.*");
  }
  if (ranks > 1) {
    layers.missing("all_reduce", "layers.*");
  }
  layers.missing("sampling", "lm_head");
  return layers.takeStatus();
}

} // namespace jitk
