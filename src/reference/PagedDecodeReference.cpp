#include "src/reference/AttentionRow.h"
#include "src/reference/DecodeSchedule.h"
#include "src/reference/Numeric.h"
#include "src/reference/References.h"

#include <algorithm>
#include <limits>

namespace jitk::reference {

/// An output whose every element is known exactly.
static Expected exactly(std::string name, int64_t rowSize, const std::vector<int32_t> &values) {
  Expected expected{std::move(name), int64_t(values.size()) / rowSize, rowSize, {}, {}, {}};
  for (int64_t row = 0; row < expected.numRows; ++row) {
    expected.rows.push_back(row);
  }
  expected.values.assign(values.begin(), values.end());
  expected.bounds.assign(values.size(), 0);
  return expected;
}

/// A row of the cache, decoded by itself: all of a cache in fp32 would not fit beside it.
static std::vector<float> rowOf(const HostTensor &cache, int64_t row, int64_t rowSize) {
  int64_t bytes = rowSize * dtypeBytes(cache.shape.dtype);
  auto begin = cache.bytes.begin() + row * bytes;
  return decode(cache.shape.dtype, {begin, begin + bytes});
}

namespace {

/// What the ops call the parts of a problem.
struct PagedDecode {
  const HostTensor &keys, &values; ///< the same tensor where values are the first channels of the keys
  int64_t keyHeads, keyDim, valueDim;
  std::string dtype;
  double lseOfNothing;

  bool valuesAreKeys() const { return &keys == &values; }
};

} // namespace

static PagedDecode describe(const Description &description, const Sizes &sizes, const Operands &operands) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (description.op() == "mla_decode") {
    const HostTensor &cache = operands.tensor("kv_cache");
    int64_t latent = sizes["latent_dim"];
    return {cache, cache, 1, latent + sizes["rope_dim"], latent, description.word("kv_format"), kInfinity};
  }
  return {operands.tensor("k_cache"), operands.tensor("v_cache"), sizes["kv_heads"], sizes["head_dim"],
          sizes["value_dim"],         description.word("dtype"),  -kInfinity};
}

std::vector<Expected> expectPagedDecode(const Description &description, const Sizes &sizes, const Operands &operands,
                                        uint64_t seed, double scale) {
  PagedDecode p = describe(description, sizes, operands);
  int64_t batch = sizes["batch"], queries = sizes["seq_q"], heads = sizes["heads"], longest = sizes["max_kv"];
  int64_t pageSize = sizes["page_size"];
  int64_t tableColumns = (longest + pageSize - 1) / pageSize;
  std::vector<float> q = operands.decoded("q");
  std::vector<int32_t> table = operands.integers("block_table"), lengths = operands.integers("seq_lens");
  for (int32_t &length : lengths) {
    length = std::clamp<int32_t>(length, 0, int32_t(longest));
  }

  AttentionRules rules{.headDim = p.keyDim,
                       .valueDim = p.valueDim,
                       .scale = scale,
                       .roundoff = unitRoundoff(p.dtype),
                       .outRoundoff = unitRoundoff(description.word("out_dtype")),
                       .lseOfNothing = p.lseOfNothing};
  AttentionOutputs outputs{batch, queries, heads, p.valueDim, longest * (p.keyDim + p.valueDim)};
  std::vector<Expected> expected = expectAttention(outputs, seed, [&](int64_t sequence, int64_t query, int64_t head) {
    // A cache without pages has no keys.
    int64_t length = sizes["num_pages"] > 0 ? lengths[size_t(sequence)] : 0, seen = length;
    if (description.flag("causal")) {
      seen = std::min(seen, length - queries + query + 1);
    }
    int64_t keyHead = head / (heads / p.keyHeads);
    std::vector<std::vector<float>> rows, valueRows;
    for (int64_t key = 0; key < seen; ++key) {
      // An entry that names no page is taken as the nearest one that does.
      int64_t entry = table[size_t(sequence * tableColumns + key / pageSize)];
      int64_t page = std::clamp<int64_t>(entry, 0, sizes["num_pages"] - 1);
      int64_t row = (page * pageSize + key % pageSize) * p.keyHeads + keyHead;
      rows.push_back(rowOf(p.keys, row, p.keyDim));
      if (!p.valuesAreKeys()) {
        valueRows.push_back(rowOf(p.values, row, p.valueDim));
      }
    }
    std::vector<const float *> keys, values;
    for (size_t i = 0; i < rows.size(); ++i) {
      keys.push_back(rows[i].data());
      values.push_back(p.valuesAreKeys() ? rows[i].data() : valueRows[i].data());
    }
    return attendRow(rules, q.data() + ((sequence * queries + query) * heads + head) * p.keyDim, keys, values);
  });
  // A cosine-like difference of 1e-5, |x - y|^2 / (|x|^2 + |y|^2), is half the square of this ratio.
  constexpr double kLargestRmsRatio = 4.4e-3;
  expected.front().largestRmsRatio = kLargestRmsRatio;
  expected.front().restIsFinite = true;
  // Of no sequences there is no schedule: a launch does nothing.
  if (!description.flag("reuse_schedule") && batch > 0) {
    DecodeSchedule schedule = makeDecodeSchedule(lengths, sizes["splits"]);
    expected.push_back(exactly("schedule", kScheduleWords, schedule.parts));
    expected.push_back(exactly("split_offsets", 1, schedule.splitOffsets));
  }
  return expected;
}

} // namespace jitk::reference
