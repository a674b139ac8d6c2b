#include "tests/conformance/Cases.h"

namespace jitk::conformance {

/// 128 lengths from `first` in steps of two.
static std::vector<reference::Number> growingLengths(int first) {
  std::vector<reference::Number> lengths;
  for (int i = 0; i < 128; ++i) {
    lengths.push_back(first + 2 * i);
  }
  return lengths;
}

const std::vector<checked::Problem> &fullSizes() {
  static const std::vector<checked::Problem> cases = {
      {"matmul m=128 n=128 k=128 dtype=fp16", {}},
      {"matmul m=1024 n=1024 k=1024 dtype=bf16", {}},
      {"matmul m=4096 n=2112 k=7168 dtype=bf16 b_layout=col", {}},
      {"matmul m=128 n=2112 k=7168 dtype=bf16 a_layout=col", {}},
      {"matmul m=3072 n=7168 k=2048 dtype=bf16 b_layout=col", {}}, // a last round of narrower tiles
      {"matmul m=96 n=7168 k=2048 dtype=bf16 b_layout=col", {}},
      {"matmul m=512 n=7168 k=7168 dtype=bf16 b_layout=col", {}},
      {"matmul m=1 n=7168 k=16384 dtype=bf16 b_layout=col", {}},
      {"matmul m=8192 n=8192 k=8192 dtype=fp16 b_layout=col", {}},
      // Rows so far apart that elements are more than 2^31 away: by TMA and by pointers, of few rows and of a split K.
      {"matmul m=3 n=64 k=64 b_layout=col c_stride=1073741824", {}},
      {"matmul m=3 n=65 k=63 c_stride=1073741825", {}},
      {"matmul m=3 n=64 k=8192 b_layout=col a_stride=1073741824", {}},
      {"flash_attention heads=1 seq_q=40 seq_k=3 head_dim=64 k_stride=1073741824", {}},
      {"fp8_block_matmul m=3 n=64 k=128 a_stride=1073741824", {}},
      {"fp8_block_matmul m=3 n=64 k=128 a_stride=1073741825", {}},
      {"paged_attention heads=2 max_kv=40 num_pages=3 page_size=16 head_dim=64 k_cache_page_stride=1073741824", {}},
      {"paged_attention heads=2 max_kv=20 num_pages=3 page_size=8 head_dim=64 v_cache_page_stride=1073741824", {}},
      {"mla_decode heads=2 max_kv=20 num_pages=3 page_size=8 kv_cache_page_stride=1073741824", {}},
      {"flash_attention heads=1 seq_q=32 seq_k=32 head_dim=32 dtype=fp16 out_dtype=fp32", {}},
      {"flash_attention batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true", {}},
      {"flash_attention batch=1 heads=16 kv_heads=2 seq_q=4096 head_dim=256 causal=true", {}},
      {"flash_attention batch=1 heads=128 seq_q=2048 head_dim=192 value_dim=128 causal=true", {}},
      {"flash_attention batch=2 heads=32 kv_heads=8 seq_q=512 seq_k=4096 head_dim=128 causal=true dtype=fp16", {}},
      {"flash_attention batch=8 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true varlen=true", {}},
      {"flash_attention batch=6 heads=16 kv_heads=4 seq_q=1000 seq_k=3000 head_dim=64 varlen=true dtype=fp16", {}},
      {"flash_attention batch=8 heads=32 kv_heads=8 seq_q=4096 total_q=8192 total_k=8192 head_dim=128 causal=true "
       "packed=true",
       {}},
      {"flash_attention batch=6 heads=16 kv_heads=4 seq_q=1000 seq_k=3000 total_q=3000 total_k=9000 head_dim=64 "
       "packed=true dtype=fp16",
       {}},
      {"flash_attention batch=6 heads=16 kv_heads=2 seq_q=700 seq_k=2000 head_dim=256 causal=true varlen=true", {}},
      {"flash_attention batch=2 heads=32 kv_heads=8 seq_q=8192 head_dim=128 causal=true window_left=1024", {}},
      {"flash_attention batch=4 heads=16 seq_q=4096 head_dim=64 window_left=256 window_right=256", {}},
      {"flash_attention batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true softcap=2", {}},
      {"fp8_block_matmul m=128 n=256 k=512 out_dtype=fp16", {}},
      {"fp8_block_matmul m=64 n=128 k=128 out_dtype=fp16", {}},
      {"fp8_block_matmul m=256 n=256 k=256 out_dtype=fp16", {}},
      {"fp8_block_matmul m=83 n=7748 k=3884 out_dtype=fp16", {}},
      {"fp8_block_matmul m=84 n=7168 k=3884 out_dtype=fp16", {}},
      {"fp8_block_matmul m=1 n=4096 k=7168 out_dtype=fp16", {}},
      {"fp8_block_matmul m=16 n=4096 k=7168 out_dtype=fp16", {}},
      {"fp8_block_matmul m=64 n=4096 k=7168 out_dtype=bf16", {}},
      {"fp8_block_matmul m=4096 n=7168 k=2048 out_dtype=bf16", {}},
      {"grouped_fp8_block_matmul groups=4 m=8192 n=4096 k=7168", {}},
      {"grouped_fp8_block_matmul groups=16 m=*%128 n=7168 k=2048", {{"m", 4096}}},
      {"grouped_fp8_block_matmul masked=true groups=6 m=1024 n=4096 k=7168", {}},
      {"grouped_fp8_block_matmul masked=true groups=32 m=256 n=7168 k=2048 expected_m=20", {}},
      {"gated_delta_rule batch=2 tokens=16384 qk_heads=16 key_dim=128 dtype=bf16", {}},
      {"gated_delta_rule batch=2 tokens=16384 qk_heads=16 key_dim=128 dtype=fp16", {}},
      {"gated_delta_rule batch=4 tokens=2048 qk_heads=16 key_dim=128 dtype=bf16", {}},
      {"gated_delta_rule batch=4 tokens=2048 qk_heads=16 key_dim=128 dtype=fp16", {}},
      {"gated_delta_rule batch=4 tokens=4096 qk_heads=64 key_dim=128 dtype=bf16", {}},
      {"gated_delta_rule batch=4 tokens=4096 qk_heads=64 key_dim=128 dtype=fp16", {}},
      {"gated_delta_rule batch=8 tokens=1024 qk_heads=8 key_dim=64 dtype=bf16", {}},
      {"gated_delta_rule batch=8 tokens=1024 qk_heads=8 key_dim=64 dtype=fp16", {}},
      {"gated_delta_rule batch=8 tokens=2048 qk_heads=32 key_dim=256 dtype=bf16", {}},
      {"gated_delta_rule batch=8 tokens=2048 qk_heads=32 key_dim=256 dtype=fp16", {}},
      {"gated_delta_rule batch=1 tokens=256 qk_heads=2 key_dim=128 dtype=bf16", {}},
      {"gated_delta_rule batch=1 tokens=256 qk_heads=2 key_dim=128 dtype=fp16", {}},
      {"gated_delta_rule batch=2 tokens=2048 qk_heads=16 key_dim=128 dtype=bf16", {}},
      {"gated_delta_rule batch=2 tokens=2048 qk_heads=16 key_dim=128 dtype=fp16", {}},
      {"gated_delta_rule batch=1 tokens=64 qk_heads=4 key_dim=64 dtype=bf16 initial_state=true", {}},
      {"gated_delta_rule batch=1 tokens=64 qk_heads=4 key_dim=64 dtype=fp16 initial_state=true", {}},
      {"gated_delta_rule batch=1 tokens=64 qk_heads=4 key_dim=64 dtype=fp32 initial_state=true", {}},
      {"gated_delta_rule batch=1 tokens=128 qk_heads=4 key_dim=64 dtype=bf16", {}},
      {"gated_delta_rule batch=1 tokens=128 qk_heads=4 key_dim=64 dtype=fp16", {}},
      {"gated_delta_rule batch=1 tokens=128 qk_heads=4 key_dim=64 dtype=fp32", {}},
      {"gated_delta_rule batch=2 tokens=64 qk_heads=4 key_dim=64 dtype=bf16", {}},
      {"gated_delta_rule batch=2 tokens=64 qk_heads=4 key_dim=64 dtype=fp16", {}},
      {"gated_delta_rule batch=2 tokens=64 qk_heads=4 key_dim=64 dtype=fp32", {}},
      {"gated_delta_rule batch=2 tokens=128 qk_heads=4 key_dim=64 dtype=bf16 initial_state=true", {}},
      {"gated_delta_rule batch=2 tokens=128 qk_heads=4 key_dim=64 dtype=fp16 initial_state=true", {}},
      {"gated_delta_rule batch=2 tokens=128 qk_heads=4 key_dim=64 dtype=fp32 initial_state=true", {}},
      {"gated_delta_rule batch=2 tokens=128 qk_heads=4 key_dim=64 value_dim=32 dtype=bf16 initial_state=true", {}},
      {"gated_delta_rule batch=2 tokens=128 qk_heads=4 key_dim=64 value_dim=32 dtype=fp32 initial_state=true", {}},
      {"gated_delta_rule batch=4 tokens=2048 qk_heads=16 key_dim=128 dtype=fp32", {}},
      {"gated_delta_rule batch=2 tokens=1024 qk_heads=8 key_dim=256 dtype=fp32 initial_state=true", {}},
      {"gated_delta_rule batch=1 tokens=8192 qk_heads=16 v_heads=32 key_dim=128 qk_l2norm=true", {}},
      {"gated_delta_rule batch=7 tokens=5003 qk_heads=4 v_heads=8 key_dim=128 varlen=true initial_state=true "
       "state_layout=value-major qk_l2norm=true",
       {}},
      {"gated_delta_rule batch=3 tokens=700 qk_heads=2 key_dim=96 value_dim=200 chunk=32 state_pool=true slots=9", {}},
      {"gated_delta_rule mode=recurrent batch=128 tokens=1 qk_heads=16 v_heads=32 key_dim=128 qk_l2norm=true "
       "state_pool=true slots=160 state_layout=value-major",
       {}},
      {"gated_delta_rule mode=recurrent batch=32 tokens=1 qk_heads=16 v_heads=32 key_dim=128 initial_state=true", {}},
      {"gated_delta_rule mode=recurrent batch=2 tokens=128 qk_heads=4 key_dim=64 value_dim=32 dtype=fp32", {}},

      // The row of the seed configuration, with a schedule made and reused; then 128 sequences of growing length.
      {"mla_decode batch=4 heads=128 max_kv=320 num_pages=32 causal=true splits=66",
       {},
       1,
       {{"seq_lens", {128, 256, 256, 320}}}},
      {"mla_decode batch=4 heads=128 max_kv=320 num_pages=32 causal=true splits=66 reuse_schedule=true",
       {},
       1,
       {{"seq_lens", {128, 256, 256, 320}}}},
      {"mla_decode batch=128 heads=128 max_kv=1278 num_pages=2560 causal=true splits=66",
       {},
       1,
       {{"seq_lens", growingLengths(1024)}}},
      {"mla_decode batch=128 heads=128 max_kv=2302 num_pages=4608 causal=true splits=66",
       {},
       1,
       {{"seq_lens", growingLengths(2048)}}},
      {"mla_decode batch=128 heads=128 max_kv=4350 num_pages=8704 causal=true splits=66",
       {},
       1,
       {{"seq_lens", growingLengths(4096)}}},
      {"mla_decode batch=128 heads=128 max_kv=8446 num_pages=16896 causal=true splits=66",
       {},
       1,
       {{"seq_lens", growingLengths(8192)}}},
      {"mla_decode batch=16 heads=16 seq_q=2 max_kv=8192 num_pages=2048 causal=true splits=132", {}},
      // More elements than 31 bits count: of C and the queries, which descriptors and pointers address; of B; of
      // caches.
      {"matmul m=70000 n=32768 k=64 b_layout=col", {}},
      {"matmul m=70000 n=32767 k=63", {}},
      {"flash_attention batch=17000 heads=16 kv_heads=1 seq_q=64 head_dim=128 causal=true", {}},
      {"fp8_block_matmul m=100 n=37504 k=57344", {}},
      {"grouped_fp8_block_matmul groups=75 m=9600 n=4096 k=7168", {}},
      {"mla_decode batch=6 heads=16 max_kv=2000 num_pages=60000 splits=16", {}},
      // More rows, heads, sequences and groups than an axis of a grid other than the first takes tiles.
      {"mla_decode heads=262200 max_kv=200 num_pages=4 splits=3 latent_dim=16 rope_dim=0", {}},
      {"paged_attention heads=*%2 kv_heads=2 max_kv=200 num_pages=4 splits=3 head_dim=16", {{"heads", 262200}}},
      {"paged_attention heads=70000 max_kv=70 num_pages=2 splits=2 head_dim=16", {}},
      {"gated_delta_rule batch=70000 tokens=3 qk_heads=1 key_dim=16 chunk=16", {}},
      {"flash_attention batch=70000 heads=1 seq_q=3 head_dim=16", {}},
      {"flash_attention heads=70000 seq_q=3 head_dim=16", {}},
      {"grouped_fp8_block_matmul masked=true groups=70000 m=2 n=20 k=20", {}},
      {"mla_decode batch=6 heads=64 max_kv=4096 num_pages=6144 page_size=4 splits=132 kv_format=fp16", {}},
      {"paged_attention batch=32 heads=32 kv_heads=8 max_kv=4096 num_pages=2048 head_dim=128 splits=16", {}},
      {"paged_attention batch=16 heads=16 kv_heads=2 seq_q=2 max_kv=8192 num_pages=8192 page_size=16 head_dim=256 "
       "causal=true splits=66",
       {}},
      {"paged_attention batch=8 heads=64 kv_heads=8 max_kv=4096 num_pages=512 head_dim=64 splits=16 dtype=fp16", {}},
      // More keys' elements than 31 bits count.
      {"paged_attention batch=6 heads=16 kv_heads=8 max_kv=2000 num_pages=17000 head_dim=256 value_dim=64 splits=16",
       {}},
  };
  return cases;
}

} // namespace jitk::conformance
