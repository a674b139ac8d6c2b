#include "src/ops/Families.h"

namespace jitk {

using Kind = AttributeSchema::Kind;

/// Tensor cores contract 16 elements at a time.
static Status checkHeadSize(const Description &description, std::string_view name) {
  int64_t size = description.integer(name);
  if (size % 16 != 0) {
    return invalidArgument("attribute " + std::string(name) + " must be a multiple of 16: got '" +
                           std::to_string(size) + "'");
  }
  return okStatus();
}

static Status checkAttention(const Description &description) {
  JITK_TRY(checkHeadSize(description, "head_dim"));
  JITK_TRY(checkHeadSize(description, "value_dim"));
  return okStatus();
}

void addAttentionOps(std::vector<OpSchema> &ops) {
  ops.push_back({
      .name = "flash_attention",
      .summary = "O = softmax(Q K^T / sqrt(head_dim)) V, and the log-sum-exp of each row",
      .attributes =
          {
              {"batch", Kind::Dimension, "1", "sequences"},
              {"heads", Kind::Dimension, "", "heads of Q and O"},
              {"kv_heads", Kind::Dimension, "@heads", "heads of K and V; divides heads"},
              {"seq_q", Kind::Dimension, "", "queries of a sequence"},
              {"seq_k", Kind::Dimension, "@seq_q", "keys of a sequence"},
              {"head_dim", Kind::Integer, "", "length of a query and a key; a multiple of 16", {}, 16, 512},
              {"value_dim", Kind::Integer, "@head_dim", "length of a value; a multiple of 16", {}, 16, 512},
              {"causal", Kind::Flag, "false", "query i sees keys up to i + seq_k - seq_q"},
              {"varlen", Kind::Flag, "false", "each sequence has its own lengths"},
              {"dtype", Kind::Word, "bf16", "type of Q, K and V", {"bf16", "fp16"}},
              {"out_dtype", Kind::Word, "@dtype", "type of O", {"bf16", "fp16", "fp32"}},
          },
      .tensors =
          {
              {"q", "@dtype", {"batch", "seq_q", "heads", "head_dim"}, Access::Read, ""},
              {"k", "@dtype", {"batch", "seq_k", "kv_heads", "head_dim"}, Access::Read, ""},
              {"v", "@dtype", {"batch", "seq_k", "kv_heads", "value_dim"}, Access::Read, ""},
              {"seq_lens_q", "int32", {"batch"}, Access::Read, "valid queries of each sequence", "varlen"},
              {"seq_lens_k", "int32", {"batch"}, Access::Read, "valid keys of each sequence", "varlen"},
              {"o", "@out_dtype", {"batch", "seq_q", "heads", "value_dim"}, Access::Written, ""},
              {"lse", "fp32", {"batch", "heads", "seq_q"}, Access::Written, "natural logarithm"},
          },
      .scalars = {},
      .multiples = {{"heads", "kv_heads"}},
      .check = checkAttention,
  });
}

} // namespace jitk
