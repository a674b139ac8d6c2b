#include "tests/conformance/Cases.h"

namespace jitk::conformance {

const std::vector<checked::Problem> &edgeCases() {
  static const std::vector<checked::Problem> cases = {
      // matmul: the least problem, ragged edges in each dimension, both layouts, each pair of types.
      {"matmul m=1 n=1 k=1", {}},
      {"matmul m=128 n=128 k=128 dtype=fp16", {}},
      {"matmul m=17 n=9 k=1 dtype=fp16 out_dtype=fp32", {}},
      {"matmul m=33 n=65 k=47 dtype=fp16", {}},
      {"matmul m=33 n=65 k=47 dtype=bf16 b_layout=col out_dtype=fp32", {}},
      {"matmul m=100 n=72 k=136 dtype=bf16 b_layout=col", {}},
      {"matmul m=64 n=130 k=72 dtype=bf16 b_layout=row out_dtype=fp16", {}},
      {"matmul m=129 n=16 k=64 dtype=fp16 b_layout=col", {}},
      {"matmul m=1 n=256 k=200 dtype=bf16 b_layout=col", {}},
      {"matmul m=*<=100 n=48 k=80 dtype=bf16 b_layout=col", {{"m", 0}}},
      {"matmul m=*<=100 n=48 k=80 dtype=bf16 b_layout=col", {{"m", 1}}},
      {"matmul m=*<=100 n=48 k=80 dtype=bf16 b_layout=col", {{"m", 77}}},
      {"matmul m=* n=*%8 k=*%16 dtype=fp16", {{"m", 5}, {"n", 40}, {"k", 48}}},
      {"matmul m=* n=* k=* dtype=bf16 b_layout=col", {{"m", 18}, {"n", 21}, {"k", 37}}},

      // matmul in tiles that TMA moves: tails in each dimension, one block of K, CTAs that take several tiles or none.
      {"matmul m=300 n=328 k=200 dtype=bf16 b_layout=col", {}},
      {"matmul m=131 n=264 k=72 dtype=fp16 b_layout=row out_dtype=fp32", {}},
      {"matmul m=1 n=8 k=8 dtype=bf16", {}},
      {"matmul m=70 n=36 k=64 dtype=bf16 b_layout=col out_dtype=fp32", {}},
      {"matmul m=* n=512 k=192 dtype=bf16 b_layout=row", {{"m", 0}}},
      {"matmul m=* n=512 k=192 dtype=bf16 b_layout=row", {{"m", 333}}},
      {"matmul m=*<=64 n=*%8 k=136 dtype=fp16 b_layout=col", {{"m", 40}, {"n", 0}}},
      {"matmul m=*<=64 n=*%8 k=136 dtype=fp16 b_layout=col", {{"m", 40}, {"n", 88}}},
      {"matmul m=24 n=16 k=*%8 dtype=bf16", {{"k", 0}}},

      // flash_attention: masks, groups of heads, every head size, lengths that are no multiple of a block.
      {"flash_attention heads=1 seq_q=32 seq_k=32 head_dim=32 dtype=fp16 out_dtype=fp32", {}},
      {"flash_attention heads=2 kv_heads=1 seq_q=70 seq_k=100 head_dim=64 causal=true", {}},
      {"flash_attention heads=2 seq_q=1 seq_k=1 head_dim=64 dtype=fp16", {}},
      {"flash_attention heads=1 seq_q=5 seq_k=67 head_dim=128 dtype=fp16", {}},
      {"flash_attention heads=2 kv_heads=2 seq_q=130 seq_k=40 head_dim=64 causal=true dtype=fp16", {}},
      {"flash_attention heads=1 seq_q=33 seq_k=65 head_dim=128 causal=true", {}},
      {"flash_attention heads=1 seq_q=20 seq_k=70 head_dim=256 causal=true", {}},
      {"flash_attention heads=1 seq_q=24 seq_k=40 head_dim=192 value_dim=128 causal=true", {}},
      {"flash_attention batch=3 heads=2 kv_heads=1 seq_q=40 seq_k=72 head_dim=64 causal=true varlen=true", {}},
      {"flash_attention batch=2 heads=1 seq_q=20 seq_k=50 head_dim=64 varlen=true dtype=fp16 out_dtype=fp32", {}},
      {"flash_attention batch=* heads=2 seq_q=* seq_k=* head_dim=64 causal=true",
       {{"batch", 2}, {"seq_q", 19}, {"seq_k", 83}}},
      {"flash_attention batch=* heads=2 seq_q=* seq_k=* head_dim=64", {{"batch", 1}, {"seq_q", 7}, {"seq_k", 0}}},

      // fp8_block_matmul: scale blocks that are whole and cut in each dimension.
      {"fp8_block_matmul m=64 n=128 k=128 out_dtype=fp16", {}},
      {"fp8_block_matmul m=17 n=200 k=300 out_dtype=bf16", {}},
      {"fp8_block_matmul m=1 n=129 k=136 out_dtype=fp16", {}},
      {"fp8_block_matmul m=83 n=132 k=84 out_dtype=fp16", {}},
      {"fp8_block_matmul m=* n=128 k=256", {{"m", 0}}},
      {"fp8_block_matmul m=* n=128 k=256", {{"m", 70}}},

      // gated_delta_rule, token by token: layouts, norms, dims that are no powers of two, packed sequences, pools.
      {"gated_delta_rule mode=recurrent tokens=1 qk_heads=1 key_dim=16 value_dim=32", {}},
      {"gated_delta_rule mode=recurrent batch=2 tokens=7 qk_heads=1 v_heads=2 key_dim=60 value_dim=72 qk_l2norm=true "
       "initial_state=true dtype=fp16",
       {}},
      {"gated_delta_rule mode=recurrent tokens=6 qk_heads=1 key_dim=256 value_dim=96 state_layout=value-major "
       "initial_state=true dtype=fp32",
       {}},
      {"gated_delta_rule mode=recurrent batch=4 tokens=30 qk_heads=1 v_heads=2 key_dim=64 varlen=true "
       "state_layout=value-major dtype=fp16 beta_dtype=fp32",
       {}},
      {"gated_delta_rule mode=recurrent batch=* tokens=1 qk_heads=1 v_heads=2 key_dim=128 qk_l2norm=true "
       "state_pool=true slots=* state_layout=value-major",
       {{"batch", 3}, {"slots", 6}}},
      {"gated_delta_rule mode=recurrent batch=3 tokens=9 qk_heads=1 key_dim=72 value_dim=40 varlen=true "
       "state_pool=true slots=2",
       {}},
      {"gated_delta_rule mode=recurrent batch=* tokens=* qk_heads=1 key_dim=64 initial_state=true",
       {{"batch", 2}, {"tokens", 0}}},
  };
  return cases;
}

const std::vector<checked::Problem> &fullSizes() {
  static const std::vector<checked::Problem> cases = {
      {"matmul m=128 n=128 k=128 dtype=fp16", {}},
      {"matmul m=1024 n=1024 k=1024 dtype=bf16", {}},
      {"matmul m=4096 n=2112 k=7168 dtype=bf16 b_layout=col", {}},
      {"matmul m=1 n=7168 k=16384 dtype=bf16 b_layout=col", {}},
      {"matmul m=8192 n=8192 k=8192 dtype=fp16 b_layout=col", {}},
      {"flash_attention heads=1 seq_q=32 seq_k=32 head_dim=32 dtype=fp16 out_dtype=fp32", {}},
      {"flash_attention batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true", {}},
      {"flash_attention batch=1 heads=16 kv_heads=2 seq_q=4096 head_dim=256 causal=true", {}},
      {"flash_attention batch=1 heads=128 seq_q=2048 head_dim=192 value_dim=128 causal=true", {}},
      {"flash_attention batch=2 heads=32 kv_heads=8 seq_q=512 seq_k=4096 head_dim=128 causal=true dtype=fp16", {}},
      {"fp8_block_matmul m=128 n=256 k=512 out_dtype=fp16", {}},
      {"fp8_block_matmul m=64 n=128 k=128 out_dtype=fp16", {}},
      {"fp8_block_matmul m=256 n=256 k=256 out_dtype=fp16", {}},
      {"fp8_block_matmul m=83 n=7748 k=3884 out_dtype=fp16", {}},
      {"fp8_block_matmul m=84 n=7168 k=3884 out_dtype=fp16", {}},
      {"fp8_block_matmul m=1 n=4096 k=7168 out_dtype=fp16", {}},
      {"fp8_block_matmul m=16 n=4096 k=7168 out_dtype=fp16", {}},
      {"fp8_block_matmul m=64 n=4096 k=7168 out_dtype=bf16", {}},
      {"fp8_block_matmul m=4096 n=7168 k=2048 out_dtype=bf16", {}},
  };
  return cases;
}

} // namespace jitk::conformance
