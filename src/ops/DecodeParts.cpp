#include "src/ops/DecodeParts.h"

#include "src/ops/AssumedSizes.h"

#include <algorithm>
#include <cstdint>

namespace jitk {

static constexpr auto kCtasOfRound = int64_t(kMultiprocessors);
static constexpr double kBusy = 0.9;
static constexpr int64_t kMostRounds = 8;
static constexpr int64_t kRowsOfTile = 64;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// What the dimension counts as; 1 where the op has none of that name.
static int64_t sizeOf(const Description &description, std::string_view name, int64_t unknown) {
  return description.attributes().contains(name) ? assumedSize(description.dimension(name), unknown) : 1;
}

/// CTAs of one part.
static int64_t numTiles(const Description &description) {
  int64_t keyHeads = sizeOf(description, "kv_heads", 1);
  int64_t rows = sizeOf(description, "seq_q", 1) * sizeOf(description, "heads", 1);
  return keyHeads * ceilDiv(rows, keyHeads * kRowsOfTile);
}

/// As many parts as rounds of CTAs have room for.
static int64_t partsOfRounds(int64_t tiles) {
  int64_t best = 1;
  double most = 0;
  for (int64_t rounds = 1; rounds <= kMostRounds && most < kBusy; ++rounds) {
    int64_t parts = rounds * kCtasOfRound / tiles;
    double busy = double(parts * tiles) / double(rounds * kCtasOfRound);
    if (busy > most) {
      best = parts;
      most = busy;
    }
  }
  return best;
}

/// How many of the parts get work where all sequences have so many blocks.
static int64_t countWorking(int64_t parts, int64_t sequences, int64_t blocks) {
  const int64_t share = ceilDiv(sequences * (blocks + kScheduleOverhead), parts) + kScheduleOverhead;
  int64_t working = 0, block = 0;
  for (int64_t sequence = 0; sequence < sequences; ++working) {
    int64_t left = share;
    for (; sequence < sequences && blocks - block + kScheduleOverhead <= left; ++sequence) {
      left -= blocks - block + kScheduleOverhead;
      block = 0;
    }
    block += sequence < sequences ? std::max<int64_t>(0, left - kScheduleOverhead) : 0;
  }
  return working;
}

/// `wanted` parts; where fewer than 7 of 8 would get work, the most of which no more than `wanted` do.
static int64_t partsWithWork(int64_t wanted, int64_t sequences, int64_t blocks) {
  // Lengths that are shorter give others work: a part more than a round takes must be worth it.
  if (8 * countWorking(wanted, sequences, blocks) >= 7 * wanted) {
    return wanted;
  }
  // Each part takes an even part of what the sequences cost: fewer blocks, more parts.
  int64_t cost = sequences * (blocks + kScheduleOverhead), most = wanted;
  for (int64_t even = ceilDiv(cost, wanted) - 1; even > 0; --even) {
    int64_t parts = ceilDiv(cost, even);
    if (countWorking(parts, sequences, blocks) > wanted) {
      break;
    }
    most = parts;
  }
  return most;
}

int64_t chooseDecodeParts(const Description &description) {
  constexpr int64_t kMany = INT64_MAX;
  int64_t parts = partsOfRounds(numTiles(description));
  int64_t sequences = sizeOf(description, "batch", kMany), keys = sizeOf(description, "max_kv", kMany);
  bool isCut = keys != kMany && sequences < parts;
  return isCut ? partsWithWork(parts, sequences, ceilDiv(keys, kScheduleBlock)) : parts;
}

} // namespace jitk
