#include "src/reference/Data.h"
#include "src/reference/TokenSpans.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace jitk::reference {

/// Problems of whole chunks have gates as models have them, in every head.
static constexpr int64_t kLargestChunk = 64;

static HostTensor *find(std::vector<HostTensor> &tensors, std::string_view name) {
  auto found = std::ranges::find(tensors, name, [](const HostTensor &tensor) { return tensor.shape.name; });
  return found == tensors.end() ? nullptr : &*found;
}

static double edgeGate(Random &random) {
  constexpr double kGates[] = {0, 0, -1e-4, -1, -30, -1000, -std::numeric_limits<double>::infinity()};
  return kGates[random.below(std::size(kGates))];
}

std::vector<int32_t> drawOffsets(int64_t batch, int64_t tokens, Random &random) {
  int64_t first = std::min<int64_t>(tokens / 8, 2), end = tokens - std::min<int64_t>(tokens / 8, 5);
  std::vector<int32_t> offsets = {int32_t(first)};
  for (int64_t i = 1; i < batch; ++i) {
    offsets.push_back(int32_t(first + random.below(end - first + 1)));
  }
  std::ranges::sort(offsets);
  offsets.push_back(int32_t(end));
  if (batch > 1) {
    offsets[2] = offsets[1];
  }
  return offsets;
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

void fillGatedDeltaRule(const Description &description, const Sizes &sizes, const GivenValues &given, Random &random,
                        std::vector<HostTensor> &tensors) {
  int64_t tokens = sizes["tokens"], heads = sizes["v_heads"];
  double norm = description.flag("qk_l2norm") ? 1 : std::sqrt(double(sizes["key_dim"]));
  auto draw = [&](const char *name, const auto &valueOf) {
    HostTensor &tensor = *find(tensors, name);
    tensor.bytes = drawValues(tensor.shape, random, valueOf);
  };
  for (const char *name : {"q", "k"}) {
    draw(name, [=](Random &ofBlock, size_t) { return ofBlock.normal() / norm; });
  }
  draw("g", [=](Random &ofBlock, size_t i) {
    bool isEdge = tokens % kLargestChunk != 0 && int64_t(i) % heads % 2 == 1;
    return isEdge ? edgeGate(ofBlock) : -0.1 * ofBlock.uniform();
  });
  draw("beta", [](Random &ofBlock, size_t) { return 1 / (1 + std::exp(-ofBlock.uniform())); });
  if (HostTensor *offsets = find(tensors, "cu_seqlens")) {
    if (!given.contains("cu_seqlens")) {
      setIntegers(*offsets, drawOffsets(sizes["batch"], tokens, random));
    }
    for (const char *name : {"q", "k", "v", "g", "beta"}) {
      poisonOutside(*find(tensors, name), packedSpans(Operands(tensors).integers("cu_seqlens"), tokens), tokens);
    }
  }
  if (HostTensor *indices = find(tensors, "state_indices"); indices && !given.contains("state_indices")) {
    setIntegers(*indices, drawSlots(sizes["batch"], sizes["slots"], random));
  }
}

} // namespace jitk::reference
