#include "src/reference/Data.h"
#include "src/reference/Numeric.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace jitk::reference {

/// Problems of whole chunks have gates as models have them, in every head.
static constexpr int64_t kLargestChunk = 64;

static HostTensor *find(std::vector<HostTensor> &tensors, std::string_view name) {
  auto found = std::ranges::find(tensors, name, [](const HostTensor &tensor) { return tensor.shape.name; });
  return found == tensors.end() ? nullptr : &*found;
}

static void setValues(HostTensor &tensor, const auto &valueOf) {
  std::vector<float> values(size_t(tensor.shape.numElements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = float(valueOf(i));
  }
  tensor.bytes = encode(tensor.shape.dtype, values);
}

static void setIntegers(HostTensor &tensor, const std::vector<int32_t> &values) {
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
}

static double edgeGate(Random &random) {
  constexpr double kGates[] = {0, 0, -1e-4, -1, -30, -1000};
  return kGates[random.below(std::size(kGates))];
}

/// Ascending offsets of sequences in [0, tokens]: the second is empty, and the last ends before the tokens do.
static std::vector<int32_t> drawOffsets(int64_t batch, int64_t tokens, Random &random) {
  std::vector<int32_t> offsets = {0};
  int64_t used = tokens - std::min<int64_t>(tokens / 8, 5);
  for (int64_t i = 1; i < batch; ++i) {
    offsets.push_back(int32_t(random.below(used + 1)));
  }
  std::ranges::sort(offsets);
  offsets.push_back(int32_t(used));
  if (batch > 1) {
    offsets[2] = offsets[1];
  }
  return offsets;
}

static void poisonTokensFrom(HostTensor &tensor, int64_t token, int64_t tokens) {
  size_t bytes = tensor.bytes.size() / size_t(std::max<int64_t>(tokens, 1));
  std::fill(tensor.bytes.begin() + std::ptrdiff_t(size_t(token) * bytes), tensor.bytes.end(), kPoison);
}

static std::vector<int32_t> drawSlots(int64_t batch, int64_t slots, Random &random) {
  std::vector<int32_t> all(static_cast<size_t>(slots));
  std::iota(all.begin(), all.end(), 0);
  for (size_t i = all.size(); i > 1; --i) {
    std::swap(all[i - 1], all[size_t(random.below(int64_t(i)))]);
  }
  // Sequences that find no slot left are out of range.
  all.resize(size_t(batch), int32_t(slots));
  if (batch > 1) {
    all[1] = -1;
  }
  return all;
}

void fillGatedDeltaRule(const Description &description, const Sizes &sizes, Random &random,
                        std::vector<HostTensor> &tensors) {
  int64_t tokens = sizes["tokens"], heads = sizes["v_heads"];
  double norm = description.flag("qk_l2norm") ? 1 : std::sqrt(double(sizes["key_dim"]));
  for (const char *name : {"q", "k"}) {
    setValues(*find(tensors, name), [&](size_t) { return random.normal() / norm; });
  }
  setValues(*find(tensors, "g"), [&](size_t i) {
    bool isEdge = tokens % kLargestChunk != 0 && int64_t(i) % heads % 2 == 1;
    return isEdge ? edgeGate(random) : -0.1 * random.uniform();
  });
  setValues(*find(tensors, "beta"), [&](size_t) { return 1 / (1 + std::exp(-random.uniform())); });
  if (HostTensor *offsets = find(tensors, "cu_seqlens")) {
    std::vector<int32_t> values = drawOffsets(sizes["batch"], tokens, random);
    setIntegers(*offsets, values);
    for (const char *name : {"q", "k", "v", "g", "beta"}) {
      poisonTokensFrom(*find(tensors, name), values.back(), tokens);
    }
  }
  if (HostTensor *indices = find(tensors, "state_indices")) {
    setIntegers(*indices, drawSlots(sizes["batch"], sizes["slots"], random));
  }
}

} // namespace jitk::reference
