#include "tests/conformance/edge_cases/EdgeCases.h"
#include "tests/conformance/edge_cases/TensorEdits.h"

namespace jitk::conformance {

std::vector<checked::Problem> pagedAttentionEdgeCases() {
  return {
      // paged_attention: lengths at the edges of pages and blocks, pages that TMA moves and others, groups of heads of
      // one row and of more than a tile, several queries, splits, tables and lengths that are none.
      {"paged_attention heads=4 kv_heads=2 max_kv=200 num_pages=4 head_dim=64", {}},
      {"paged_attention batch=6 heads=8 kv_heads=2 max_kv=300 num_pages=30 splits=3 head_dim=128", {}},
      // Parts by the rule of the op, and those that reuse their schedule; where little is known of the sizes.
      {"paged_attention batch=7 heads=8 kv_heads=2 max_kv=300 num_pages=40 head_dim=64", {}},
      {"paged_attention batch=7 heads=8 kv_heads=2 max_kv=300 num_pages=40 head_dim=64 reuse_schedule=true", {}},
      // A schedule of the caller's own, which cuts no sequence.
      {"paged_attention batch=3 heads=4 kv_heads=2 max_kv=300 num_pages=20 splits=3 head_dim=128 reuse_schedule=true",
       {},
       1,
       {{"seq_lens", {300, 0, 65}},
        {"schedule", {0, 0, 0, 5, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 2, 2, 0, 2, 0, 0, 0, 0}},
        {"split_offsets", {0, 1, 2, 3}}}},
      {"paged_attention batch=* heads=* kv_heads=* seq_q=* max_kv=* page_size=32 causal=true head_dim=64",
       {{"batch", 3}, {"heads", 6}, {"kv_heads", 2}, {"seq_q", 2}, {"max_kv", 200}, {"num_pages", 24}}},
      {"paged_attention batch=7 heads=4 kv_heads=1 max_kv=150 num_pages=70 page_size=16 splits=5 head_dim=128 "
       "dtype=fp16",
       {}},
      {"paged_attention batch=6 heads=2 max_kv=400 num_pages=20 page_size=128 splits=4 head_dim=64", {}},
      // Tokens that lie apart: queries in one projection, results in a slice, split and not.
      {"paged_attention batch=6 heads=8 kv_heads=2 max_kv=300 num_pages=30 splits=3 head_dim=128 q_stride=1536 "
       "o_stride=1152",
       {}},
      {"paged_attention batch=4 heads=6 kv_heads=3 seq_q=3 max_kv=260 num_pages=20 splits=7 head_dim=64 causal=true "
       "out_dtype=fp32 q_stride=386 o_stride=391",
       {}},
      {"paged_attention batch=* heads=* kv_heads=* seq_q=* max_kv=* splits=* page_size=16 head_dim=64 q_stride=400 "
       "o_stride=300",
       {{"batch", 3}, {"heads", 4}, {"kv_heads", 2}, {"seq_q", 2}, {"max_kv", 90}, {"splits", 4}, {"num_pages", 20}}},
      // Caches in one buffer, [pages, 2, page, heads, dim], and tables that are wider than the longest sequence: pages
      // that TMA moves and others, which end in a block or are one key.
      {"paged_attention batch=6 heads=8 kv_heads=2 max_kv=300 num_pages=30 splits=3 head_dim=128 "
       "k_cache_page_stride=32768 v_cache_page_stride=32768 block_table_stride=17",
       {}},
      {"paged_attention batch=6 heads=2 max_kv=400 num_pages=20 page_size=128 splits=4 head_dim=64 "
       "k_cache_page_stride=32768 v_cache_page_stride=32768",
       {}},
      {"paged_attention batch=3 heads=2 kv_heads=1 max_kv=140 num_pages=27 page_size=16 splits=2 head_dim=192 "
       "value_dim=128 k_cache_page_stride=5120 v_cache_page_stride=5120",
       {}},
      {"paged_attention batch=4 heads=2 kv_heads=1 max_kv=200 num_pages=40 page_size=24 splits=3 head_dim=64 "
       "k_cache_page_stride=3072 v_cache_page_stride=3072 block_table_stride=1000",
       {}},
      {"paged_attention batch=3 heads=2 kv_heads=1 max_kv=90 num_pages=200 page_size=1 splits=2 head_dim=64 "
       "k_cache_page_stride=128 v_cache_page_stride=128",
       {}},
      {"paged_attention batch=4 heads=4 kv_heads=2 max_kv=90 num_pages=20 page_size=48 splits=3 head_dim=80 "
       "value_dim=48 k_cache_page_stride=12288 v_cache_page_stride=12288 block_table_stride=5",
       {}},
      // Keys beside values in each row, rows with room after them, pages with room, and each of its own.
      {"paged_attention batch=7 heads=4 kv_heads=1 max_kv=150 num_pages=70 page_size=16 splits=5 head_dim=128 "
       "dtype=fp16 k_cache_stride=256 v_cache_stride=256",
       {}},
      {"paged_attention batch=4 heads=2 kv_heads=1 max_kv=200 num_pages=40 page_size=24 splits=3 head_dim=64 "
       "k_cache_stride=72 v_cache_stride=80 v_cache_page_stride=1936",
       {}},
      {"paged_attention batch=6 heads=8 kv_heads=2 max_kv=300 num_pages=30 splits=3 head_dim=128 k_cache_stride=264 "
       "v_cache_page_stride=16392",
       {}},
      // TMA moves what begins at multiples of 16 bytes alone.
      {"paged_attention batch=4 heads=6 kv_heads=3 seq_q=3 max_kv=260 num_pages=20 splits=7 head_dim=64 causal=true "
       "out_dtype=fp32 k_cache_stride=193 v_cache_page_stride=12289",
       {}},
      {"paged_attention batch=3 heads=2 kv_heads=1 max_kv=90 num_pages=20 page_size=8 splits=2 head_dim=64 "
       "k_cache_page_stride=516 v_cache_stride=66",
       {}},
      {"paged_attention batch=* heads=* kv_heads=* seq_q=* max_kv=* splits=* page_size=32 causal=true head_dim=128 "
       "k_cache_stride=512 v_cache_page_stride=16384 block_table_stride=40",
       {{"batch", 5}, {"heads", 6}, {"kv_heads", 2}, {"seq_q", 2}, {"max_kv", 200}, {"num_pages", 40}, {"splits", 4}}},
      {"paged_attention batch=* heads=* kv_heads=* seq_q=* max_kv=* splits=* page_size=8 head_dim=64 "
       "k_cache_page_stride=2048 v_cache_page_stride=2048 block_table_stride=64",
       {{"batch", 3}, {"heads", 4}, {"kv_heads", 2}, {"seq_q", 2}, {"max_kv", 90}, {"splits", 4}, {"num_pages", 40}}},
      {"paged_attention batch=2 heads=4 kv_heads=2 max_kv=128 num_pages=5 splits=2 head_dim=64 "
       "k_cache_page_stride=16384 v_cache_page_stride=16384 block_table_stride=3",
       {},
       1,
       {{"seq_lens", {128, 100}}},
       breakTable},
      {"paged_attention batch=2 heads=4 kv_heads=2 max_kv=100 splits=3 head_dim=64 k_cache_page_stride=16384 "
       "v_cache_page_stride=16384",
       {{"num_pages", 0}},
       1,
       {{"seq_lens", {0, 0}}},
       takeCacheAway},
      {"paged_attention batch=4 heads=6 kv_heads=3 seq_q=3 max_kv=260 num_pages=20 splits=7 head_dim=64 causal=true "
       "out_dtype=fp32",
       {}},
      {"paged_attention batch=3 heads=80 kv_heads=1 seq_q=2 max_kv=190 num_pages=12 splits=3 head_dim=64 causal=true",
       {}},
      {"paged_attention batch=3 heads=4 kv_heads=2 max_kv=140 num_pages=9 splits=2 head_dim=256", {}},
      {"paged_attention batch=3 heads=2 kv_heads=1 max_kv=140 num_pages=27 page_size=16 splits=2 head_dim=192 "
       "value_dim=128",
       {}},
      {"paged_attention batch=4 heads=4 kv_heads=2 max_kv=90 num_pages=20 page_size=48 splits=3 head_dim=80 "
       "value_dim=48",
       {}},
      {"paged_attention batch=3 heads=2 kv_heads=1 max_kv=90 num_pages=200 page_size=1 splits=2 head_dim=64", {}},
      {"paged_attention batch=4 heads=2 kv_heads=1 max_kv=200 num_pages=40 page_size=24 splits=3 head_dim=64", {}},
      {"paged_attention batch=5 heads=4 kv_heads=2 max_kv=100 num_pages=9 splits=2 head_dim=64",
       {},
       1,
       {{"seq_lens", {-1, 99, INT32_MIN, 1000, INT32_MAX}}, {"scale", {-0.3}}}},
      {"paged_attention batch=3 heads=4 kv_heads=2 seq_q=4 max_kv=100 num_pages=9 causal=true head_dim=64",
       {},
       1,
       {{"seq_lens", {2, 4, 3}}}},
      {"paged_attention batch=2 heads=4 kv_heads=2 max_kv=128 num_pages=5 splits=2 head_dim=64",
       {},
       1,
       {{"seq_lens", {128, 100}}},
       breakTable},
      {"paged_attention batch=2 heads=4 kv_heads=2 max_kv=128 num_pages=60 page_size=5 splits=2 head_dim=64",
       {},
       1,
       {{"seq_lens", {128, 100}}},
       breakTable},
      {"paged_attention batch=2 heads=4 kv_heads=2 max_kv=100 splits=3 head_dim=64",
       {{"num_pages", 0}},
       1,
       {{"seq_lens", {0, 0}}},
       takeCacheAway},
      {"paged_attention batch=4 heads=4 kv_heads=2 max_kv=200 num_pages=16 splits=6 reuse_schedule=true head_dim=64",
       {}},
      {"paged_attention batch=* heads=* kv_heads=* seq_q=* max_kv=* splits=* page_size=32 causal=true head_dim=128",
       {{"batch", 5}, {"heads", 6}, {"kv_heads", 2}, {"seq_q", 2}, {"max_kv", 200}, {"num_pages", 40}, {"splits", 4}}},
      {"paged_attention batch=* heads=* kv_heads=* seq_q=* max_kv=* splits=* page_size=32 causal=true head_dim=128",
       {{"batch", 0}, {"heads", 6}, {"kv_heads", 2}, {"seq_q", 2}, {"max_kv", 200}, {"num_pages", 0}, {"splits", 4}}},
  };
}

} // namespace jitk::conformance
