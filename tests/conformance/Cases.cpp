#include "tests/conformance/Cases.h"

#include "src/reference/Numeric.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>

namespace jitk::conformance {

static void setIntegers(std::vector<reference::HostTensor> &tensors, std::string_view name,
                        const std::vector<int32_t> &values) {
  auto found = std::ranges::find(tensors, name, [](const reference::HostTensor &tensor) { return tensor.shape.name; });
  std::memcpy(found->bytes.data(), values.data(), std::min(found->bytes.size(), values.size() * sizeof(int32_t)));
}

/// Four sequences whose offsets begin before the tokens and end after them, and whose slots are all but one no slot.
static void leaveRange(std::vector<reference::HostTensor> &tensors) {
  setIntegers(tensors, "cu_seqlens", {-7, 6, 6, 13, INT_MAX});
  setIntegers(tensors, "state_indices", {INT_MIN, 2, 3, INT_MAX});
  for (reference::HostTensor &tensor : tensors) {
    // The end reaches over the tokens that were meant for none, whose contents are not numbers.
    if (tensor.shape.name == "q" || tensor.shape.name == "k" || tensor.shape.name == "v" || tensor.shape.name == "g" ||
        tensor.shape.name == "beta") {
      std::ranges::replace(tensor.bytes, uint8_t(0xFF), uint8_t(0));
    }
  }
}

/// Entries of a table, before the ends of their sequences, that name no page. Whichever page is read instead holds
/// numbers.
static void breakTable(std::vector<reference::HostTensor> &tensors) {
  for (reference::HostTensor &tensor : tensors) {
    if (tensor.shape.name == "block_table") {
      int32_t entries[] = {INT_MAX, 1, INT_MIN, -1};
      std::memcpy(tensor.bytes.data(), entries, std::min(tensor.bytes.size(), sizeof entries));
    } else if (tensor.shape.name.ends_with("_cache")) {
      std::ranges::replace(tensor.bytes, uint8_t(0xFF), uint8_t(0x3F));
    }
  }
}

/// Lengths of sequences whose cache has no page.
static void takeCacheAway(std::vector<reference::HostTensor> &tensors) { setIntegers(tensors, "seq_lens", {100, 64}); }

/// One key for all tokens, gates of 1 and beta of 1: each token overwrites what the last one wrote, and the matrix that
/// is inverted is full of ones.
static void repeatKeys(std::vector<reference::HostTensor> &tensors) {
  for (reference::HostTensor &tensor : tensors) {
    if (tensor.shape.name == "k") {
      size_t row = tensor.bytes.size() / size_t(tensor.shape.numElements() / tensor.shape.sizes.back());
      for (size_t at = row; at < tensor.bytes.size(); at += row) {
        std::copy_n(tensor.bytes.begin(), row, tensor.bytes.begin() + std::ptrdiff_t(at));
      }
    } else if (tensor.shape.name == "g") {
      std::ranges::fill(tensor.bytes, uint8_t(0));
    } else if (tensor.shape.name == "beta") {
      tensor.bytes = reference::encode("fp32", std::vector<float>(size_t(tensor.shape.numElements()), 1));
    }
  }
}

/// Each element of a tensor of floats, if there is one of that name, becomes `edit(row, element)`; rows are along the
/// last dimension.
template <typename Edit>
static void editRows(std::vector<reference::HostTensor> &tensors, std::string_view name, Edit edit) {
  for (reference::HostTensor &tensor : tensors) {
    if (tensor.shape.name == name) {
      std::vector<float> values = reference::decode(tensor.shape.dtype, tensor.bytes);
      for (size_t at = 0; at < values.size(); ++at) {
        values[at] = edit(at / size_t(tensor.shape.sizes.back()), values[at]);
      }
      tensor.bytes = reference::encode(tensor.shape.dtype, values);
    }
  }
}

static void scale(std::vector<reference::HostTensor> &tensors, std::initializer_list<const char *> names,
                  float factor) {
  for (const char *name : names) {
    editRows(tensors, name, [&](size_t, float value) { return factor * value; });
  }
}

/// Queries and keys whose squares sum up to about the 1e-6 that a norm adds to them; the first of either are zero.
static void shrinkQueriesAndKeys(std::vector<reference::HostTensor> &tensors) {
  for (const char *name : {"q", "k"}) {
    editRows(tensors, name, [](size_t row, float value) { return row == 0 ? 0 : 0x1p-13F * value; });
  }
}

/// Values of about 100, and some keys that are zero, whose inverse norm is the largest there is: 1000.
static void zeroKeysUnderLargeValues(std::vector<reference::HostTensor> &tensors) {
  editRows(tensors, "k", [](size_t row, float value) { return row % 7 == 3 ? 0 : value; });
  scale(tensors, {"v", "initial_state"}, 60);
}

/// Keys and queries of a norm of a few thousand beside values of a few thousandths.
static void lengthenKeysOfSmallValues(std::vector<reference::HostTensor> &tensors) {
  scale(tensors, {"q", "k"}, 400);
  scale(tensors, {"v", "initial_state"}, 0x1p-9F);
}

/// Keys whose norms go from 2^-12 of what they were to 2^12 of it from one token to the next, and small values.
static void mixNorms(std::vector<reference::HostTensor> &tensors) {
  editRows(tensors, "k", [](size_t row, float value) { return std::ldexp(value, int(row * 5 % 25) - 12); });
  scale(tensors, {"v"}, 0x1p-9F);
}

/// Queries 16 times as long: the maximum of a row grows by far more than 2^8 from block to block, and by less.
static void sharpenScores(std::vector<reference::HostTensor> &tensors) { scale(tensors, {"q"}, 16); }

/// 128 lengths from `first` in steps of two.
static std::vector<reference::Number> growingLengths(int first) {
  std::vector<reference::Number> lengths;
  for (int i = 0; i < 128; ++i) {
    lengths.push_back(first + 2 * i);
  }
  return lengths;
}

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

      // The plain kernel's wide tile, whose products run on while the next ones are started: no block of K, and
      // several. Rows past the end, and none, whose copies the compiler gives to TMA; a part of a block of K as well.
      {"matmul m=* n=*%8 k=*%64 b_layout=col", {{"m", 140}, {"n", 264}, {"k", 320}}},
      {"matmul m=* n=*%256 k=*%8 dtype=fp16 out_dtype=fp32", {{"m", 130}, {"n", 256}, {"k", 200}}},
      {"matmul m=* n=*%8 k=*%64 b_layout=col bias=true", {{"m", 9}, {"n", 16}, {"k", 0}}},
      {"matmul m=* n=*%8 k=*%64 b_layout=col", {{"m", 0}, {"n", 264}, {"k", 64}}},
      {"matmul m=* n=*%8 k=*%8 b_layout=col", {{"m", 140}, {"n", 264}, {"k", 136}}},

      // Column-major A, [k, m], of which TMA and the compiler's tiles are other ones: tails in each dimension, single
      // elements, no row and a few, the wide tile, rows apart.
      {"matmul m=200 n=328 k=200 a_layout=col b_layout=col", {}},
      {"matmul m=136 n=264 k=72 a_layout=col dtype=fp16 out_dtype=fp32 bias=true residual=true", {}},
      {"matmul m=64 n=136 k=3000 a_layout=col b_layout=col activation=silu", {}},
      {"matmul m=*%8 n=264 k=200 a_layout=col b_layout=col", {{"m", 0}}},
      {"matmul m=*%8 n=264 k=200 a_layout=col b_layout=col", {{"m", 56}}},
      {"matmul m=70 n=44 k=51 a_layout=col", {}},
      {"matmul m=* n=* k=* a_layout=col dtype=fp16", {{"m", 18}, {"n", 21}, {"k", 37}}},
      {"matmul m=*%128 n=*%8 k=*%64 a_layout=col b_layout=col", {{"m", 128}, {"n", 264}, {"k", 192}}},
      {"matmul m=200 n=328 k=200 a_layout=col b_layout=col a_stride=216 b_stride=208 c_stride=336", {}},
      {"matmul m=50 n=130 k=72 a_layout=col a_stride=51", {}},

      // matmul in tiles that TMA moves: tails in each dimension, one block of K, CTAs that take several tiles or none.
      {"matmul m=300 n=328 k=200 dtype=bf16 b_layout=col", {}},
      {"matmul m=131 n=264 k=72 dtype=fp16 b_layout=row out_dtype=fp32", {}},
      {"matmul m=1 n=8 k=8 dtype=bf16", {}},
      {"matmul m=70 n=36 k=64 dtype=bf16 b_layout=col out_dtype=fp32", {}},
      {"matmul m=* n=512 k=192 dtype=bf16 b_layout=row", {{"m", 0}}},
      {"matmul m=* n=512 k=192 dtype=bf16 b_layout=row", {{"m", 333}}},
      {"matmul m=* n=264 k=1000 dtype=bf16 b_layout=col", {{"m", 300}}},
      {"matmul m=* n=264 k=520 dtype=bf16 b_layout=col out_dtype=fp32", {{"m", 300}}},
      {"matmul m=* n=264 k=1000 dtype=bf16 b_layout=col residual=true", {{"m", 300}}},
      {"matmul m=* n=192 k=72 dtype=bf16 b_layout=col", {{"m", 8}}},
      {"matmul m=* n=192 k=72 dtype=bf16 b_layout=col", {{"m", 9}}},
      {"matmul m=*<=64 n=*%8 k=136 dtype=fp16 b_layout=col", {{"m", 40}, {"n", 0}}},
      {"matmul m=*<=64 n=*%8 k=136 dtype=fp16 b_layout=col", {{"m", 40}, {"n", 88}}},
      {"matmul m=24 n=16 k=*%8 dtype=bf16", {{"k", 0}}},

      // matmul in the largest tile of the plain kernel, whose copies the compiler gives to TMA: no block of K, one, as
      // many as there are slots, and more.
      {"matmul m=*%128 n=*%256 k=*%64 b_layout=col", {{"m", 128}, {"n", 512}, {"k", 0}}},
      {"matmul m=*%128 n=*%256 k=*%64 b_layout=col", {{"m", 256}, {"n", 256}, {"k", 64}}},
      {"matmul m=*%128 n=*%256 k=*%64 b_layout=row", {{"m", 128}, {"n", 512}, {"k", 256}}},
      {"matmul m=*%128 n=*%256 k=*%8 dtype=fp16 b_layout=col", {{"m", 128}, {"n", 256}, {"k", 712}}},

      // matmul with what follows the product: each part of it, in whole tiles and over edges.
      {"matmul m=33 n=65 k=47 dtype=fp16 bias=true activation=relu", {}},
      {"matmul m=33 n=65 k=47 dtype=bf16 b_layout=col residual=true activation=gelu_tanh out_dtype=fp32", {}},
      {"matmul m=*<=40 n=*%8 k=*%8 accumulate=true activation=silu", {{"m", 21}, {"n", 24}, {"k", 40}}},
      {"matmul m=5 n=7 k=*%8 bias=true accumulate=true", {{"k", 0}}},
      {"matmul m=200 n=264 k=136 b_layout=col bias=true", {}},
      {"matmul m=131 n=328 k=72 dtype=fp16 residual=true activation=silu", {}},
      {"matmul m=150 n=36 k=64 dtype=fp16 b_layout=col out_dtype=fp32 accumulate=true", {}},
      {"matmul m=150 n=72 k=200 out_dtype=fp32 bias=true residual=true activation=relu", {}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh", {{"m", 0}}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh", {{"m", 5}}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh", {{"m", 60}}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh", {{"m", 200}}},
      {"matmul m=40 n=72 k=136 dtype=fp16 b_layout=col out_dtype=fp32 bias=true accumulate=true", {}},

      // matmul of few tiles, K split over CTAs: parts that do not divide K, rows and columns past the end.
      {"matmul m=64 n=64 k=4096", {}},
      {"matmul m=50 n=136 k=3000 b_layout=col bias=true residual=true activation=silu", {}},
      {"matmul m=*<=100 n=72 k=2560 dtype=fp16 b_layout=col out_dtype=fp32 accumulate=true", {{"m", 3}}},
      {"matmul m=*<=100 n=72 k=2560 dtype=fp16 b_layout=col out_dtype=fp32 accumulate=true", {{"m", 77}}},

      // matmul of rows that lie apart: as TMA can move them and as it cannot, in each operand, in each kind of tile and
      // epilogue, K split over CTAs, and in the largest tile of the plain kernel.
      {"matmul m=300 n=328 k=200 b_layout=col a_stride=208 b_stride=640 c_stride=1000", {}},
      {"matmul m=131 n=264 k=72 dtype=fp16 out_dtype=fp32 a_stride=80 b_stride=272 c_stride=268", {}},
      {"matmul m=131 n=264 k=72 dtype=fp16 out_dtype=fp32 a_stride=73 b_stride=266 c_stride=265", {}},
      {"matmul m=33 n=65 k=47 a_stride=48 b_stride=72 c_stride=80", {}},
      {"matmul m=33 n=65 k=47 dtype=fp16 b_layout=col a_stride=49 b_stride=51 c_stride=67", {}},
      {"matmul m=*<=64 n=192 k=72 b_layout=col a_stride=1024 b_stride=96 c_stride=576", {{"m", 6}}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh residual_stride=400 "
       "c_stride=200",
       {{"m", 5}}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh residual_stride=400 "
       "c_stride=200",
       {{"m", 200}}},
      {"matmul m=150 n=72 k=200 out_dtype=fp32 residual=true activation=relu a_stride=216 residual_stride=74", {}},
      {"matmul m=150 n=36 k=64 dtype=fp16 b_layout=col out_dtype=fp32 accumulate=true c_stride=44", {}},
      {"matmul m=50 n=136 k=3000 b_layout=col residual=true activation=silu a_stride=3008 residual_stride=144 "
       "c_stride=152",
       {}},
      {"matmul m=*<=100 n=72 k=2560 dtype=fp16 b_layout=col out_dtype=fp32 accumulate=true b_stride=2568 c_stride=80",
       {{"m", 77}}},
      {"matmul m=* n=* k=* b_layout=col a_stride=64 b_stride=50 c_stride=33", {{"m", 18}, {"n", 21}, {"k", 37}}},
      {"matmul m=* n=*%8 k=*%64 b_layout=col a_stride=448 b_stride=384 c_stride=272",
       {{"m", 140}, {"n", 264}, {"k", 320}}},
      {"matmul m=*%128 n=*%256 k=*%64 a_stride=264 b_stride=520", {{"m", 128}, {"n", 512}, {"k", 256}}},
      {"matmul m=*<=100 n=48 k=80 b_layout=col a_stride=96 c_stride=64", {{"m", 0}}},

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

      // fp8_block_matmul: scale blocks that are whole and cut in each dimension.
      {"fp8_block_matmul m=64 n=128 k=128 out_dtype=fp16", {}},
      {"fp8_block_matmul m=17 n=200 k=300 out_dtype=bf16", {}},
      {"fp8_block_matmul m=1 n=129 k=136 out_dtype=fp16", {}},
      {"fp8_block_matmul m=83 n=132 k=84 out_dtype=fp16", {}},
      {"fp8_block_matmul m=* n=128 k=256", {{"m", 0}}},
      {"fp8_block_matmul m=* n=128 k=256", {{"m", 70}}},
      // Those that TMA can move, on sm_90a, and those beside them: few rows and many, each variant, no row at all.
      {"fp8_block_matmul m=300 n=328 k=272", {}},
      {"fp8_block_matmul m=131 n=264 k=144 out_dtype=fp16", {}},
      {"fp8_block_matmul m=200 n=328 k=1024", {}}, // scales of four blocks at once, in each kind of tile
      // Shared memory is full, and scales that do not come four at a time want some of it.
      {"fp8_block_matmul m=150 n=264 k=1408", {}},
      {"fp8_block_matmul m=9 n=200 k=496 out_dtype=fp16", {}},
      {"fp8_block_matmul m=* n=200 k=512", {{"m", 33}}},
      {"fp8_block_matmul m=40 n=72 k=8192", {}}, // K in parts
      {"fp8_block_matmul m=36 n=40 k=7680", {}}, // 60 blocks, which 8 parts do not divide
      // A last tile of 128 rows whose second consumer has none.
      {"fp8_block_matmul m=192 n=144 k=512", {}},
      {"fp8_block_matmul m=*%64 n=144 k=512", {{"m", 192}}},
      {"fp8_block_matmul m=130 n=136 k=6144 out_dtype=fp16", {}},
      {"fp8_block_matmul m=5 n=200 k=4080", {}},
      {"fp8_block_matmul m=* n=72 k=4096", {{"m", 20}}},
      {"fp8_block_matmul m=* n=72 k=4096", {{"m", 100}}},
      {"fp8_block_matmul m=* n=200 k=512", {{"m", 70}}},
      {"fp8_block_matmul m=1 n=8 k=16", {}},
      {"fp8_block_matmul m=70 n=36 k=64", {}},
      {"fp8_block_matmul m=* n=200 k=400", {{"m", 0}}},
      {"fp8_block_matmul m=* n=200 k=400", {{"m", 8}}},
      // Rows that lie apart, as TMA can move them and as it cannot.
      {"fp8_block_matmul m=300 n=328 k=272 a_stride=288 b_stride=1024 c_stride=400", {}},
      {"fp8_block_matmul m=70 n=200 k=272 a_stride=300 b_stride=276 c_stride=201 out_dtype=fp16", {}},
      {"fp8_block_matmul m=40 n=72 k=8192 a_stride=8208 b_stride=8224 c_stride=80", {}},
      {"fp8_block_matmul m=* n=200 k=512 a_stride=528 c_stride=208", {{"m", 5}}},
      {"fp8_block_matmul m=* n=* k=* a_stride=160 b_stride=132 c_stride=72", {{"m", 20}, {"n", 70}, {"k", 128}}},
      {"fp8_block_matmul m=* n=200 k=400", {{"m", 9}}},
      {"fp8_block_matmul m=* n=200 k=400", {{"m", 33}}},
      {"fp8_block_matmul m=* n=200 k=400", {{"m", 333}}},
      {"fp8_block_matmul m=*<=64 n=*%8 k=144", {{"m", 40}, {"n", 0}}},
      {"fp8_block_matmul m=*<=64 n=*%8 k=144", {{"m", 40}, {"n", 264}}},
      {"fp8_block_matmul m=24 n=16 k=*%16", {{"k", 0}}},
      {"fp8_block_matmul m=24 n=16 k=*%16", {{"k", 144}}},
      // Results in fp32: whole tiles, few rows, K in parts with and without a second step, rows of 16 bytes; plain.
      {"fp8_block_matmul m=300 n=328 k=272 out_dtype=fp32", {}},
      {"fp8_block_matmul m=150 n=264 k=1408 out_dtype=fp32", {}},
      {"fp8_block_matmul m=40 n=72 k=8192 out_dtype=fp32", {}},
      {"fp8_block_matmul m=9 n=196 k=496 out_dtype=fp32 c_stride=204", {}},
      {"fp8_block_matmul m=* n=72 k=4096 out_dtype=fp32", {{"m", 20}}},
      {"fp8_block_matmul m=70 n=35 k=84 out_dtype=fp32", {}},
      // Scales of A column by column: of all rows, of a wider buffer, in each kind of tile; plain.
      {"fp8_block_matmul m=300 n=328 k=272 a_scale_layout=col", {}},
      {"fp8_block_matmul m=131 n=264 k=1408 a_scale_layout=col a_scale_stride=132", {}},
      {"fp8_block_matmul m=40 n=72 k=8192 a_scale_layout=col", {}},
      {"fp8_block_matmul m=* n=200 k=512 a_scale_layout=col", {{"m", 5}}},
      {"fp8_block_matmul m=* n=200 k=400 a_scale_layout=col", {{"m", 333}}},
      {"fp8_block_matmul m=*<=64 n=72 k=512 a_scale_layout=col a_scale_stride=64", {{"m", 33}}},
      {"fp8_block_matmul m=70 n=200 k=300 a_scale_layout=col a_scale_stride=72", {}},
      {"fp8_block_matmul m=* n=* k=* a_scale_layout=col", {{"m", 20}, {"n", 70}, {"k", 300}}},
      {"fp8_block_matmul m=70 n=200 k=1024 a_scale_stride=9", {}},
      {"fp8_block_matmul m=70 n=200 k=* a_scale_stride=4", {{"k", 300}}},

      // grouped_fp8_block_matmul: runs of rows that are short or of no group, groups without rows, tails.
      {"grouped_fp8_block_matmul groups=3 m=700 n=200 k=304", {}},
      {"grouped_fp8_block_matmul groups=3 m=448 n=144 k=512", {}},
      {"grouped_fp8_block_matmul groups=2 m=300 n=132 k=84 out_dtype=fp16", {}},
      {"grouped_fp8_block_matmul groups=3 m=* n=328 k=144", {{"m", 0}}},
      {"grouped_fp8_block_matmul groups=3 m=* n=328 k=144", {{"m", 130}}},
      {"grouped_fp8_block_matmul groups=* m=* n=*%8 k=128", {{"groups", 2}, {"m", 256}, {"n", 136}}},
      {"grouped_fp8_block_matmul groups=3 m=520 n=264 k=512", {}},
      {"grouped_fp8_block_matmul groups=* m=* n=*%8 k=128", {{"groups", 0}, {"m", 130}, {"n", 136}}},
      // masked: all rows of a group and none, tiles of 64 rows and 128, rows that no tile covers.
      {"grouped_fp8_block_matmul masked=true groups=4 m=128 n=200 k=304", {}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=256 n=328 k=144 expected_m=20 out_dtype=fp16", {}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=70 n=132 k=84", {}},
      {"grouped_fp8_block_matmul masked=true groups=5 m=*%64 n=72 k=272", {{"m", 192}}},
      {"grouped_fp8_block_matmul masked=true groups=5 m=*%64 n=72 k=496", {{"m", 192}}},
      {"grouped_fp8_block_matmul masked=true groups=5 m=*%64 n=72 k=272", {{"m", 0}}},
      {"grouped_fp8_block_matmul masked=true groups=* m=* n=*%8 k=128", {{"groups", 0}, {"m", 70}, {"n", 136}}},
      {"grouped_fp8_block_matmul masked=true groups=* m=200 n=136 k=192 a_scale_layout=col", {{"groups", 0}}},
      // Rows that lie apart, of all groups alike.
      {"grouped_fp8_block_matmul groups=3 m=700 n=200 k=304 a_stride=320 b_stride=336 c_stride=264", {}},
      {"grouped_fp8_block_matmul groups=2 m=300 n=132 k=84 a_stride=88 b_stride=100 c_stride=133", {}},
      {"grouped_fp8_block_matmul masked=true groups=4 m=128 n=200 k=304 a_stride=320 b_stride=304 c_stride=216", {}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=70 n=132 k=84 a_stride=96 b_stride=84 c_stride=140", {}},
      {"grouped_fp8_block_matmul groups=3 m=700 n=200 k=304 out_dtype=fp32 a_scale_layout=col", {}},
      {"grouped_fp8_block_matmul groups=2 m=300 n=131 k=84 out_dtype=fp32 a_scale_layout=col a_scale_stride=304", {}},
      {"grouped_fp8_block_matmul masked=true groups=4 m=128 n=200 k=304 a_scale_layout=col a_scale_stride=132", {}},
      {"grouped_fp8_block_matmul masked=true groups=5 m=*%64 n=72 k=512 a_scale_layout=col out_dtype=fp32",
       {{"m", 192}}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=70 n=132 k=84 a_scale_layout=col out_dtype=fp32", {}},

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
  return cases;
}

const std::vector<checked::Problem> &configurationCases() {
  static const std::vector<checked::Problem> cases = {
      {"matmul m=200 n=264 k=136 b_layout=col bias=true residual=true", {}},
      {"matmul m=40 n=136 k=1000 dtype=fp16 activation=relu", {}},
      {"flash_attention batch=2 heads=4 kv_heads=2 seq_q=200 seq_k=300 head_dim=128 causal=true", {}},
      {"flash_attention batch=2 heads=2 kv_heads=1 seq_q=200 seq_k=300 head_dim=64 causal=true varlen=true", {}},
      {"flash_attention heads=2 seq_q=150 seq_k=190 head_dim=256 dtype=fp16", {}},
      {"flash_attention heads=1 seq_q=70 seq_k=200 head_dim=192 value_dim=128", {}},
      {"flash_attention batch=3 heads=2 seq_q=150 seq_k=200 total_q=330 total_k=410 head_dim=128 packed=true", {}},
      {"flash_attention heads=2 seq_q=2100 seq_k=2150 head_dim=64 window_left=100 window_right=60", {}},
      {"flash_attention heads=2 seq_q=200 seq_k=300 head_dim=128 causal=true softcap=1", {}},
      {"fp8_block_matmul m=200 n=328 k=272", {}},
      {"fp8_block_matmul m=200 n=328 k=1008", {}}, // scales by TMA
      {"fp8_block_matmul m=20 n=72 k=4080 out_dtype=fp16", {}},
      {"fp8_block_matmul m=* n=200 k=272", {{"m", 150}}},
      {"fp8_block_matmul m=192 n=144 k=512", {}},
      {"fp8_block_matmul m=200 n=328 k=512 out_dtype=fp32 a_scale_layout=col a_scale_stride=204", {}},
      {"grouped_fp8_block_matmul groups=3 m=500 n=200 k=304", {}},
      {"grouped_fp8_block_matmul groups=3 m=448 n=144 k=512", {}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=128 n=328 k=144", {}},
  };
  return cases;
}

const std::vector<checked::Problem> &chosenConfigurationCases() {
  static const std::vector<checked::Problem> cases = [] {
    std::vector<checked::Problem> all;
    // Few rows are the columns of a tile, in eights. So many blocks of K as go into any number of parts up to 16.
    for (int m : {7, 16, 23, 32, 39, 48, 55, 64}) {
      for (int blocks : {64, 60, 56, 52, 48, 44, 40, 36}) {
        std::string rows = "m=" + std::to_string(m) + " n=72 k=";
        all.push_back({"matmul b_layout=col " + rows + std::to_string(64 * blocks), {}});
        all.push_back({"fp8_block_matmul " + rows + std::to_string(128 * blocks), {}});
      }
    }
    // Even tiles of one round: 63 rows of two and 32 of four.
    for (int columns : {80, 96, 112, 144, 160, 176}) {
      all.push_back({"matmul m=4000 k=72 b_layout=col n=" + std::to_string(2 * columns - 8), {}});
    }
    all.push_back({"matmul m=4000 n=568 k=72 b_layout=col bias=true residual=true", {}});
    all.push_back({"matmul m=4000 n=632 k=72", {}});
    all.push_back({"matmul m=4000 n=696 k=72 b_layout=col out_dtype=fp32 accumulate=true", {}});
    return all;
  }();
  return cases;
}

std::vector<std::string> gridOfChoices(std::string_view op) {
  std::vector<std::string> grid;
  auto add = [&](const std::string &attributes) { grid.push_back(std::string(op) + " " + attributes); };
  auto with = [](const char *name, auto value) { return std::string(name) + "=" + std::to_string(value) + " "; };
  if (op == "flash_attention") {
    for (int dim : {32, 48, 64, 96, 128, 192, 256}) {
      for (int heads : {1, 8, 16, 32, 128}) {
        for (int queries : {1, 16, 50, 64, 100, 128, 200, 256, 512, 1024, 4096, 16384}) {
          for (int keys : {64, 200, 1024, 4096, 16384}) {
            for (const char *causal : {"causal=false", "causal=true"}) {
              add(with("heads", heads) + with("seq_q", queries) + with("seq_k", keys) + with("head_dim", dim) + causal);
            }
          }
        }
      }
    }
    return grid;
  }
  if (op == "grouped_fp8_block_matmul") {
    for (int groups : {1, 2, 4, 6, 8, 16, 32, 64, 128}) {
      for (auto [n, k] :
           {std::pair(512, 7168), {2112, 7168}, {4096, 7168}, {6144, 7168}, {7168, 2048}, {7168, 3072}, {2048, 512}}) {
        std::string matrix = with("groups", groups) + with("n", n) + with("k", k);
        for (int m : {128, 1024, 4096, 8192, 32768}) {
          add(matrix + with("m", m));
        }
        add(matrix + "m=*");
        for (int m : {64, 128, 192, 256, 1024, 4096}) {
          for (int expected : {0, 1, 8, 20, 64, 65, 100, 192, 256, 1024}) {
            add(matrix + with("m", m) + with("expected_m", expected) + "masked=true");
          }
        }
      }
    }
    return grid;
  }
  for (const char *m : {"1",   "5",    "8",    "12",   "16",   "20",   "24",   "30",   "32",  "40",    "48",    "50",
                        "56",  "60",   "64",   "65",   "100",  "128",  "160",  "192",  "256", "300",   "384",   "512",
                        "768", "1000", "1024", "1536", "2048", "3000", "4096", "8192", "*",   "*<=64", "*<=512"}) {
    for (int n : {64, 128, 256, 512, 576, 640, 1024, 1536, 2112, 3072, 4096, 5120, 7168, 11008, 18432, 24576, 32768,
                  36864, 129280}) {
      for (int k : {64, 512, 1024, 1536, 2048, 4096, 5120, 7168, 16384, 18432}) {
        std::string sizes = std::string("m=") + m + " " + with("n", n) + with("k", k);
        add(sizes);
        if (op == "matmul") {
          add(sizes + "b_layout=col");
        }
        if (op == "matmul" && k == 7168) {
          add(sizes + "out_dtype=fp32");
          add(sizes + "bias=true residual=true");
        }
      }
    }
  }
  return grid;
}

const std::vector<checked::Problem> &fullSizes() {
  static const std::vector<checked::Problem> cases = {
      {"matmul m=128 n=128 k=128 dtype=fp16", {}},
      {"matmul m=1024 n=1024 k=1024 dtype=bf16", {}},
      {"matmul m=4096 n=2112 k=7168 dtype=bf16 b_layout=col", {}},
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
