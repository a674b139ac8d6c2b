#include "tests/conformance/edge_cases/EdgeCases.h"
#include "tests/conformance/edge_cases/TensorEdits.h"

namespace jitk::conformance {

std::vector<checked::Problem> mlaDecodeEdgeCases() {
  return {
      // mla_decode: lengths at the edges of pages and blocks, pages smaller and larger than a block or no multiple of
      // it, few heads, rows over several tiles, splits, lengths that are no lengths.
      {"mla_decode heads=16 max_kv=200 num_pages=4", {}},
      {"mla_decode heads=16 max_kv=130 num_pages=4 splits=2 latent_dim=512 rope_dim=128", {}},
      // Parts by the rule of the op: one, and so many that each has two blocks.
      {"mla_decode batch=2 heads=16 max_kv=60 num_pages=4 latent_dim=64 rope_dim=16", {}},
      {"mla_decode batch=5 heads=80 max_kv=400 num_pages=40 causal=true seq_q=2 latent_dim=64 rope_dim=16", {}},
      {"mla_decode batch=6 heads=16 max_kv=200 num_pages=20 splits=3 latent_dim=64 rope_dim=16", {}},
      {"mla_decode batch=6 heads=40 seq_q=2 max_kv=150 num_pages=20 causal=true splits=7 latent_dim=64 rope_dim=16",
       {}},
      {"mla_decode batch=4 heads=8 seq_q=3 max_kv=90 num_pages=30 page_size=16 causal=true kv_format=fp16 "
       "latent_dim=48 rope_dim=16",
       {}},
      {"mla_decode batch=3 heads=4 max_kv=200 num_pages=20 page_size=48 out_dtype=fp32 latent_dim=64 rope_dim=0", {}},
      {"mla_decode batch=2 heads=16 max_kv=70 num_pages=150 page_size=1 splits=2 latent_dim=32 rope_dim=16", {}},
      // Tokens that lie apart.
      {"mla_decode batch=6 heads=40 seq_q=2 max_kv=150 num_pages=20 causal=true splits=7 latent_dim=64 rope_dim=16 "
       "q_stride=3300 o_stride=2570",
       {}},
      // Keys, pages and rows of the table that lie apart: of pages of a wider buffer, of wider rows, by no multiple of
      // 16 bytes, of pages of one key and pages that end in a block.
      {"mla_decode batch=6 heads=16 max_kv=200 num_pages=20 splits=3 latent_dim=64 rope_dim=16 "
       "kv_cache_page_stride=10240 block_table_stride=9",
       {}},
      {"mla_decode batch=4 heads=8 seq_q=3 max_kv=90 num_pages=30 page_size=16 causal=true kv_format=fp16 "
       "latent_dim=48 rope_dim=16 kv_cache_stride=72",
       {}},
      {"mla_decode batch=3 heads=4 max_kv=200 num_pages=20 page_size=48 out_dtype=fp32 latent_dim=64 rope_dim=0 "
       "kv_cache_stride=96 kv_cache_page_stride=4704 block_table_stride=6",
       {}},
      {"mla_decode batch=2 heads=16 max_kv=70 num_pages=150 page_size=1 splits=2 latent_dim=32 rope_dim=16 "
       "kv_cache_page_stride=51",
       {}},
      // Elements that cp.async does not copy one by one, in rows that fill shared memory.
      {"mla_decode heads=16 max_kv=130 num_pages=5 splits=2 kv_cache_stride=577", {}},
      {"mla_decode batch=* heads=* seq_q=* max_kv=* splits=* page_size=32 causal=true latent_dim=32 rope_dim=16 "
       "kv_cache_stride=49 kv_cache_page_stride=1571 block_table_stride=30",
       {{"batch", 3}, {"heads", 24}, {"seq_q", 3}, {"max_kv", 100}, {"num_pages", 12}, {"splits", 4}}},
      {"mla_decode batch=3 heads=16 max_kv=300 num_pages=9 page_size=128 splits=5 latent_dim=32 rope_dim=16",
       {},
       1,
       {{"seq_lens", {128, 129, 300}}}},
      {"mla_decode batch=5 heads=16 max_kv=100 num_pages=9 splits=2 latent_dim=32 rope_dim=16",
       {},
       1,
       {{"seq_lens", {-1, 99, INT32_MIN, 1000, INT32_MAX}}, {"scale", {0.3}}}},
      {"mla_decode batch=3 heads=16 seq_q=4 max_kv=100 num_pages=9 causal=true latent_dim=32 rope_dim=16",
       {},
       1,
       {{"seq_lens", {2, 4, 3}}}},
      {"mla_decode batch=2 heads=16 max_kv=128 num_pages=5 splits=2 latent_dim=32 rope_dim=16",
       {},
       1,
       {{"seq_lens", {128, 100}}},
       breakTable},
      {"mla_decode batch=2 heads=16 max_kv=100 splits=3 latent_dim=32 rope_dim=16",
       {{"num_pages", 0}},
       1,
       {{"seq_lens", {0, 0}}},
       takeCacheAway},
      {"mla_decode batch=3 heads=128 max_kv=130 num_pages=9 splits=4 causal=true latent_dim=64 rope_dim=16", {}},
      {"mla_decode batch=4 heads=16 max_kv=200 num_pages=16 splits=6 reuse_schedule=true latent_dim=64 rope_dim=16",
       {}},
      {"mla_decode batch=* heads=* seq_q=* max_kv=* splits=* page_size=32 causal=true latent_dim=32 rope_dim=16",
       {{"batch", 3}, {"heads", 24}, {"seq_q", 3}, {"max_kv", 100}, {"num_pages", 12}, {"splits", 4}}},
      {"mla_decode batch=* heads=* seq_q=* max_kv=* splits=* page_size=32 causal=true latent_dim=32 rope_dim=16",
       {{"batch", 0}, {"heads", 24}, {"seq_q", 3}, {"max_kv", 100}, {"num_pages", 0}, {"splits", 4}}},
  };
}

} // namespace jitk::conformance
