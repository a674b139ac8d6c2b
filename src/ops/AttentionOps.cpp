#include "src/ops/DecodeParts.h"
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

static Status checkMlaDecode(const Description &description) {
  JITK_TRY(checkHeadSize(description, "latent_dim"));
  return checkHeadSize(description, "rope_dim");
}

/// Of decoding over a paged cache.
static AttributeSchema splitsAttribute() {
  return {"splits",
          Kind::Dimension,
          "chosen",
          "parts that the work is cut into; by the number of tiles and of keys where none is given",
          {},
          1,
          65535,
          /*leastAtLaunch=*/1,
          chooseDecodeParts};
}

static AttributeSchema reuseScheduleAttribute() {
  return {"reuse_schedule", Kind::Flag, "false", "the schedule of an earlier launch with these lengths is given"};
}

/// What is read, what tells pages and parts, and what is written.
static std::vector<TensorSchema> decodeTensors(std::vector<TensorSchema> read, std::vector<TensorSchema> written) {
  std::vector<TensorSchema> tensors = std::move(read);
  tensors.insert(
      tensors.end(),
      {
          {"block_table", "int32", {"batch", "ceil(max_kv/page_size)"}, Access::Read, "page of each page_size keys"},
          {"seq_lens", "int32", {"batch"}, Access::Read, "keys of each sequence; taken as within [0, max_kv]"},
          {"schedule", "int32", {"splits", "8"}, Access::Read, "of an earlier launch", "reuse_schedule"},
          {"split_offsets", "int32", {"batch+1"}, Access::Read, "of an earlier launch", "reuse_schedule"},
          {"schedule", "int32", {"splits", "8"}, Access::Written, "what each part works on", "!reuse_schedule"},
          {"split_offsets", "int32", {"batch+1"}, Access::Written, "splits before each sequence", "!reuse_schedule"},
      });
  tensors.insert(tensors.end(), written.begin(), written.end());
  return tensors;
}

static OpSchema mlaDecode() {
  return {
      .name = "mla_decode",
      .summary = "O = softmax(scale Q K^T) V over a paged cache of one key head, whose first latent_dim channels are V",
      .attributes =
          {
              {"batch", Kind::Dimension, "1", "sequences"},
              {"heads", Kind::Dimension, "", "heads of Q and O; all share the key head"},
              {"seq_q", Kind::Dimension, "1", "queries of a sequence"},
              {"max_kv", Kind::Dimension, "", "most keys of a sequence"},
              {"num_pages", Kind::Dimension, "*", "pages of the cache"},
              {"page_size", Kind::Integer, "64", "keys of a page", {}, 1, 65536},
              {"latent_dim", Kind::Integer, "512", "length of a value; a multiple of 16", {}, 16, 512},
              {"rope_dim",
               Kind::Integer,
               "64",
               "channels of a key that are not its value; a multiple of 16",
               {},
               0,
               128},
              {"causal", Kind::Flag, "false", "query i sees keys up to i + length - seq_q"},
              splitsAttribute(),
              {"kv_format", Kind::Word, "bf16", "type of the cache and of Q", {"bf16", "fp16"}},
              {"out_dtype", Kind::Word, "@kv_format", "type of O", {"bf16", "fp16", "fp32"}},
              reuseScheduleAttribute(),
              strideAttribute("q_stride", "elements from a token of Q to the next"),
              strideAttribute("kv_cache_stride", "elements from a key of the cache to the next"),
              pageStrideAttribute("kv_cache_page_stride", "elements from a page of the cache to the next"),
              strideAttribute("block_table_stride", "entries from a sequence's row of the table to the next"),
              strideAttribute("o_stride", "elements from a token of O to the next"),
          },
      .tensors = decodeTensors(
          {
              headsOfTokens("q", "@kv_format", {"batch", "seq_q", "heads", "latent_dim+rope_dim"}, Access::Read),
              headsOfTokens("kv_cache", "@kv_format", {"num_pages", "page_size", "1", "latent_dim+rope_dim"},
                            Access::Read, "", "key: all channels"),
          },
          {
              headsOfTokens("o", "@out_dtype", {"batch", "seq_q", "heads", "latent_dim"}, Access::Written),
              {"lse", "fp32", {"batch", "heads", "seq_q"}, Access::Written, "natural; +inf where nothing is attended"},
          }),
      .scalars = {{"scale", "1/sqrt(latent_dim+rope_dim)",
                   "of the scores; models stretch their context by changing it"}},
      .products = {{{"seq_q", "heads"}}},
      .check = checkMlaDecode,
  };
}

static OpSchema pagedAttention() {
  return {
      .name = "paged_attention",
      .summary = "O = softmax(scale Q K^T) V over paged caches of keys and values: decoding, few queries a sequence",
      .attributes =
          {
              {"batch", Kind::Dimension, "1", "sequences"},
              {"heads", Kind::Dimension, "", "heads of Q and O"},
              {"kv_heads",
               Kind::Dimension,
               "@heads",
               "heads of the caches; divides heads",
               {},
               1,
               Dimension::kLargest,
               1},
              {"seq_q", Kind::Dimension, "1", "queries of a sequence"},
              {"max_kv", Kind::Dimension, "", "most keys of a sequence"},
              {"num_pages", Kind::Dimension, "*", "pages of the caches"},
              {"page_size", Kind::Integer, "64", "keys of a page", {}, 1, 65536},
              {"head_dim", Kind::Integer, "", "length of a query and a key; a multiple of 16", {}, 16, 256},
              {"value_dim", Kind::Integer, "@head_dim", "length of a value; a multiple of 16", {}, 16, 256},
              {"causal", Kind::Flag, "false", "query i sees keys up to i + length - seq_q"},
              splitsAttribute(),
              {"dtype", Kind::Word, "bf16", "type of the caches and of Q", {"bf16", "fp16"}},
              {"out_dtype", Kind::Word, "@dtype", "type of O", {"bf16", "fp16", "fp32"}},
              reuseScheduleAttribute(),
              strideAttribute("q_stride", "elements from a token of Q to the next"),
              strideAttribute("k_cache_stride", "elements from a key of the cache of keys to the next"),
              pageStrideAttribute("k_cache_page_stride", "elements from a page of the cache of keys to the next"),
              strideAttribute("v_cache_stride", "elements from a key of the cache of values to the next"),
              pageStrideAttribute("v_cache_page_stride", "elements from a page of the cache of values to the next"),
              strideAttribute("block_table_stride", "entries from a sequence's row of the table to the next"),
              strideAttribute("o_stride", "elements from a token of O to the next"),
          },
      .tensors = decodeTensors(
          {
              headsOfTokens("q", "@dtype", {"batch", "seq_q", "heads", "head_dim"}, Access::Read),
              headsOfTokens("k_cache", "@dtype", {"num_pages", "page_size", "kv_heads", "head_dim"}, Access::Read),
              headsOfTokens("v_cache", "@dtype", {"num_pages", "page_size", "kv_heads", "value_dim"}, Access::Read),
          },
          {
              headsOfTokens("o", "@out_dtype", {"batch", "seq_q", "heads", "value_dim"}, Access::Written),
              {"lse", "fp32", {"batch", "heads", "seq_q"}, Access::Written, "natural; -inf where nothing is attended"},
          }),
      .scalars = {{"scale", "1/sqrt(head_dim)", "of the scores"}},
      .multiples = {{"heads", "kv_heads"}},
      .products = {{{"seq_q", "heads"}}},
      .check = checkAttention,
  };
}

/// An end of the window of keys that a query sees.
static AttributeSchema windowAttribute(std::string_view name, std::string_view meaning) {
  // Positions of queries and keys are counted in 32 bits, with this beside them: the op's products say what is left.
  constexpr int64_t kWidest = 1 << 24;
  return {name, Kind::Integer, "-1", meaning, {}, -1, kWidest};
}

void addAttentionOps(std::vector<OpSchema> &ops) {
  ops.push_back({
      .name = "flash_attention",
      .summary = "O = softmax(scale Q K^T) V, and the log-sum-exp of each row",
      .attributes =
          {
              {"batch", Kind::Dimension, "1", "sequences"},
              {"heads", Kind::Dimension, "", "heads of Q and O"},
              {"kv_heads", Kind::Dimension, "@heads", "heads of K and V; divides heads"},
              {"seq_q", Kind::Dimension, "", "queries of a sequence; where packed, the most of one"},
              {"seq_k", Kind::Dimension, "@seq_q", "keys of a sequence; where packed, the most of one"},
              onlyWith("packed",
                       {"total_q", Kind::Dimension, "@seq_q", "queries of all sequences together, where packed"}),
              onlyWith("packed",
                       {"total_k", Kind::Dimension, "@seq_k", "keys of all sequences together, where packed"}),
              {"head_dim", Kind::Integer, "", "length of a query and a key; a multiple of 16", {}, 16, 512},
              {"value_dim", Kind::Integer, "@head_dim", "length of a value; a multiple of 16", {}, 16, 512},
              {"causal", Kind::Flag, "false", "query i sees keys up to i + seq_k - seq_q"},
              windowAttribute("window_left", "query i sees keys from i + seq_k - seq_q - window_left on; -1: all"),
              onlyWith("!causal",
                       windowAttribute("window_right",
                                       "and up to i + seq_k - seq_q + window_right; -1: all; 0 where causal")),
              {"varlen", Kind::Flag, "false", "each sequence has its own lengths"},
              {"packed", Kind::Flag, "false", "sequences lie one after the other, without room between them"},
              {"dtype", Kind::Word, "bf16", "type of Q, K and V", {"bf16", "fp16"}},
              {"out_dtype", Kind::Word, "@dtype", "type of O", {"bf16", "fp16", "fp32"}},
              {"scale", Kind::Number, "1/sqrt(head_dim)", "of the scores, in fp32", {}, 0, 65536},
              {"softcap", Kind::Number, "0", "scores are softcap tanh(score / softcap); 0: as they are", {}, 0, 65536},
              strideAttribute("q_stride", "elements from a token of Q to the next"),
              strideAttribute("k_stride", "elements from a token of K to the next"),
              strideAttribute("v_stride", "elements from a token of V to the next"),
              strideAttribute("o_stride", "elements from a token of O to the next"),
              configurationAttribute(),
          },
      .tensors =
          {
              headsOfTokens("q", "@dtype", {"batch", "seq_q", "heads", "head_dim"}, Access::Read, "!packed"),
              headsOfTokens("k", "@dtype", {"batch", "seq_k", "kv_heads", "head_dim"}, Access::Read, "!packed"),
              headsOfTokens("v", "@dtype", {"batch", "seq_k", "kv_heads", "value_dim"}, Access::Read, "!packed"),
              headsOfTokens("q", "@dtype", {"total_q", "heads", "head_dim"}, Access::Read, "packed"),
              headsOfTokens("k", "@dtype", {"total_k", "kv_heads", "head_dim"}, Access::Read, "packed"),
              headsOfTokens("v", "@dtype", {"total_k", "kv_heads", "value_dim"}, Access::Read, "packed"),
              {"cu_seqlens_q",
               "int32",
               {"batch+1"},
               Access::Read,
               "queries of sequence i are [cu_seqlens_q[i], cu_seqlens_q[i+1]), at most seq_q of them",
               "packed"},
              {"cu_seqlens_k",
               "int32",
               {"batch+1"},
               Access::Read,
               "keys of sequence i are [cu_seqlens_k[i], cu_seqlens_k[i+1]), at most seq_k of them",
               "packed"},
              {"seq_lens_q",
               "int32",
               {"batch"},
               Access::Read,
               "valid queries of each sequence; taken as within [0, seq_q], and what it has",
               "varlen"},
              {"seq_lens_k",
               "int32",
               {"batch"},
               Access::Read,
               "valid keys of each sequence; taken as within [0, seq_k], and what it has",
               "varlen"},
              headsOfTokens("o", "@out_dtype", {"batch", "seq_q", "heads", "value_dim"}, Access::Written, "!packed"),
              headsOfTokens("o", "@out_dtype", {"total_q", "heads", "value_dim"}, Access::Written, "packed"),
              {"lse", "fp32", {"batch", "heads", "seq_q"}, Access::Written, "natural logarithm", "!packed"},
              {"lse", "fp32", {"heads", "total_q"}, Access::Written, "natural logarithm", "packed"},
          },
      .scalars = {},
      .multiples = {{"heads", "kv_heads"}},
      .products = {{{"batch", "heads", "seq_q"}, "!packed"},
                   // Each sequence and head has so many tiles at most, one more where there is a rest.
                   {{"batch", "heads", "ceil(seq_q/64)"}, "packed"},
                   {{"heads", "head_dim"}},
                   {{"heads", "value_dim"}},
                   // The ends of the last query's window, and of the first one's, before the keys or after them.
                   {{"seq_k+window_right"}},
                   {{"seq_q+window_left"}}},
      .check = checkAttention,
  });
  ops.push_back(mlaDecode());
  ops.push_back(pagedAttention());
}

} // namespace jitk
