#include "tests/conformance/edge_cases/EdgeCases.h"
#include "tests/conformance/edge_cases/TensorEdits.h"

#include <climits>

namespace jitk::conformance {

std::vector<checked::Problem> flashAttentionEdgeCases() {
  return {
      // flash_attention: masks, groups of heads, every head size, lengths that are no multiple of a block.
      {"flash_attention heads=1 seq_q=32 seq_k=32 head_dim=32 dtype=fp16 out_dtype=fp32", {}},
      {"flash_attention heads=2 kv_heads=1 seq_q=70 seq_k=100 head_dim=64 causal=true", {}},
      {"flash_attention heads=2 seq_q=1 seq_k=1 head_dim=64 dtype=fp16", {}},
      {"flash_attention heads=1 seq_q=5 seq_k=67 head_dim=128 dtype=fp16", {}},
      {"flash_attention heads=2 kv_heads=2 seq_q=130 seq_k=40 head_dim=64 causal=true dtype=fp16", {}},
      {"flash_attention heads=1 seq_q=33 seq_k=65 head_dim=128 causal=true", {}},
      {"flash_attention heads=1 seq_q=20 seq_k=70 head_dim=256 causal=true", {}},
      {"flash_attention heads=1 seq_q=24 seq_k=40 head_dim=192 value_dim=128 causal=true", {}},
      {"flash_attention heads=2 seq_q=5 seq_k=90 head_dim=192 value_dim=192", {}},
      {"flash_attention heads=1 seq_q=70 seq_k=90 head_dim=192 value_dim=192 causal=true", {}},
      // Heads of which eight warps hold the outputs.
      {"flash_attention heads=2 kv_heads=1 seq_q=70 seq_k=90 head_dim=512 causal=true", {}},
      {"flash_attention batch=3 heads=1 seq_q=40 seq_k=100 head_dim=64 value_dim=512 dtype=fp16 varlen=true "
       "causal=true",
       {}},
      {"flash_attention heads=1 seq_q=65 seq_k=33 head_dim=320 window_left=20 softcap=5 out_dtype=fp32", {}},
      {"flash_attention batch=3 heads=2 seq_q=50 seq_k=60 head_dim=384 value_dim=48 packed=true total_q=100 "
       "total_k=110",
       {}},
      {"flash_attention heads=1 seq_q=1 seq_k=130 head_dim=272 value_dim=336", {}},
      {"flash_attention batch=3 heads=2 kv_heads=1 seq_q=40 seq_k=72 head_dim=64 causal=true varlen=true", {}},
      {"flash_attention batch=2 heads=1 seq_q=20 seq_k=50 head_dim=64 varlen=true dtype=fp16 out_dtype=fp32", {}},
      {"flash_attention batch=4 heads=1 seq_q=20 seq_k=50 head_dim=64 causal=true varlen=true",
       {},
       1,
       {{"seq_lens_q", {-1, 20, INT32_MAX, 7}}, {"seq_lens_k", {50, INT32_MIN, 1000, 49}}}},
      {"flash_attention batch=5 heads=4 kv_heads=2 seq_q=200 seq_k=300 head_dim=128 causal=true varlen=true",
       {},
       1,
       {{"seq_lens_q", {0, 1, 200, 129, 64}}, {"seq_lens_k", {300, 257, 128, 1, 0}}}},
      {"flash_attention batch=4 heads=2 kv_heads=1 seq_q=130 seq_k=140 head_dim=256 varlen=true dtype=fp16",
       {},
       1,
       {{"seq_lens_q", {130, 65, 63, 3}}, {"seq_lens_k", {64, 139, 1, 72}}}},
      {"flash_attention batch=3 heads=1 seq_q=140 seq_k=260 head_dim=192 value_dim=128 causal=true varlen=true",
       {},
       1,
       {{"seq_lens_q", {130, 7, 128}}, {"seq_lens_k", {255, 8, 127}}}},
      {"flash_attention batch=* heads=2 kv_heads=1 seq_q=*<=64 seq_k=* head_dim=64 causal=true varlen=true",
       {{"batch", 6}, {"seq_q", 50}, {"seq_k", 290}}},
      {"flash_attention batch=2 heads=1 seq_q=30 seq_k=70 head_dim=80 value_dim=48 varlen=true", {}},
      {"flash_attention batch=* heads=2 seq_q=* seq_k=* head_dim=64 causal=true",
       {{"batch", 2}, {"seq_q", 19}, {"seq_k", 83}}},
      {"flash_attention batch=* heads=2 seq_q=* seq_k=* head_dim=64", {{"batch", 1}, {"seq_q", 7}, {"seq_k", 0}}},
      {"flash_attention batch=2 heads=4 kv_heads=2 seq_q=300 seq_k=420 head_dim=128 causal=true", {}},
      {"flash_attention batch=* heads=2 seq_q=*<=64 seq_k=* head_dim=128 dtype=fp16",
       {{"batch", 2}, {"seq_q", 50}, {"seq_k", 384}}},
      {"flash_attention batch=2 heads=70 kv_heads=14 seq_q=70 seq_k=90 head_dim=16 causal=true", {}},
      {"flash_attention heads=2 seq_q=256 seq_k=320 head_dim=256", {}},
      {"flash_attention heads=2 kv_heads=1 seq_q=140 seq_k=900 head_dim=64", {}, 1, {}, sharpenScores},
      {"flash_attention heads=2 seq_q=600 head_dim=128 causal=true dtype=fp16", {}, 1, {}, sharpenScores},
      {"flash_attention heads=2 seq_q=200 seq_k=200 head_dim=80 value_dim=48 causal=true out_dtype=fp32", {}},
      // Scales of the scores: above the default, as of a stretched context, and below.
      {"flash_attention heads=2 seq_q=40 seq_k=72 head_dim=64 causal=true scale=0.3", {}},
      {"flash_attention heads=1 seq_q=140 seq_k=260 head_dim=192 value_dim=128 causal=true scale=0.13523377", {}},
      {"flash_attention batch=2 heads=1 seq_q=70 seq_k=100 head_dim=80 varlen=true dtype=fp16 scale=0.01", {}},

      // flash_attention of tokens that lie apart: parts of one projection, rows that are no multiple of 16 bytes, and
      // tiles that are cut where a sequence ends.
      {"flash_attention batch=2 heads=4 kv_heads=2 seq_q=70 seq_k=70 head_dim=64 causal=true q_stride=512 k_stride=512 "
       "v_stride=512",
       {}},
      {"flash_attention batch=2 heads=2 seq_q=130 seq_k=200 head_dim=128 q_stride=264 k_stride=256 v_stride=520 "
       "o_stride=300 out_dtype=fp32",
       {}},
      {"flash_attention batch=2 heads=2 kv_heads=1 seq_q=40 seq_k=72 head_dim=64 dtype=fp16 q_stride=129 k_stride=66 "
       "v_stride=65 o_stride=131",
       {}},
      {"flash_attention batch=3 heads=2 kv_heads=1 seq_q=140 seq_k=260 head_dim=128 causal=true varlen=true "
       "q_stride=512 k_stride=512 v_stride=512 o_stride=272",
       {},
       1,
       {{"seq_lens_q", {130, 7, 128}}, {"seq_lens_k", {255, 8, 127}}}},
      {"flash_attention batch=2 heads=1 seq_q=30 seq_k=70 head_dim=80 value_dim=48 varlen=true o_stride=64", {}},
      {"flash_attention batch=* heads=* kv_heads=* seq_q=* seq_k=* head_dim=64 causal=true q_stride=400 k_stride=400 "
       "v_stride=400 o_stride=136",
       {{"batch", 2}, {"heads", 2}, {"kv_heads", 1}, {"seq_q", 19}, {"seq_k", 83}}},
      {"flash_attention heads=2 seq_q=256 seq_k=320 head_dim=256 k_stride=1024 v_stride=1024", {}},

      // flash_attention of packed sequences: none, one token, tiles and blocks that the next sequence begins in,
      // offsets
      // out of range, more tokens than a sequence may have, no tokens at all, lengths below those of the offsets.
      {"flash_attention batch=3 heads=2 kv_heads=1 seq_q=64 seq_k=90 total_q=100 total_k=150 head_dim=64 packed=true "
       "causal=true",
       {}},
      {"flash_attention batch=5 heads=2 kv_heads=1 seq_q=200 seq_k=300 total_q=330 total_k=500 head_dim=128 "
       "packed=true",
       {},
       1,
       {{"cu_seqlens_q", {0, 0, 1, 130, 330, 330}}, {"cu_seqlens_k", {0, 1, 1, 300, 429, 500}}}},
      {"flash_attention batch=5 heads=4 kv_heads=2 seq_q=200 seq_k=300 total_q=407 total_k=700 head_dim=128 "
       "packed=true "
       "causal=true out_dtype=fp32",
       {},
       1,
       {{"cu_seqlens_q", {3, 131, 195, 325, 325, 400}}, {"cu_seqlens_k", {0, 257, 258, 266, 400, 690}}}},
      {"flash_attention batch=4 heads=2 kv_heads=1 seq_q=100 seq_k=60 total_q=180 total_k=130 head_dim=64 packed=true "
       "causal=true dtype=fp16",
       {},
       1,
       {{"cu_seqlens_q", {-9, 7, 7, 130, INT_MAX}}, {"cu_seqlens_k", {INT_MIN, 5, 3, 100, 1000}}}},
      {"flash_attention batch=3 heads=2 seq_q=40 seq_k=64 total_q=150 total_k=260 head_dim=64 packed=true",
       {},
       1,
       {{"cu_seqlens_q", {0, 50, 110, 150}}, {"cu_seqlens_k", {10, 100, 164, 230}}}},
      {"flash_attention batch=3 heads=1 seq_q=140 seq_k=260 total_q=300 total_k=500 head_dim=192 value_dim=128 "
       "packed=true varlen=true causal=true",
       {},
       1,
       {{"cu_seqlens_q", {0, 140, 147, 300}},
        {"cu_seqlens_k", {0, 255, 263, 500}},
        {"seq_lens_q", {130, 20, 500}},
        {"seq_lens_k", {254, -1, 200}}}},
      {"flash_attention batch=3 heads=2 kv_heads=1 seq_q=130 seq_k=200 total_q=280 total_k=400 head_dim=256 "
       "packed=true "
       "q_stride=520 k_stride=512 v_stride=776 o_stride=528",
       {},
       1,
       {{"cu_seqlens_q", {0, 130, 150, 277}}, {"cu_seqlens_k", {0, 200, 265, 397}}}},
      {"flash_attention batch=2 heads=2 seq_q=30 seq_k=70 total_q=45 total_k=90 head_dim=64 packed=true causal=true "
       "q_stride=129 k_stride=131",
       {}},
      {"flash_attention batch=2 heads=1 seq_q=30 seq_k=70 total_q=50 total_k=100 head_dim=80 value_dim=48 packed=true",
       {}},
      {"flash_attention batch=* heads=* kv_heads=* seq_q=* seq_k=* head_dim=64 packed=true causal=true",
       {{"batch", 5},
        {"heads", 2},
        {"kv_heads", 1},
        {"seq_q", 150},
        {"seq_k", 170},
        {"total_q", 300},
        {"total_k", 400}}},
      {"flash_attention batch=* heads=2 seq_q=*<=64 seq_k=* total_q=*%8 total_k=* head_dim=64 packed=true",
       {{"batch", 3}, {"seq_q", 50}, {"seq_k", 70}, {"total_q", 152}, {"total_k", 0}}},
      {"flash_attention batch=* heads=2 seq_q=* seq_k=* head_dim=64 packed=true",
       {{"batch", 3}, {"seq_q", 50}, {"seq_k", 70}, {"total_q", 0}, {"total_k", 100}}},
      {"flash_attention batch=* heads=2 seq_q=* seq_k=* head_dim=64 packed=true",
       {{"batch", 0}, {"seq_q", 50}, {"seq_k", 70}, {"total_q", 90}, {"total_k", 100}}},

      // Sequences far shorter than the longest, whose tiles CTAs take from a queue.
      {"flash_attention batch=20 heads=8 kv_heads=2 seq_q=300 seq_k=200 total_q=700 total_k=900 head_dim=64 "
       "causal=true "
       "packed=true",
       {}},
      {"flash_attention batch=12 heads=8 kv_heads=4 seq_q=300 seq_k=100 head_dim=64 varlen=true",
       {},
       1,
       {{"seq_lens_q", {0, 3, 290, 1, 0, 64, 65, 0, 0, 130, 2, 0}},
        {"seq_lens_k", {9, 0, 100, 64, 1, 7, 33, 100, 0, 65, 1, 3}}}},

      // flash_attention in windows: of no other key than the diagonal's, within a block, of several, wider than the
      // keys; with one end and with two, beside causal, where queries see nothing, and where sequences have lengths.
      {"flash_attention heads=2 kv_heads=1 seq_q=300 head_dim=64 window_left=0 window_right=0", {}},
      {"flash_attention batch=2 heads=4 kv_heads=2 seq_q=300 seq_k=420 head_dim=128 causal=true window_left=100", {}},
      {"flash_attention heads=2 seq_q=330 seq_k=500 head_dim=64 window_left=129 window_right=70 dtype=fp16", {}},
      {"flash_attention heads=1 seq_q=200 seq_k=450 head_dim=128 window_left=64", {}},
      {"flash_attention heads=1 seq_q=300 seq_k=130 head_dim=64 window_right=40 out_dtype=fp32", {}},
      {"flash_attention heads=2 seq_q=130 seq_k=40 head_dim=64 causal=true window_left=3 window_right=9", {}},
      {"flash_attention heads=1 seq_q=200 head_dim=256 window_left=16777216 window_right=16777216", {}},
      {"flash_attention heads=1 seq_q=40 seq_k=300 head_dim=192 value_dim=128 causal=true window_left=127", {}},
      {"flash_attention batch=2 heads=1 seq_q=100 seq_k=150 head_dim=80 value_dim=48 window_left=40 window_right=1",
       {}},
      {"flash_attention batch=5 heads=4 kv_heads=2 seq_q=200 seq_k=300 head_dim=128 causal=true varlen=true "
       "window_left=70",
       {},
       1,
       {{"seq_lens_q", {0, 1, 200, 129, 64}}, {"seq_lens_k", {300, 257, 128, 1, 0}}}},
      {"flash_attention batch=5 heads=4 kv_heads=2 seq_q=200 seq_k=300 total_q=407 total_k=700 head_dim=128 "
       "packed=true "
       "window_left=90 window_right=30",
       {},
       1,
       {{"cu_seqlens_q", {3, 131, 195, 325, 325, 400}}, {"cu_seqlens_k", {0, 257, 258, 266, 400, 690}}}},
      {"flash_attention batch=* heads=2 seq_q=* seq_k=* head_dim=64 causal=true window_left=50",
       {{"batch", 2}, {"seq_q", 170}, {"seq_k", 230}}},
      {"flash_attention batch=* heads=2 seq_q=* seq_k=* head_dim=64 window_left=50 window_right=20",
       {{"batch", 1}, {"seq_q", 7}, {"seq_k", 0}}},

      // flash_attention with a cap on the scores: far below them, about as large, above, beside each kind of mask.
      {"flash_attention heads=2 kv_heads=1 seq_q=140 seq_k=300 head_dim=64 causal=true softcap=0.5", {}},
      {"flash_attention heads=2 kv_heads=1 seq_q=140 seq_k=900 head_dim=64 softcap=20", {}, 1, {}, sharpenScores},
      {"flash_attention heads=1 seq_q=300 head_dim=128 causal=true softcap=50 window_left=100 dtype=fp16",
       {},
       1,
       {},
       sharpenScores},
      {"flash_attention batch=2 heads=1 seq_q=70 seq_k=100 head_dim=80 softcap=1.5 scale=0.3 window_right=7", {}},
      {"flash_attention batch=3 heads=2 seq_q=150 seq_k=200 total_q=330 total_k=410 head_dim=256 packed=true softcap=2",
       {}},
      {"flash_attention batch=3 heads=2 kv_heads=1 seq_q=40 seq_k=72 head_dim=64 causal=true varlen=true softcap=1",
       {}},
  };
}

} // namespace jitk::conformance
