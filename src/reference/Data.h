// What the inputs of problems are made of.

#pragma once

#include "src/reference/Numeric.h"
#include "src/reference/Parallel.h"
#include "src/reference/References.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <span>
#include <string_view>

namespace jitk::reference {

/// Numbers that depend on the seed alone, on every platform.
class Random {
public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// In [0, 1).
  double uniform() { return double(engine_() >> 11) * 0x1p-53; }
  double normal() {
    if (hasSpare_) {
      hasSpare_ = false;
      return spare_;
    }
    double radius = std::sqrt(-2 * std::log(1 - uniform())), angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    hasSpare_ = true;
    return radius * std::cos(angle);
  }
  int64_t below(int64_t end) { return int64_t(engine_() % uint64_t(end)); }
  uint64_t bits() { return engine_(); }

private:
  std::mt19937_64 engine_;
  double spare_ = 0; ///< the second of a pair of normal numbers, if there is one
  bool hasSpare_ = false;
};

/// Contents of a tensor: `valueOf(random, index)` for each element, in the order of their indices within a block.
/// Blocks are drawn on all cores, each from numbers of its own that `random` begins, so that the contents depend on the
/// seed alone.
template <typename ValueOf>
std::vector<uint8_t> drawValues(const TensorShape &shape, Random &random, const ValueOf &valueOf) {
  std::vector<uint8_t> bytes(size_t(shape.bytes()));
  size_t elementBytes = size_t(dtypeBytes(shape.dtype));
  uint64_t seed = random.bits();
  forEachBlock(size_t(shape.numElements()), [&](size_t block, size_t first, size_t end) {
    Random ofBlock(seed + block);
    std::vector<float> values;
    for (size_t i = first; i < end; ++i) {
      values.push_back(float(valueOf(ofBlock, i)));
    }
    std::vector<uint8_t> encoded = encode(shape.dtype, values);
    std::memcpy(bytes.data() + first * elementBytes, encoded.data(), encoded.size());
  });
  return bytes;
}

/// Makes the contents of an int32 tensor `values`, of which there are as many as it has elements.
inline void setIntegers(HostTensor &tensor, std::span<const int32_t> values) {
  std::ranges::copy_n(reinterpret_cast<const uint8_t *>(values.data()), ptrdiff_t(tensor.bytes.size()),
                      tensor.bytes.begin());
}

/// NaN in every dtype that outputs and guards have.
inline constexpr uint8_t kPoison = 0xFF;

/// Ascending offsets of `batch` sequences in [0, tokens]: the second is empty, the first begins after the tokens do,
/// and the last ends before they do.
std::vector<int32_t> drawOffsets(int64_t batch, int64_t tokens, Random &random);

/// Lengths and offsets that are not given, of flash_attention: among lengths the longest and none. Keys and values of
/// no sequence are NaN.
void fillFlashAttention(const Description &description, const Sizes &sizes, const GivenValues &given, Random &random,
                        std::vector<HostTensor> &tensors);

/// Queries and keys of norm about 1, gates -0.1 U and beta sigmoid(U). In small problems, which are there for the
/// edges, every other head has gates of 0, -1000, -inf and between. Where they are not given, offsets leave the second
/// sequence empty and some tokens at both ends to none, and the slots of a pool are drawn without repeats, none for the
/// second sequence. Tokens of no sequence are NaN.
void fillGatedDeltaRule(const Description &description, const Sizes &sizes, const GivenValues &given, Random &random,
                        std::vector<HostTensor> &tensors);

/// Rows of groups. Where they are not given: runs of rows that begin at multiples of 128, most of one group each, in
/// ascending order, and end in rows of none, some of them whole; of a masked problem, all rows of the first group,
/// none of the second. Rows of no group are NaN, and so are their scales.
void fillRowGroups(const Description &description, const Sizes &sizes, const GivenValues &given, Random &random,
                   std::vector<HostTensor> &tensors);

/// The tensors of an op that are caches in pages.
std::span<const std::string_view> cachesOf(const Description &description);

/// What is not given of lengths, table and schedule: lengths at the edges of pages; pages in no order, table entries
/// past a sequence's last page that name none, NaN in rows past its length and in pages of no sequence. Fails with
/// InvalidArgument if there are too few pages for the lengths.
Status fillPagedDecode(const Description &description, const Sizes &sizes, const GivenValues &given, Random &random,
                       std::vector<HostTensor> &tensors);

} // namespace jitk::reference
