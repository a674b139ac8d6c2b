#include "src/ops/DecodeParts.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace jitk {

static constexpr int64_t kMultiprocessors = 132;
static constexpr double kBusy = 0.9;
static constexpr int64_t kMostRounds = 8;
static constexpr int64_t kFewestBlocks = 2;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The size, or the bound; `unknown` where there is none.
static int64_t mostOf(const Description &description, std::string_view name, int64_t unknown) {
  if (!description.attributes().contains(name)) {
    return 1;
  }
  const Dimension &size = description.dimension(name);
  int64_t most = size.isStatic() ? size.value : size.bound;
  return most > 0 ? most : unknown;
}

/// CTAs of one part.
static int64_t numTiles(const Description &description) {
  int64_t keyHeads = mostOf(description, "kv_heads", 1);
  int64_t rows = mostOf(description, "seq_q", 1) * mostOf(description, "heads", 1);
  return keyHeads * ceilDiv(rows, keyHeads * kDecodeRows);
}

/// As many parts as rounds of CTAs have room for.
static int64_t partsOfRounds(int64_t tiles) {
  int64_t best = 1;
  double most = 0;
  for (int64_t rounds = 1; rounds <= kMostRounds && most < kBusy; ++rounds) {
    int64_t parts = rounds * kMultiprocessors / tiles;
    double busy = double(parts * tiles) / double(rounds * kMultiprocessors);
    if (busy > most) {
      best = parts;
      most = busy;
    }
  }
  return best;
}

int64_t chooseDecodeParts(const Description &description) {
  constexpr int64_t kMany = std::numeric_limits<int32_t>::max();
  int64_t blocks = mostOf(description, "batch", kMany) * ceilDiv(mostOf(description, "max_kv", kMany), kDecodeBlock);
  return std::clamp<int64_t>(partsOfRounds(numTiles(description)), 1, std::max<int64_t>(1, blocks / kFewestBlocks));
}

} // namespace jitk
