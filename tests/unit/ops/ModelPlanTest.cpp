#include "src/ops/plan/ModelPlan.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using namespace jitk;
using Json = nlohmann::ordered_json;

namespace {

std::string readModel(const std::string &name) {
  std::ifstream file(std::string(JITK_TEST_DATA) + "/models/" + name + ".json");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

ModelPlan planOf(const std::string &model, int64_t ranks, int64_t maxTokens) {
  Result<ModelPlan> plan = planModel(readModel(model), {ranks, maxTokens});
  REQUIRE_MESSAGE(plan.ok(), plan.status().toString());
  return *std::move(plan);
}

/// The plan of a model with members replaced, and removed where they are null, for up to 16 tokens.
ModelPlan planWith(const std::string &model, const char *members, int64_t ranks = 1) {
  Json json = Json::parse(readModel(model));
  json.merge_patch(Json::parse(members));
  Result<ModelPlan> plan = planModel(json.dump(), {ranks, 16});
  REQUIRE_MESSAGE(plan.ok(), plan.status().toString());
  return *std::move(plan);
}

/// What a plan holds for one bucket, as "use: op [n, k] out_dtype" for matmuls.
std::set<std::string> matmulsOf(const ModelPlan &plan) {
  std::set<std::string> lines;
  for (const PlannedKernel &kernel : plan.kernels) {
    const Description &d = kernel.description;
    if (!d.op().ends_with("matmul")) {
      continue;
    }
    for (const std::string &use : kernel.uses) {
      lines.insert(use + ": " + d.op() + " [" + d.dimension("n").toString() + ", " + d.dimension("k").toString() +
                   "] " + d.word("out_dtype"));
    }
  }
  return lines;
}

std::vector<std::string> textsOf(const ModelPlan &plan, std::string_view op) {
  std::vector<std::string> texts;
  for (const PlannedKernel &kernel : plan.kernels) {
    if (kernel.description.op() == op) {
      texts.push_back(kernel.description.toString());
    }
  }
  return texts;
}

/// Checks the kernels, each as "use, use: description".
void checkLines(const ModelPlan &plan, const std::vector<std::string> &wanted) {
  REQUIRE(plan.kernels.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::vector<std::string> &uses = plan.kernels[i].uses;
    std::string line = uses.front();
    for (size_t use = 1; use < uses.size(); ++use) {
      line += ", " + uses[use];
    }
    CHECK(line + ": " + plan.kernels[i].description.toString() == wanted[i]);
  }
}

std::vector<std::string> missingFrom(const ModelPlan &plan) {
  std::vector<std::string> names;
  for (const MissingOp &absent : plan.missing) {
    names.push_back(absent.op);
  }
  return names;
}

using Lines = std::set<std::string>;
using Names = std::vector<std::string>;

} // namespace

TEST_SUITE_BEGIN("ops/ModelPlan");

TEST_CASE("every matmul of DeepSeek-V3 on one rank") {
  CHECK(matmulsOf(planOf("deepseek-v3", 1, 16)) ==
        Lines{"layers.*.self_attn.q_a_proj: fp8_block_matmul [1536, 7168] bf16",
              "layers.*.self_attn.q_b_proj: fp8_block_matmul [24576, 1536] bf16",
              "layers.*.self_attn.kv_a_proj_with_mqa: fp8_block_matmul [576, 7168] bf16",
              "layers.*.self_attn.kv_b_proj: fp8_block_matmul [32768, 512] bf16",
              "layers.*.self_attn.o_proj: fp8_block_matmul [7168, 16384] bf16",
              "layers.dense.mlp.gate_up_proj: fp8_block_matmul [36864, 7168] bf16",
              "layers.dense.mlp.down_proj: fp8_block_matmul [7168, 18432] bf16",
              "layers.moe.mlp.gate: matmul [256, 7168] fp32",
              "layers.moe.mlp.experts.gate_up_proj: grouped_fp8_block_matmul [4096, 7168] bf16",
              "layers.moe.mlp.experts.down_proj: grouped_fp8_block_matmul [7168, 2048] bf16",
              "layers.moe.mlp.shared_experts.gate_up_proj: fp8_block_matmul [4096, 7168] bf16",
              "layers.moe.mlp.shared_experts.down_proj: fp8_block_matmul [7168, 2048] bf16",
              "lm_head: matmul [129280, 7168] bf16"});
}

TEST_CASE("every matmul of DeepSeek-V3 on one of eight ranks") {
  CHECK(matmulsOf(planOf("deepseek-v3", 8, 16)) ==
        Lines{"layers.*.self_attn.q_a_proj: fp8_block_matmul [1536, 7168] bf16",
              "layers.*.self_attn.q_b_proj: fp8_block_matmul [3072, 1536] bf16",
              "layers.*.self_attn.kv_a_proj_with_mqa: fp8_block_matmul [576, 7168] bf16",
              "layers.*.self_attn.kv_b_proj: fp8_block_matmul [4096, 512] bf16",
              "layers.*.self_attn.o_proj: fp8_block_matmul [7168, 2048] bf16",
              "layers.dense.mlp.gate_up_proj: fp8_block_matmul [4608, 7168] bf16",
              "layers.dense.mlp.down_proj: fp8_block_matmul [7168, 2304] bf16",
              "layers.moe.mlp.gate: matmul [256, 7168] fp32",
              "layers.moe.mlp.experts.gate_up_proj: grouped_fp8_block_matmul [512, 7168] bf16",
              "layers.moe.mlp.experts.down_proj: grouped_fp8_block_matmul [7168, 256] bf16",
              "layers.moe.mlp.shared_experts.gate_up_proj: fp8_block_matmul [512, 7168] bf16",
              "layers.moe.mlp.shared_experts.down_proj: fp8_block_matmul [7168, 256] bf16",
              "lm_head: matmul [16160, 7168] bf16"});
}

TEST_CASE("every matmul of Qwen3-Next on one rank") {
  CHECK(matmulsOf(planOf("qwen3-next-80b-a3b", 1, 16)) ==
        Lines{"layers.linear.linear_attn.in_proj_qkvz: matmul [12288, 2048] bf16",
              "layers.linear.linear_attn.in_proj_ba: matmul [64, 2048] bf16",
              "layers.linear.linear_attn.out_proj: matmul [2048, 4096] bf16",
              "layers.full.self_attn.q_proj: matmul [8192, 2048] bf16",
              "layers.full.self_attn.k_proj: matmul [512, 2048] bf16",
              "layers.full.self_attn.v_proj: matmul [512, 2048] bf16",
              "layers.full.self_attn.o_proj: matmul [2048, 4096] bf16", "layers.*.mlp.gate: matmul [512, 2048] bf16",
              "layers.*.mlp.shared_expert.gate_up_proj: matmul [1024, 2048] bf16",
              "layers.*.mlp.shared_expert.down_proj: matmul [2048, 512] bf16",
              "layers.*.mlp.shared_expert_gate: matmul [1, 2048] bf16", "lm_head: matmul [151936, 2048] bf16"});
}

TEST_CASE("every matmul of Qwen3-Next on one of eight ranks") {
  CHECK(matmulsOf(planOf("qwen3-next-80b-a3b", 8, 16)) ==
        Lines{"layers.linear.linear_attn.in_proj_qkvz: matmul [1536, 2048] bf16",
              "layers.linear.linear_attn.in_proj_ba: matmul [8, 2048] bf16",
              "layers.linear.linear_attn.out_proj: matmul [2048, 512] bf16",
              "layers.full.self_attn.q_proj: matmul [1024, 2048] bf16",
              "layers.full.self_attn.k_proj: matmul [256, 2048] bf16", // two heads for eight ranks: each holds a copy
              "layers.full.self_attn.v_proj: matmul [256, 2048] bf16",
              "layers.full.self_attn.o_proj: matmul [2048, 512] bf16", "layers.*.mlp.gate: matmul [512, 2048] bf16",
              "layers.*.mlp.shared_expert.gate_up_proj: matmul [128, 2048] bf16",
              "layers.*.mlp.shared_expert.down_proj: matmul [2048, 64] bf16",
              "layers.*.mlp.shared_expert_gate: matmul [1, 2048] bf16", "lm_head: matmul [18992, 2048] bf16"});
}

TEST_CASE("prefill attention has the heads of one rank") {
  CHECK(textsOf(planOf("deepseek-v3", 8, 16), "flash_attention") ==
        Names{"flash_attention batch=* causal=true dtype=bf16 head_dim=192 heads=16 kv_heads=16 out_dtype=bf16 "
              "packed=false seq_k=*<=163840 seq_q=*<=16 total_k=*<=163840 total_q=*<=16 value_dim=128 varlen=true "
              "window_left=-1 window_right=-1"});
  CHECK(textsOf(planOf("qwen3-next-80b-a3b", 1, 32), "flash_attention") ==
        Names{"flash_attention batch=* causal=true dtype=bf16 head_dim=256 heads=16 kv_heads=2 out_dtype=bf16 "
              "packed=false seq_k=*<=262144 seq_q=*<=16 total_k=*<=262144 total_q=*<=16 value_dim=256 varlen=true "
              "window_left=-1 window_right=-1",
              "flash_attention batch=* causal=true dtype=bf16 head_dim=256 heads=16 kv_heads=2 out_dtype=bf16 "
              "packed=false seq_k=*<=262144 seq_q=*<=32 total_k=*<=262144 total_q=*<=32 value_dim=256 varlen=true "
              "window_left=-1 window_right=-1"});
  CHECK(textsOf(planOf("qwen3-next-80b-a3b", 8, 16), "flash_attention").front().find("heads=2 kv_heads=1 ") !=
        std::string::npos);
}

TEST_CASE("the linear attention of Qwen3-Next has a kernel for prefill and one for decode") {
  CHECK(textsOf(planOf("qwen3-next-80b-a3b", 8, 256), "gated_delta_rule") ==
        Names{"gated_delta_rule batch=* beta_dtype=bf16 chunk=64 dtype=bf16 initial_state=false key_dim=128 mode=chunk "
              "qk_heads=2 qk_l2norm=true slots=* state_layout=value-major state_pool=true tokens=*<=256 v_heads=4 "
              "value_dim=128 varlen=true",
              "gated_delta_rule batch=*<=256 beta_dtype=bf16 chunk=64 dtype=bf16 initial_state=false key_dim=128 "
              "mode=recurrent qk_heads=2 qk_l2norm=true slots=* state_layout=value-major state_pool=true tokens=1 "
              "v_heads=4 value_dim=128 varlen=false"});
  ModelPlan plan = planOf("qwen3-next-80b-a3b", 1, 16);
  auto ofPrefill = std::ranges::find_if(plan.kernels, [](const PlannedKernel &kernel) {
    return kernel.uses == Names{"layers.linear.linear_attn.prefill"};
  });
  REQUIRE(ofPrefill != plan.kernels.end());
  CHECK(ofPrefill->description.dimension("qk_heads").value == 16);
  CHECK(ofPrefill->description.dimension("v_heads").value == 32);
}

TEST_CASE("decoding in DeepSeek-V3's latent space makes a schedule or reuses one") {
  std::vector<std::string> texts = textsOf(planOf("deepseek-v3", 8, 16), "mla_decode");
  REQUIRE(texts.size() == 2);
  for (const std::string &text : texts) {
    CHECK(text.find("batch=*<=16 causal=false heads=16 kv_format=bf16 latent_dim=512") != std::string::npos);
    CHECK(text.find("num_pages=* out_dtype=bf16 page_size=64") != std::string::npos);
  }
  CHECK(texts[0].find("reuse_schedule=false") != std::string::npos);
  CHECK(texts[1].find("reuse_schedule=true") != std::string::npos);
}

TEST_CASE("decoding of Qwen3-Next's full attention makes a schedule or reuses one") {
  const std::string common = "paged_attention batch=*<=16 causal=false dtype=bf16 head_dim=256 heads=2 kv_heads=1 "
                             "max_kv=*<=262144 num_pages=* out_dtype=bf16 page_size=64 reuse_schedule=";
  CHECK(textsOf(planOf("qwen3-next-80b-a3b", 8, 16), "paged_attention") ==
        Names{common + "false seq_q=1 splits=* value_dim=256", common + "true seq_q=1 splits=* value_dim=256"});
}

TEST_CASE("what has no op yet is listed once, with its uses") {
  CHECK(missingFrom(planOf("deepseek-v3", 8, 16)) ==
        Names{"batched_matmul", "rope", "rms_norm", "silu_and_mul", "router_top_k", "moe_align_block_size",
              "moe_combine", "quantize_fp8_1x128", "embedding", "all_reduce", "all_gather", "sampling"});
  ModelPlan plan = planOf("qwen3-next-80b-a3b", 1, 16);
  CHECK(missingFrom(plan) == Names{"causal_conv1d", "gated_rms_norm", "rope", "rms_norm", "sigmoid_gate",
                                   "router_top_k", "moe_align_block_size", "grouped_matmul", "silu_and_mul",
                                   "moe_combine", "embedding", "sampling"});
  CHECK(plan.missing[7].uses == Names{"layers.*.mlp.experts.down_proj", "layers.*.mlp.experts.gate_up_proj"});
}

TEST_CASE("token buckets are powers of two from 16, then the largest batch") {
  CHECK(tokenBuckets(1) == std::vector<int64_t>{1});
  CHECK(tokenBuckets(16) == std::vector<int64_t>{16});
  CHECK(tokenBuckets(17) == std::vector<int64_t>{16, 17});
  CHECK(tokenBuckets(100) == std::vector<int64_t>{16, 32, 64, 100});
  CHECK(tokenBuckets(128) == std::vector<int64_t>{16, 32, 64, 128});
}

TEST_CASE("each bucket is a kernel of its own and equal ones share an entry") {
  ModelPlan plan = planOf("qwen3-next-80b-a3b", 8, 100);
  // 10 distinct weights (k_proj equals v_proj; o_proj equals out_proj) and one attention, for each of four buckets; and
  // two kernels of linear attention and two of decoding.
  CHECK(plan.kernels.size() == 4 * (10 + 1) + 2 + 2);
  std::set<std::string> texts, bounds;
  for (const PlannedKernel &kernel : plan.kernels) {
    CHECK(texts.insert(kernel.description.toString()).second);
    CHECK_FALSE(kernel.uses.empty());
    if (kernel.description.op() == "matmul") {
      bounds.insert(kernel.description.dimension("m").toString());
    }
  }
  CHECK(bounds == std::set<std::string>{"*<=16", "*<=32", "*<=64", "*<=100"});
}

TEST_CASE("a plan without quantization is one of plain matmuls, in the model's dtype") {
  Json model = Json::parse(readModel("deepseek-v3"));
  model.erase("quantization_config");
  model["torch_dtype"] = "float16";
  Result<ModelPlan> plan = planModel(model.dump(), {1, 16});
  REQUIRE(plan.ok());
  CHECK(matmulsOf(*plan).count("layers.*.self_attn.q_a_proj: matmul [1536, 7168] fp16") == 1);
  CHECK(textsOf(*plan, "flash_attention").front().find("dtype=fp16") != std::string::npos);
}

TEST_CASE("layers that a model does not have are not planned") {
  Json model = Json::parse(readModel("deepseek-v3"));
  model["first_k_dense_replace"] = 0;
  Lines lines = matmulsOf(*planModel(model.dump(), {1, 16}));
  CHECK(lines.count("layers.dense.mlp.down_proj: fp8_block_matmul [7168, 18432] bf16") == 0);
  CHECK(lines.size() == 11);
  model["first_k_dense_replace"] = 61;
  CHECK(matmulsOf(*planModel(model.dump(), {1, 16})).size() == 8);
}

// Sizes that all differ, and so do their shares, sums and products: one in the place of another shows.
TEST_CASE("every kernel of a DeepSeek-V3 whose sizes all differ, on one of two ranks") {
  ModelPlan plan = planWith("deepseek-v3", R"({"hidden_size": 1664, "intermediate_size": 2816,
      "moe_intermediate_size": 1280, "n_routed_experts": 24, "n_shared_experts": 3, "num_experts_per_tok": 5,
      "first_k_dense_replace": 2, "num_hidden_layers": 7, "num_attention_heads": 16, "num_key_value_heads": 16,
      "q_lora_rank": 176, "kv_lora_rank": 208, "qk_nope_head_dim": 96, "qk_rope_head_dim": 32, "v_head_dim": 48,
      "vocab_size": 5000, "max_position_embeddings": 9000,
      "rope_scaling": {"type": "yarn", "factor": 4, "mscale_all_dim": 0.5}})",
                            2);
  const std::string self = "layers.*.self_attn.", moe = "layers.moe.mlp.", dense = "layers.dense.mlp.";
  const std::string fp8 = "fp8_block_matmul a_scale_layout=row ", m = " m=*<=16 ", bf16 = "out_dtype=bf16";
  const std::string decode = "mla_decode batch=*<=16 causal=false heads=8 kv_format=bf16 latent_dim=208 max_kv=*<=9000 "
                             "num_pages=* out_dtype=bf16 page_size=64 reuse_schedule=";
  checkLines(
      plan,
      {self + "q_a_proj: " + fp8 + "k=1664" + m + "n=176 " + bf16,
       self + "q_b_proj: " + fp8 + "k=176" + m + "n=1024 " + bf16,
       self + "kv_a_proj_with_mqa: " + fp8 + "k=1664" + m + "n=240 " + bf16,
       self + "kv_b_proj: " + fp8 + "k=208" + m + "n=1152 " + bf16,
       self + "o_proj: " + fp8 + "k=384" + m + "n=1664 " + bf16,
       self + "prefill: flash_attention batch=* causal=true dtype=bf16 head_dim=128 heads=8 kv_heads=8 "
              "out_dtype=bf16 packed=false scale=0.10106624 seq_k=*<=9000 seq_q=*<=16 total_k=*<=9000 total_q=*<=16 "
              "value_dim=48 varlen=true window_left=-1 window_right=-1",
       self + "decode: " + decode + "false rope_dim=32 seq_q=1 splits=*",
       self + "decode: " + decode + "true rope_dim=32 seq_q=1 splits=*",
       dense + "gate_up_proj: " + fp8 + "k=1664" + m + "n=2816 " + bf16,
       dense + "down_proj: " + fp8 + "k=1408" + m + "n=1664 " + bf16,
       moe + "shared_experts.gate_up_proj: " + fp8 + "k=1664" + m + "n=3840 " + bf16,
       moe + "shared_experts.down_proj: " + fp8 + "k=1920" + m + "n=1664 " + bf16,
       moe + "gate: matmul a_layout=row accumulate=false activation=none b_layout=col bias=false dtype=bf16 k=1664" +
           m + "n=24 out_dtype=fp32 residual=false",
       moe +
           "experts.gate_up_proj: grouped_fp8_block_matmul a_scale_layout=row expected_m=0 groups=24 k=1664 m=* "
           "masked=false n=1280 " +
           bf16,
       moe +
           "experts.down_proj: grouped_fp8_block_matmul a_scale_layout=row expected_m=0 groups=24 k=640 m=* "
           "masked=false n=1664 " +
           bf16,
       "lm_head: matmul a_layout=row accumulate=false activation=none b_layout=col bias=false dtype=bf16 k=1664" + m +
           "n=2500 out_dtype=bf16 residual=false"});
}

TEST_CASE("every kernel of a Qwen3-Next whose sizes all differ, on one of two ranks") {
  ModelPlan plan = planWith("qwen3-next-80b-a3b", R"({"hidden_size": 320, "intermediate_size": 448,
      "moe_intermediate_size": 112, "shared_expert_intermediate_size": 208, "num_experts": 40,
      "num_experts_per_tok": 6, "num_hidden_layers": 5, "full_attention_interval": null, "layer_types":
      ["full_attention", "linear_attention", "linear_attention", "full_attention", "linear_attention"],
      "mlp_only_layers": [1], "num_attention_heads": 12, "num_key_value_heads": 4, "head_dim": 48,
      "linear_num_key_heads": 6, "linear_num_value_heads": 18, "linear_key_head_dim": 24,
      "linear_value_head_dim": 80, "vocab_size": 7000, "max_position_embeddings": 9000})",
                            2);
  const std::string full = "layers.full.self_attn.", linear = "layers.linear.linear_attn.";
  auto matmul = [](int64_t n, int64_t k) {
    return "matmul a_layout=row accumulate=false activation=none b_layout=col bias=false dtype=bf16 k=" +
           std::to_string(k) + " m=*<=16 n=" + std::to_string(n) + " out_dtype=bf16 residual=false";
  };
  const std::string delta = "gated_delta_rule batch=", states = " qk_heads=3 qk_l2norm=true slots=* "
                                                                "state_layout=value-major state_pool=true tokens=";
  const std::string decode = full + "decode: paged_attention batch=*<=16 causal=false dtype=bf16 head_dim=48 heads=6 "
                                    "kv_heads=2 max_kv=*<=9000 num_pages=* out_dtype=bf16 page_size=64 reuse_schedule=";
  const std::string rule = " beta_dtype=bf16 chunk=64 dtype=bf16 initial_state=false key_dim=24 mode=";
  checkLines(
      plan,
      {linear + "in_proj_qkvz: " + matmul(1584, 320), linear + "in_proj_ba: " + matmul(18, 320),
       linear + "out_proj: " + matmul(320, 720),
       linear + "prefill: " + delta + "*" + rule + "chunk" + states + "*<=16 v_heads=9 value_dim=80 varlen=true",
       linear + "decode: " + delta + "*<=16" + rule + "recurrent" + states + "1 v_heads=9 value_dim=80 varlen=false",
       full + "q_proj: " + matmul(576, 320), full + "k_proj, " + full + "v_proj: " + matmul(96, 320),
       full + "o_proj: " + matmul(320, 288),
       full + "prefill: flash_attention batch=* causal=true dtype=bf16 head_dim=48 heads=6 kv_heads=2 "
              "out_dtype=bf16 packed=false seq_k=*<=9000 seq_q=*<=16 total_k=*<=9000 total_q=*<=16 value_dim=48 "
              "varlen=true window_left=-1 window_right=-1",
       decode + "false seq_q=1 splits=* value_dim=48", decode + "true seq_q=1 splits=* value_dim=48",
       "layers.dense.mlp.gate_up_proj: " + matmul(448, 320), "layers.dense.mlp.down_proj: " + matmul(320, 224),
       "layers.moe.mlp.shared_expert.gate_up_proj: " + matmul(208, 320),
       "layers.moe.mlp.shared_expert.down_proj: " + matmul(320, 104),
       "layers.moe.mlp.shared_expert_gate: " + matmul(1, 320), "layers.moe.mlp.gate: " + matmul(40, 320),
       "lm_head: " + matmul(3500, 320)});
}

TEST_CASE("YaRN scales the scores of DeepSeek-V3's prefill") {
  auto scaleOf = [](const char *members) {
    std::vector<std::string> texts = textsOf(planWith("deepseek-v3", members), "flash_attention");
    REQUIRE(texts.size() == 1);
    size_t place = texts.front().find(" scale=");
    return place == std::string::npos ? ""
                                      : texts.front().substr(place + 7, texts.front().find(' ', place + 7) - place - 7);
  };
  // (1 + 0.1 ln 40)^2 / sqrt(192)
  CHECK(scaleOf(R"({"rope_scaling": {"type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0}})") ==
        "0.13523377");
  CHECK(scaleOf(R"({"rope_parameters": {"rope_type": "yarn", "factor": 40, "mscale_all_dim": 1.0}})") == "0.13523377");
  for (const char *unscaled :
       {R"({})", R"({"rope_scaling": null})", R"({"rope_scaling": {"type": "yarn", "factor": 40, "mscale": 1.0}})",
        R"({"rope_scaling": {"type": "yarn", "factor": 1, "mscale_all_dim": 1.0}})",
        R"({"rope_parameters": {"rope_type": "default", "rope_theta": 10000}})"}) {
    CAPTURE(unscaled);
    CHECK(scaleOf(unscaled) == "");
  }
}

TEST_CASE("the layers' kinds of attention come from a list or an interval") {
  auto opsOf = [](const char *members) {
    ModelPlan plan = planWith("qwen3-next-80b-a3b", members);
    return std::pair(textsOf(plan, "gated_delta_rule").size(), textsOf(plan, "flash_attention").size());
  };
  using Counts = std::pair<size_t, size_t>;
  CHECK(opsOf(R"({"full_attention_interval": 1})") == Counts(0, 1));
  CHECK(opsOf(R"({"full_attention_interval": 49})") == Counts(2, 0));
  CHECK(opsOf(R"({"full_attention_interval": 48})") == Counts(2, 1));
  CHECK(opsOf(R"({"num_hidden_layers": 2, "full_attention_interval": null,
                  "layer_types": ["full_attention", "full_attention"]})") == Counts(0, 1));
  CHECK(opsOf(R"({"num_hidden_layers": 2, "full_attention_interval": null,
                  "layer_types": ["linear_attention", "linear_attention"]})") == Counts(2, 0));
  CHECK(opsOf(R"({"num_hidden_layers": 2, "full_attention_interval": 2,
                  "layer_types": ["linear_attention", "full_attention"]})") == Counts(2, 1));
}

TEST_CASE("layers without experts have one wide perceptron") {
  auto kindsOf = [](const char *model, const char *members) {
    std::string kinds;
    for (const std::string &line : matmulsOf(planWith(model, members))) {
      bool isDown = line.find(".down_proj:") != std::string::npos;
      kinds += isDown && line.find(".experts.") == std::string::npos ? line.substr(0, line.find(':')) + " " : "";
    }
    return kinds;
  };
  const std::string dense = "layers.dense.mlp.down_proj ";
  const std::string ofQwen = "layers.moe.mlp.shared_expert.down_proj ",
                    ofDeepSeek = "layers.moe.mlp.shared_experts.down_proj ";
  const char *qwen = "qwen3-next-80b-a3b", *deepSeek = "deepseek-v3";
  CHECK(kindsOf(qwen, R"({"mlp_only_layers": [], "decoder_sparse_step": 1})") ==
        "layers.*.mlp.shared_expert.down_proj ");
  CHECK(kindsOf(qwen, R"({"mlp_only_layers": [0, 1]})") == dense + ofQwen);
  CHECK(kindsOf(qwen, R"({"decoder_sparse_step": 2})") == dense + ofQwen);
  CHECK(kindsOf(qwen, R"({"decoder_sparse_step": 49})") == dense);
  CHECK(kindsOf(qwen, R"({"decoder_sparse_step": 20, "mlp_only_layers": [19, 19, 38]})") == dense + ofQwen);
  CHECK(kindsOf(qwen, R"({"decoder_sparse_step": 20, "mlp_only_layers": [19, 39]})") == dense);
  CHECK(kindsOf(deepSeek, R"({"first_k_dense_replace": 0, "moe_layer_freq": 1})") == ofDeepSeek);
  CHECK(kindsOf(deepSeek, R"({"first_k_dense_replace": 0, "moe_layer_freq": 2})") == dense + ofDeepSeek);
  CHECK(kindsOf(deepSeek, R"({"first_k_dense_replace": 1, "moe_layer_freq": 60})") == dense + ofDeepSeek);
  CHECK(kindsOf(deepSeek, R"({"first_k_dense_replace": 1, "moe_layer_freq": 61})") == dense);
}

TEST_CASE("layers that predict further tokens are named as missing") {
  CHECK(missingFrom(planWith("deepseek-v3", R"({"num_nextn_predict_layers": 1})")).back() == "multi_token_prediction");
  CHECK(missingFrom(planWith("deepseek-v3", R"({"num_nextn_predict_layers": 0})")).back() == "sampling");
}

TEST_CASE("the plan file names kernels, uses and what is missing") {
  Json plan = Json::parse(planOf("deepseek-v3", 8, 16).toJson());
  CHECK(plan["jitk_plan"] == 1);
  CHECK(plan["model"] == "deepseek_v3");
  CHECK(plan["tensor_parallel"] == 8);
  CHECK(plan["max_tokens"] == 16);
  CHECK(plan["kernels"].size() == 16);
  CHECK(plan["kernels"][1] == Json::parse(R"({"op": "fp8_block_matmul",
      "attributes": {"a_scale_layout": "row", "k": 1536, "m": "*<=16", "n": 3072, "out_dtype": "bf16"},
      "uses": ["layers.*.self_attn.q_b_proj"]})"));
  CHECK(plan["missing"][1] == Json::parse(R"({"op": "rope", "uses": ["layers.*.self_attn.rotary_emb"]})"));
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("ops/ModelPlan errors");

static std::string failureOf(const std::string &text, ModelPlanOptions options = {1, 16}) {
  Result<ModelPlan> plan = planModel(text, options);
  REQUIRE_FALSE(plan.ok());
  CHECK(plan.status().code() == StatusCode::InvalidArgument);
  return plan.status().toString();
}

/// The failure of a model with one field changed, or removed if `value` is "".
static std::string failureWith(const std::string &model, const std::string &field, const std::string &value,
                               int64_t ranks = 1) {
  Json json = Json::parse(readModel(model));
  if (value.empty()) {
    json.erase(field);
  } else {
    json[Json::json_pointer("/" + field)] = Json::parse(value);
  }
  return failureOf(json.dump(), {ranks, 16});
}

TEST_CASE("what is no configuration is refused") {
  CHECK(
      failureOf("").starts_with("a model configuration must be a JSON object: got malformed JSON: line 1, column 1: "));
  CHECK(failureOf("[1]") == "a model configuration must be a JSON object: got array");
  CHECK(failureOf("{}") == "field model_type must be a string: got none");
  CHECK(failureOf(R"({"model_type": 3})") == "field model_type must be a string: got 3");
  CHECK(failureOf(R"({"model_type": "llama"})") == "field model_type must be deepseek_v3 or qwen3_next: got 'llama'");
}

TEST_CASE("architectures that are another model's than model_type are refused") {
  CHECK(failureWith("deepseek-v3", "model_type", "\"qwen3_next\"") ==
        "field architectures must be Qwen3NextForCausalLM where model_type is qwen3_next: got 'DeepseekV3ForCausalLM'");
  CHECK(failureWith("qwen3-next-80b-a3b", "architectures", R"(["Qwen3NextForCausalLM", "DeepseekV3ForCausalLM"])") ==
        "field architectures must be Qwen3NextForCausalLM where model_type is qwen3_next: got 'DeepseekV3ForCausalLM'");
  CHECK(failureWith("deepseek-v3", "architectures", R"(["LlamaForCausalLM"])") ==
        "field architectures must be DeepseekV3ForCausalLM where model_type is deepseek_v3: got 'LlamaForCausalLM'");
  CHECK(failureWith("deepseek-v3", "architectures", "3") == "field architectures must be a list of strings: got 3");
  for (const char *nothing : {"", "null", "[]"}) {
    CAPTURE(nothing); // read on, to what is wrong as well
    Json json = Json::parse(readModel("deepseek-v3"));
    json.erase("architectures");
    if (*nothing) {
      json["architectures"] = Json::parse(nothing);
    }
    json["hidden_size"] = 0;
    CHECK(failureOf(json.dump()).starts_with("field hidden_size must be"));
  }
}

TEST_CASE("options out of range are refused") {
  CHECK(failureOf("{}", {0, 16}) == "tensor parallelism must be between 1 and 2147483392: got 0");
  CHECK(failureOf("{}", {1, 0}) == "the largest number of tokens must be between 1 and 2147483392: got 0");
}

TEST_CASE("every field that a plan needs is named when it is missing") {
  for (const char *field :
       {"hidden_size", "num_hidden_layers", "intermediate_size", "moe_intermediate_size", "n_shared_experts",
        "n_routed_experts", "num_experts_per_tok", "num_attention_heads", "q_lora_rank", "kv_lora_rank",
        "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "vocab_size", "max_position_embeddings"}) {
    CAPTURE(field);
    CHECK(failureWith("deepseek-v3", field, "") ==
          "field " + std::string(field) + " must be an integer between 1 and 16777216: got none");
  }
  for (const char *field :
       {"hidden_size", "num_hidden_layers", "full_attention_interval", "moe_intermediate_size",
        "shared_expert_intermediate_size", "num_experts", "num_experts_per_tok", "vocab_size", "num_attention_heads",
        "num_key_value_heads", "head_dim", "linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim",
        "linear_value_head_dim", "linear_conv_kernel_dim", "max_position_embeddings"}) {
    CAPTURE(field);
    CHECK(failureWith("qwen3-next-80b-a3b", field, "") ==
          "field " + std::string(field) + " must be an integer between 1 and 16777216: got none");
  }
  CHECK(failureWith("deepseek-v3", "first_k_dense_replace", "") ==
        "field first_k_dense_replace must be an integer between 0 and 16777216: got none");
  CHECK(failureWith("deepseek-v3", "torch_dtype", "") == "field torch_dtype must be a string: got none");
}

TEST_CASE("a field of the wrong type or range is named with what was found") {
  const std::string wanted = "field hidden_size must be an integer between 1 and 16777216: got ";
  for (const char *value :
       {"0", "-7168", "7168.5", "\"7168\"", "null", "true", "16777217", "1e30", "[7168]", "18446744073709551615"}) {
    CAPTURE(value);
    CHECK(failureWith("deepseek-v3", "hidden_size", value) == wanted + Json::parse(value).dump());
  }
  CHECK(failureWith("qwen3-next-80b-a3b", "torch_dtype", "\"float32\"") ==
        "field torch_dtype must be bfloat16 or float16: got 'float32'");
}

TEST_CASE("a quantization that is not planned is refused") {
  const char *model = "deepseek-v3";
  CHECK(failureWith(model, "quantization_config/quant_method", "\"awq\"") ==
        "field quantization_config.quant_method must be \"fp8\": got \"awq\"");
  CHECK(failureWith(model, "quantization_config/fmt", "\"e5m2\"") ==
        "field quantization_config.fmt must be \"e4m3\": got \"e5m2\"");
  CHECK(failureWith(model, "quantization_config/activation_scheme", "\"static\"") ==
        "field quantization_config.activation_scheme must be \"dynamic\": got \"static\"");
  CHECK(failureWith(model, "quantization_config/weight_block_size", "[64,128]") ==
        "field quantization_config.weight_block_size must be [128,128]: got [64,128]");
  CHECK(failureWith(model, "quantization_config", "7") ==
        "field quantization_config.quant_method must be \"fp8\": got none");
  CHECK(failureWith("qwen3-next-80b-a3b", "quantization_config", "{}") ==
        "field quantization_config must be absent: weights of qwen3_next are planned in the model's dtype only: got "
        "one");
}

TEST_CASE("what the ranks cannot share is refused") {
  CHECK(failureWith("deepseek-v3", "num_attention_heads", "128", 3) ==
        "field num_attention_heads must give equal shares to 3 ranks: got 128");
  CHECK(failureWith("deepseek-v3", "moe_intermediate_size", "2176", 2) ==
        "field moe_intermediate_size must give shares of whole blocks of 128 to 2 ranks: got 2176");
  CHECK(failureWith("deepseek-v3", "intermediate_size", "18432", 32) ==
        "field intermediate_size must give shares of whole blocks of 128 to 32 ranks: got 18432");
  CHECK(failureWith("deepseek-v3", "num_attention_heads", "128", 128) ==
        "field qk_nope_head_dim must give shares of whole blocks of 128 to 128 ranks: got 24576");
  CHECK(failureWith("deepseek-v3", "vocab_size", "129281", 2) ==
        "field vocab_size must give equal shares to 2 ranks: got 129281");
  CHECK(failureWith("qwen3-next-80b-a3b", "linear_num_key_heads", "16", 32) ==
        "field num_attention_heads must give equal shares to 32 ranks: got 16");
  CHECK(failureWith("qwen3-next-80b-a3b", "num_attention_heads", "6", 3) ==
        "field num_key_value_heads must divide, or be a multiple of, tensor parallelism 3: got 2");
}

TEST_CASE("values that contradict each other are refused") {
  CHECK(failureWith("deepseek-v3", "num_key_value_heads", "64") ==
        "field num_key_value_heads must equal num_attention_heads 128: got 64");
  CHECK(failureWith("deepseek-v3", "qk_head_dim", "128") == "field qk_head_dim must be 192: got 128");
  CHECK(failureWith("deepseek-v3", "first_k_dense_replace", "62") ==
        "field first_k_dense_replace must be at most num_hidden_layers 61: got 62");
  CHECK(failureWith("deepseek-v3", "num_experts_per_tok", "257") ==
        "field num_experts_per_tok must be at most n_routed_experts 256: got 257");
  CHECK(failureWith("qwen3-next-80b-a3b", "num_key_value_heads", "3") ==
        "field num_attention_heads must be a multiple of num_key_value_heads 3: got 16");
  CHECK(failureWith("qwen3-next-80b-a3b", "linear_num_value_heads", "40") ==
        "field linear_num_value_heads must be a multiple of linear_num_key_heads 16: got 40");
  CHECK(failureWith("qwen3-next-80b-a3b", "num_experts_per_tok", "513") ==
        "field num_experts_per_tok must be at most num_experts 512: got 513");
}

TEST_CASE("fields that stand twice, or in two places, must agree") {
  CHECK(failureWith("deepseek-v3", "dtype", "\"float16\"") ==
        "field dtype must equal torch_dtype 'bfloat16': got 'float16'");
  CHECK(failureWith("deepseek-v3", "rope_scaling", R"({"type": "yarn", "rope_type": "default", "factor": 4})") ==
        "field rope_scaling.rope_type must equal rope_scaling.type 'yarn': got 'default'");
  Json both = Json::parse(readModel("deepseek-v3"));
  both["rope_scaling"] = both["rope_parameters"] = Json::parse(R"({"type": "yarn", "factor": 4})");
  CHECK(failureOf(both.dump()) == "field rope_scaling must be absent where rope_parameters stands: got both");
}

TEST_CASE("kinds of layers that contradict the layers are refused") {
  const char *model = "qwen3-next-80b-a3b";
  CHECK(failureWith(model, "layer_types", Json(Names(48, "full_attention")).dump()) ==
        "field layer_types[0] must agree with full_attention_interval 4: got 'full_attention'");
  CHECK(failureWith(model, "layer_types", Json(Names(47, "linear_attention")).dump()) ==
        "field layer_types must name each of num_hidden_layers 48: got 47");
  CHECK(failureWith(model, "layer_types", Json(Names(48, "sliding_attention")).dump()) ==
        "field layer_types[0] must be full_attention or linear_attention: got 'sliding_attention'");
  CHECK(failureWith(model, "layer_types", "[1]") == "field layer_types must be a list of strings: got [1]");
  CHECK(failureWith(model, "mlp_only_layers", "[0, 48]") ==
        "field mlp_only_layers must name layers below num_hidden_layers 48: got 48");
  CHECK(failureWith(model, "mlp_only_layers", "[-1]") ==
        "field mlp_only_layers must be a list of integers between 0 and 16777216: got [-1]");
  CHECK(failureWith(model, "decoder_sparse_step", "0") ==
        "field decoder_sparse_step must be an integer between 1 and 16777216: got 0");
  Json wide = Json::parse(readModel(model));
  wide["mlp_only_layers"] = {0};
  wide["intermediate_size"] = 5121;
  CHECK(failureOf(wide.dump(), {2, 16}) == "field intermediate_size must give equal shares to 2 ranks: got 5121");
  wide.erase("intermediate_size");
  CHECK(failureOf(wide.dump()) == "field intermediate_size must be an integer between 1 and 16777216: got none");
  CHECK(failureWith("deepseek-v3", "moe_layer_freq", "0") ==
        "field moe_layer_freq must be an integer between 1 and 16777216: got 0");
}

TEST_CASE("what a plan takes for granted is refused where a model says otherwise") {
  for (const char *model : {"deepseek-v3", "qwen3-next-80b-a3b"}) {
    CHECK(failureWith(model, "attention_bias", "true") == "field attention_bias must be false: got true");
    CHECK(failureWith(model, "hidden_act", "\"gelu\"") == "field hidden_act must be \"silu\": got \"gelu\"");
  }
  CHECK(failureWith("qwen3-next-80b-a3b", "use_sliding_window", "true") ==
        "field use_sliding_window must be false: got true");
  CHECK(failureWith("deepseek-v3", "quantization_config/modules_to_not_convert", "[\"o_proj\"]") ==
        "field quantization_config.modules_to_not_convert must be []: got [\"o_proj\"]");
}

TEST_CASE("a context that is stretched in a way that is not planned is refused") {
  const char *model = "deepseek-v3";
  CHECK(failureWith(model, "rope_scaling", R"({"type": "linear", "factor": 4})") ==
        "field rope_scaling.type must be default or yarn: got 'linear'");
  CHECK(failureWith(model, "rope_scaling", R"({"type": "yarn"})") ==
        "field rope_scaling.factor must be a number of at least 1.0: got none");
  CHECK(failureWith(model, "rope_scaling", R"({"type": "yarn", "factor": 0.5})") ==
        "field rope_scaling.factor must be a number of at least 1.0: got 0.5");
  CHECK(failureWith(model, "rope_scaling", R"({"type": "yarn", "factor": 4, "mscale_all_dim": "1"})") ==
        "field rope_scaling.mscale_all_dim must be a number of at least 0.0: got \"1\"");
  CHECK(failureWith(model, "rope_scaling", R"({"type": "yarn", "factor": 4, "mscale_all_dim": 1e6})") ==
        "attribute scale must be a number above 0 and at most 65536: got '1386968448'; while planning "
        "layers.*.self_attn.prefill");
  CHECK(failureWith(model, "rope_scaling", "7") == "field rope_scaling.type must be a string: got none");
}

TEST_CASE("groups of experts that contradict the experts are refused") {
  auto failureOfGroups = [](const char *groups) {
    Json json = Json::parse(readModel("deepseek-v3"));
    json.merge_patch(Json::parse(groups));
    return failureOf(json.dump());
  };
  CHECK(failureOfGroups(R"({"n_group": 8})") == "field topk_group must be an integer between 1 and 16777216: got none");
  CHECK(failureOfGroups(R"({"n_group": 7, "topk_group": 4})") ==
        "field n_routed_experts must be a multiple of n_group 7: got 256");
  CHECK(failureOfGroups(R"({"n_group": 8, "topk_group": 9})") == "field topk_group must be at most n_group 8: got 9");
  CHECK(failureOfGroups(R"({"n_group": 64, "topk_group": 1})") ==
        "field num_experts_per_tok must be at most the 4 experts of topk_group groups: got 8");
}

TEST_CASE("a head that no schema takes is refused with the projection's name") {
  CHECK(failureWith("qwen3-next-80b-a3b", "head_dim", "1024") ==
        "attribute head_dim must be an integer between 16 and 512: got '1024'; while planning "
        "layers.full.self_attn.prefill");
}

TEST_SUITE_END();
