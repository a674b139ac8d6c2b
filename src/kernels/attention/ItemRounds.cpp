#include "src/kernels/attention/ItemRounds.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace jitk::kernels {

namespace {

constexpr int64_t kMultiprocessors = 132;
/// What beginning and ending an item costs, in blocks of keys.
constexpr int64_t kItemOverhead = 1;
/// More items than these are shared evenly enough, and take long to deal.
constexpr int64_t kMostItems = 4096;

/// The lengths of a problem's items in their order; none where they are unknown or equal.
std::vector<int64_t> itemLengths(const Description &description, const AttentionTile &tile) {
  for (const char *name : {"batch", "heads", "seq_q", "seq_k"}) {
    if (!description.dimension(name).isStatic()) {
      return {};
    }
  }
  auto size = [&](const char *name) { return description.dimension(name).value; };
  int64_t heads = size("batch") * size("heads"), queries = size("seq_q"), keys = size("seq_k");
  auto tiles = int64_t(llvm::divideCeil(queries, tile.rows));
  if (!description.flag("causal") || heads > kMostItems || heads * tiles > kMostItems) {
    return {};
  }
  std::vector<int64_t> lengths;
  for (int64_t first = 0; first < heads; first += tile.groupHeads) {
    int64_t ofGroup = std::min(tile.groupHeads, heads - first);
    for (int64_t last = tiles; last > 0; --last) {
      int64_t seen = std::clamp<int64_t>(last * tile.rows + keys - queries, 1, std::max<int64_t>(1, keys));
      lengths.insert(lengths.end(), size_t(ofGroup), int64_t(llvm::divideCeil(seen, tile.keys)) + kItemOverhead);
    }
  }
  return lengths;
}

/// The work of the CTA that has most.
int64_t mostWork(llvm::ArrayRef<int64_t> lengths, int64_t turn) {
  std::array<int64_t, kMultiprocessors> work = {};
  int64_t turned = 0;
  for (int64_t round = 0; !lengths.empty(); ++round) {
    bool isReversed = round % 2 == 1;
    llvm::ArrayRef<int64_t> dealt = lengths.take_front(kMultiprocessors);
    for (auto [index, length] : llvm::enumerate(dealt)) {
      int64_t place = isReversed ? kMultiprocessors - 1 - int64_t(index) : int64_t(index);
      work[size_t((place - turned + kMultiprocessors) % kMultiprocessors)] += length;
    }
    turned = isReversed ? (turned + turn) % kMultiprocessors : turned;
    lengths = lengths.drop_front(dealt.size());
  }
  return *std::max_element(work.begin(), work.end());
}

} // namespace

double balanceOf(const Description &description, const AttentionTile &tile) {
  std::vector<int64_t> lengths = itemLengths(description, tile);
  if (lengths.empty()) {
    return 1;
  }
  auto all = std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
  return double(all) / kMultiprocessors / double(mostWork(lengths, tile.turn));
}

int64_t chooseTurn(const Description &description, const AttentionTile &tile) {
  std::vector<int64_t> lengths = itemLengths(description, tile);
  if (lengths.empty()) {
    return 0;
  }
  int64_t best = 0, leastWork = mostWork(lengths, 0);
  for (int64_t turn = 1; turn < kMultiprocessors; ++turn) {
    if (int64_t work = mostWork(lengths, turn); work < leastWork) {
      best = turn;
      leastWork = work;
    }
  }
  return best;
}

} // namespace jitk::kernels
