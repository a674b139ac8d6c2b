#include "src/ops/Families.h"

namespace jitk {

using Kind = AttributeSchema::Kind;

static Status checkGatedDeltaRule(const Description &description) {
  if (description.flag("state_pool") && description.flag("initial_state")) {
    return invalidArgument("attribute initial_state must be false where state_pool is true: the pool holds the initial "
                           "states: got 'true'");
  }
  return okStatus();
}

void addLinearAttentionOps(std::vector<OpSchema> &ops) {
  ops.push_back({
      .name = "gated_delta_rule",
      .summary = "For each token S = exp(g) S, u = beta (v - S^T k), S = S + k u^T, o = S^T q / sqrt(key_dim)",
      .attributes =
          {
              {"batch", Kind::Dimension, "1", "sequences"},
              {"tokens", Kind::Dimension, "", "tokens of a sequence; of all sequences together where varlen"},
              {"qk_heads", Kind::Dimension, "", "heads of Q and K"},
              {"v_heads", Kind::Dimension, "@qk_heads", "heads of V and O; a multiple of qk_heads"},
              {"key_dim", Kind::Integer, "", "length of a query and a key", {}, 1, 256},
              {"value_dim", Kind::Integer, "@key_dim", "length of a value", {}, 1, 256},
              {"dtype", Kind::Word, "bf16", "type of Q, K, V and O", {"bf16", "fp16", "fp32"}},
              {"beta_dtype", Kind::Word, "@dtype", "type of beta", {"bf16", "fp16", "fp32"}},
              {"mode",
               Kind::Word,
               "chunk",
               "chunks of tokens at a time (prefill), or token by token (decode)",
               {"chunk", "recurrent"}},
              onlyWith("mode=chunk",
                       {"chunk", Kind::Integer, "64", "tokens of a chunk in mode chunk", {"16", "32", "64"}, 16, 64}),
              {"qk_l2norm", Kind::Flag, "false", "q and k are divided by sqrt(sum of squares + 1e-6) first"},
              {"initial_state", Kind::Flag, "false", "the states at the start are given; zero else"},
              {"state_layout",
               Kind::Word,
               "key-major",
               "a state is [key_dim,value_dim] or [value_dim,key_dim]",
               {"key-major", "value-major"}},
              {"varlen", Kind::Flag, "false", "sequences of any length, packed one after the other"},
              {"state_pool", Kind::Flag, "false", "states are read and written in the slots of a pool"},
              onlyWith("state_pool", {"slots", Kind::Dimension, "1", "states that the pool holds"}),
              strideAttribute("q_stride", "elements from a token of Q to the next"),
              strideAttribute("k_stride", "elements from a token of K to the next"),
              strideAttribute("v_stride", "elements from a token of V to the next"),
              strideAttribute("g_stride", "elements from a token of g to the next"),
              strideAttribute("beta_stride", "elements from a token of beta to the next"),
              strideAttribute("o_stride", "elements from a token of O to the next"),
          },
      .tensors =
          {
              headsOfTokens("q", "@dtype", {"varlen?1:batch", "tokens", "qk_heads", "key_dim"}, Access::Read),
              headsOfTokens("k", "@dtype", {"varlen?1:batch", "tokens", "qk_heads", "key_dim"}, Access::Read),
              headsOfTokens("v", "@dtype", {"varlen?1:batch", "tokens", "v_heads", "value_dim"}, Access::Read),
              {"g",
               "fp32",
               {"varlen?1:batch", "tokens", "v_heads"},
               Access::Read,
               "logarithms of the gates, at most 0"},
              {"beta", "@beta_dtype", {"varlen?1:batch", "tokens", "v_heads"}, Access::Read, ""},
              {"cu_seqlens",
               "int32",
               {"batch+1"},
               Access::Read,
               "sequence i is [cu_seqlens[i], cu_seqlens[i+1])",
               "varlen"},
              {"initial_state",
               "fp32",
               {"batch", "v_heads", "key_dim", "value_dim"},
               Access::Read,
               "[.., value_dim, key_dim] if state_layout is value-major",
               "initial_state"},
              {"state_indices",
               "int32",
               {"batch"},
               Access::Read,
               "slot of each sequence; none where out of range",
               "state_pool"},
              {"states",
               "fp32",
               {"slots", "v_heads", "key_dim", "value_dim"},
               Access::Updated,
               "as initial_state",
               "state_pool"},
              headsOfTokens("o", "@dtype", {"varlen?1:batch", "tokens", "v_heads", "value_dim"}, Access::Written),
              {"final_state",
               "fp32",
               {"batch", "v_heads", "key_dim", "value_dim"},
               Access::Written,
               "as initial_state",
               "!state_pool"},
          },
      .scalars = {},
      .multiples = {{"v_heads", "qk_heads"}},
      .products = {{{"batch", "tokens"}, "!varlen"}},
      .check = checkGatedDeltaRule,
  });
}

} // namespace jitk
