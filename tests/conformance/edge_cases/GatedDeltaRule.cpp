#include "tests/conformance/edge_cases/EdgeCases.h"
#include "tests/conformance/edge_cases/TensorEdits.h"

namespace jitk::conformance {

std::vector<checked::Problem> gatedDeltaRuleEdgeCases() {
  return {
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
      {"gated_delta_rule mode=recurrent tokens=5 qk_heads=1 v_heads=2 key_dim=64 value_dim=48 qk_l2norm=true "
       "dtype=fp32 "
       "initial_state=true",
       {},
       1,
       {},
       shrinkQueriesAndKeys},
      // Several key heads, each of a group of value heads.
      {"gated_delta_rule mode=recurrent tokens=5 qk_heads=2 v_heads=4 key_dim=32 qk_l2norm=true", {}},
      // Tokens that lie apart: parts of one projection.
      {"gated_delta_rule mode=recurrent batch=2 tokens=5 qk_heads=2 v_heads=4 key_dim=32 q_stride=264 k_stride=257 "
       "v_stride=256 g_stride=8 beta_stride=5 o_stride=136",
       {}},
      {"gated_delta_rule mode=recurrent batch=4 tokens=20 qk_heads=2 v_heads=6 key_dim=64 value_dim=40 varlen=true "
       "state_pool=true slots=6",
       {}},
      {"gated_delta_rule mode=recurrent batch=* tokens=* qk_heads=1 key_dim=64 initial_state=true",
       {{"batch", 2}, {"tokens", 0}}},
      // More heads, and sequences, than an axis of a grid other than the first takes.
      {"gated_delta_rule mode=recurrent tokens=1 qk_heads=1 v_heads=70000 key_dim=1 value_dim=1", {}},
      {"gated_delta_rule mode=recurrent batch=* tokens=1 qk_heads=1 key_dim=1 value_dim=1", {{"batch", 70000}}},
      {"gated_delta_rule mode=recurrent batch=4 tokens=20 qk_heads=1 key_dim=32 varlen=true state_pool=true slots=3",
       {},
       1,
       {},
       leaveRange},

      // The same by chunks, of each size: one token, cut chunks, groups of heads, parts of key_dim, tiles of value_dim.
      {"gated_delta_rule tokens=1 qk_heads=1 key_dim=64 value_dim=32", {}},
      {"gated_delta_rule batch=2 tokens=50 qk_heads=1 v_heads=2 key_dim=64 value_dim=16 chunk=16 qk_l2norm=true "
       "dtype=fp16 "
       "beta_dtype=fp32",
       {}},
      {"gated_delta_rule tokens=65 qk_heads=1 v_heads=2 key_dim=60 value_dim=72 chunk=32 initial_state=true", {}},
      {"gated_delta_rule batch=4 tokens=130 qk_heads=1 v_heads=2 key_dim=64 value_dim=80 varlen=true qk_l2norm=true "
       "initial_state=true state_layout=value-major",
       {}},
      {"gated_delta_rule batch=3 tokens=40 qk_heads=1 key_dim=200 value_dim=20 chunk=16 state_pool=true slots=4 "
       "dtype=fp16",
       {}},
      {"gated_delta_rule tokens=70 qk_heads=1 v_heads=3 key_dim=128 value_dim=64", {}},
      {"gated_delta_rule tokens=40 qk_heads=2 v_heads=4 key_dim=64 value_dim=32 chunk=32", {}},
      {"gated_delta_rule tokens=40 qk_heads=2 v_heads=4 key_dim=64 value_dim=32 chunk=32 q_stride=512 k_stride=512 "
       "v_stride=512 g_stride=8 beta_stride=8 o_stride=160",
       {}},
      {"gated_delta_rule batch=4 tokens=130 qk_heads=1 v_heads=2 key_dim=64 value_dim=80 varlen=true q_stride=65 "
       "k_stride=66 v_stride=168 beta_stride=3 o_stride=161",
       {}},
      {"gated_delta_rule batch=3 tokens=50 qk_heads=2 v_heads=6 key_dim=32 chunk=16 varlen=true state_pool=true "
       "slots=5 "
       "qk_l2norm=true",
       {}},
      // The largest chunk with the longest keys.
      {"gated_delta_rule tokens=70 qk_heads=1 key_dim=200 value_dim=32 qk_l2norm=true", {}},
      {"gated_delta_rule tokens=70 qk_heads=1 key_dim=256 value_dim=72 initial_state=true", {}},
      {"gated_delta_rule tokens=34 qk_heads=1 key_dim=256 value_dim=24 chunk=32 initial_state=true "
       "state_layout=value-major",
       {}},
      {"gated_delta_rule batch=* tokens=* qk_heads=* v_heads=* key_dim=16 varlen=true state_pool=true slots=* chunk=16",
       {{"batch", 5}, {"tokens", 75}, {"qk_heads", 2}, {"v_heads", 4}, {"slots", 9}}},
      {"gated_delta_rule batch=* tokens=* qk_heads=2 key_dim=32 initial_state=true chunk=32",
       {{"batch", 2}, {"tokens", 0}}},
      {"gated_delta_rule batch=* tokens=* qk_heads=1 key_dim=32 varlen=true chunk=32", {{"batch", 0}, {"tokens", 40}}},
      {"gated_delta_rule batch=4 tokens=20 qk_heads=1 key_dim=32 varlen=true state_pool=true slots=3 chunk=16",
       {},
       1,
       {},
       leaveRange},
      // The last sequence ends before it begins, and is empty.
      {"gated_delta_rule batch=2 tokens=20 qk_heads=1 key_dim=32 varlen=true chunk=16",
       {},
       1,
       {{"cu_seqlens", {0, 18, -5}}}},
      {"gated_delta_rule mode=recurrent batch=2 tokens=20 qk_heads=1 key_dim=32 varlen=true",
       {},
       1,
       {{"cu_seqlens", {3, 18, -5}}}},
      {"gated_delta_rule batch=67 tokens=3 qk_heads=1 key_dim=16 value_dim=128 chunk=16", {}},
      {"gated_delta_rule tokens=96 qk_heads=1 key_dim=64 value_dim=32 qk_l2norm=true dtype=fp16 beta_dtype=fp32",
       {},
       1,
       {},
       repeatKeys},
      {"gated_delta_rule tokens=33 qk_heads=1 v_heads=2 key_dim=64 value_dim=48 qk_l2norm=true initial_state=true",
       {},
       1,
       {},
       shrinkQueriesAndKeys},
      // Norms far from 1, whose inverses leave no bits, or no range, to 16-bit operands that hold them.
      {"gated_delta_rule tokens=70 qk_heads=1 v_heads=2 key_dim=64 value_dim=48 qk_l2norm=true initial_state=true "
       "dtype=fp16",
       {},
       1,
       {},
       shrinkQueriesAndKeys},
      {"gated_delta_rule tokens=70 qk_heads=1 v_heads=2 key_dim=64 value_dim=48 qk_l2norm=true initial_state=true "
       "dtype=fp16",
       {},
       1,
       {},
       zeroKeysUnderLargeValues},
      {"gated_delta_rule tokens=70 qk_heads=1 v_heads=2 key_dim=64 value_dim=48 qk_l2norm=true initial_state=true "
       "dtype=fp16",
       {},
       1,
       {},
       lengthenKeysOfSmallValues},
      {"gated_delta_rule tokens=70 qk_heads=1 v_heads=2 key_dim=64 value_dim=48 qk_l2norm=true initial_state=true",
       {},
       1,
       {},
       zeroKeysUnderLargeValues},
      {"gated_delta_rule tokens=70 qk_heads=1 v_heads=2 key_dim=64 value_dim=48 qk_l2norm=true initial_state=true",
       {},
       1,
       {},
       lengthenKeysOfSmallValues},
      {"gated_delta_rule tokens=70 qk_heads=1 v_heads=2 key_dim=64 value_dim=48 qk_l2norm=true initial_state=true "
       "dtype=fp32",
       {},
       1,
       {},
       zeroKeysUnderLargeValues},
      {"gated_delta_rule tokens=70 qk_heads=1 v_heads=2 key_dim=64 value_dim=48 qk_l2norm=true initial_state=true",
       {},
       1,
       {},
       mixNorms},
      {"gated_delta_rule batch=3 tokens=90 qk_heads=2 v_heads=6 key_dim=72 value_dim=32 chunk=32 qk_l2norm=true "
       "varlen=true dtype=fp16",
       {},
       1,
       {},
       mixNorms},
      {"gated_delta_rule tokens=20 qk_heads=1 key_dim=200 value_dim=16 chunk=16 qk_l2norm=true dtype=fp16",
       {},
       1,
       {},
       mixNorms},
      {"gated_delta_rule mode=recurrent tokens=9 qk_heads=1 key_dim=64 qk_l2norm=true dtype=fp16", {}, 1, {}, mixNorms},
      {"gated_delta_rule batch=1 tokens=64 qk_heads=2 key_dim=64 value_dim=64 dtype=fp16", {}},
      {"gated_delta_rule batch=2 tokens=128 qk_heads=4 key_dim=64 dtype=bf16", {}},
      {"gated_delta_rule tokens=20 qk_heads=1 key_dim=60 value_dim=256 chunk=16", {}},
      // fp32: the shapes of public entries, each size of a chunk, parts of key_dim, states of every kind.
      {"gated_delta_rule batch=2 tokens=64 qk_heads=1 key_dim=64 value_dim=32 dtype=fp32 initial_state=true", {}},
      {"gated_delta_rule tokens=70 qk_heads=1 v_heads=2 key_dim=64 dtype=fp32 qk_l2norm=true", {}},
      {"gated_delta_rule batch=4 tokens=75 qk_heads=1 v_heads=2 key_dim=60 value_dim=24 chunk=32 dtype=fp32 "
       "varlen=true "
       "initial_state=true state_layout=value-major beta_dtype=bf16",
       {}},
      {"gated_delta_rule batch=3 tokens=40 qk_heads=1 key_dim=200 value_dim=72 chunk=16 dtype=fp32 varlen=true "
       "state_pool=true slots=4",
       {}},
      {"gated_delta_rule tokens=34 qk_heads=1 key_dim=256 value_dim=16 chunk=32 dtype=fp32 initial_state=true", {}},
      {"gated_delta_rule tokens=65 qk_heads=1 key_dim=128 dtype=fp32", {}},
      {"gated_delta_rule tokens=96 qk_heads=1 key_dim=64 value_dim=32 qk_l2norm=true dtype=fp32",
       {},
       1,
       {},
       repeatKeys},
      {"gated_delta_rule batch=* tokens=* qk_heads=1 key_dim=16 chunk=16 dtype=fp32", {{"batch", 2}, {"tokens", 0}}},
      {"gated_delta_rule tokens=70 qk_heads=1 key_dim=1 value_dim=1 qk_l2norm=true", {}},
      {"gated_delta_rule batch=9 tokens=64 qk_heads=4 key_dim=1 value_dim=2", {}},
  };
}

} // namespace jitk::conformance
