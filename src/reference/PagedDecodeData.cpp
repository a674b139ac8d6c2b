#include "src/reference/Data.h"
#include "src/reference/DecodeSchedule.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

namespace jitk::reference {

// --- the schedule

static constexpr int64_t kBlock = 64, kOverhead = 5;

static int64_t blocksOf(int32_t length) { return std::max<int64_t>(1, (length + kBlock - 1) / kBlock); }

DecodeSchedule makeDecodeSchedule(const std::vector<int32_t> &lengths, int64_t numParts) {
  int64_t total = 0;
  for (int32_t length : lengths) {
    total += blocksOf(length) + kOverhead;
  }
  const int64_t share = (total + numParts - 1) / numParts + kOverhead;
  DecodeSchedule schedule;
  schedule.splitOffsets.push_back(0);
  size_t sequence = 0;
  int64_t block = 0, split = 0;
  for (int64_t part = 0; part < numParts; ++part) {
    const int64_t firstSequence = int64_t(sequence), firstBlock = block, firstSplit = split;
    int64_t left = share;
    while (sequence < lengths.size() && blocksOf(lengths[sequence]) - block + kOverhead <= left) {
      left -= blocksOf(lengths[sequence]) - block + kOverhead;
      schedule.splitOffsets.push_back(int32_t(schedule.splitOffsets.back() + split + 1));
      ++sequence;
      block = split = 0;
    }
    if (sequence < lengths.size() && left > kOverhead) {
      block += left - kOverhead;
      ++split;
    }
    const bool endsWithin = block > 0;
    const int64_t lastSequence = int64_t(sequence) - (endsWithin ? 0 : 1);
    const int64_t endBlock = endsWithin ? block : lastSequence < 0 ? 1 : blocksOf(lengths[size_t(lastSequence)]);
    const bool isOne = firstSequence == lastSequence;
    for (int64_t word : {firstSequence, lastSequence, firstBlock, endBlock, firstSplit,
                         int64_t(firstBlock > 0 || (isOne && endsWithin)),
                         int64_t(endsWithin || (isOne && firstBlock > 0)), int64_t(0)}) {
      schedule.parts.push_back(int32_t(word));
    }
  }
  return schedule;
}

// --- the inputs

static HostTensor &find(std::vector<HostTensor> &tensors, std::string_view name) {
  return *std::ranges::find(tensors, name, [](const HostTensor &tensor) { return tensor.shape.name; });
}

/// The longest, none, one, the edges of a page, then any.
static std::vector<int32_t> drawLengths(int64_t batch, int64_t longest, int64_t pageSize, Random &random) {
  std::vector<int32_t> lengths;
  for (int64_t edge : {longest, int64_t(0), int64_t(1), pageSize, pageSize + 1, 2 * pageSize - 1}) {
    lengths.push_back(int32_t(std::min(edge, longest)));
  }
  while (int64_t(lengths.size()) < batch) {
    lengths.push_back(int32_t(random.below(longest + 1)));
  }
  lengths.resize(size_t(batch));
  return lengths;
}

static int32_t wildEntry(int64_t numPages, Random &random) {
  const int32_t kWild[] = {-1, INT32_MIN, INT32_MAX, int32_t(numPages), int32_t(random.below(INT32_MAX))};
  return kWild[random.below(std::size(kWild))];
}

namespace {

/// The first rows of a page, which some sequence has its keys in.
struct FilledPage {
  int64_t page, rows;
};

} // namespace

/// Draws the rows of pages from a table of normal numbers: a cache of a model has hundreds of millions.
static void fillPages(const std::vector<FilledPage> &pages, HostTensor &cache, Random &random) {
  constexpr int64_t kTableSize = 1 << 14;
  std::vector<float> values(kTableSize);
  for (float &value : values) {
    value = float(random.normal());
  }
  std::vector<uint8_t> table = encode(cache.shape.dtype, values);
  uint64_t seed = random.bits();
  int64_t pageSize = cache.shape.sizes[1], rowSize = cache.shape.sizes[2] * cache.shape.sizes[3];
  onAllCores(pages.size(), [&](size_t index) {
    auto [page, rows] = pages[index];
    Random ofPage(seed + index);
    uint8_t *place = cache.bytes.data() + page * pageSize * rowSize * int64_t(sizeof(uint16_t));
    for (int64_t i = 0; i < rows * rowSize; ++i, place += sizeof(uint16_t)) {
      std::memcpy(place, table.data() + ofPage.below(kTableSize) * int64_t(sizeof(uint16_t)), sizeof(uint16_t));
    }
  });
}

std::span<const std::string_view> cachesOf(const Description &description) {
  static constexpr std::string_view kOfMla[] = {"kv_cache"}, kOfPaged[] = {"k_cache", "v_cache"};
  if (description.op() == "mla_decode") {
    return kOfMla;
  }
  return description.op() == "paged_attention" ? kOfPaged : std::span<const std::string_view>();
}

Status fillPagedDecode(const Description &description, const Sizes &sizes, const GivenValues &given, Random &random,
                       std::vector<HostTensor> &tensors) {
  int64_t batch = sizes["batch"], longest = sizes["max_kv"], pageSize = sizes["page_size"];
  int64_t numPages = sizes["num_pages"];
  auto setUnlessGiven = [&](std::string_view name, const std::vector<int32_t> &values) {
    if (!given.contains(name)) {
      setIntegers(find(tensors, name), values);
    }
  };
  setUnlessGiven("seq_lens", drawLengths(batch, longest, pageSize, random));
  std::vector<int32_t> lengths = Operands(tensors).integers("seq_lens");
  int64_t needed = 0;
  for (int32_t &length : lengths) {
    length = std::clamp<int32_t>(length, 0, int32_t(longest));
    needed += (length + pageSize - 1) / pageSize;
  }
  if (numPages < needed) {
    return invalidArgument("dimension num_pages of " + description.op() + " must be at least " +
                           std::to_string(needed) + " for sequences of these lengths: got " + std::to_string(numPages));
  }

  std::vector<int32_t> pages(static_cast<size_t>(numPages));
  std::iota(pages.begin(), pages.end(), 0);
  for (size_t i = pages.size(); i > 1; --i) {
    std::swap(pages[i - 1], pages[size_t(random.below(int64_t(i)))]);
  }
  if (!pages.empty()) {
    // The last page is the first to be used: nothing lies farther from the beginning of the cache.
    std::swap(pages.front(), *std::ranges::find(pages, int32_t(numPages - 1)));
  }
  std::vector<int32_t> table;
  std::vector<int64_t> rowsOfEntries; // that a sequence has in the page
  for (int64_t sequence = 0, page = 0; sequence < batch; ++sequence) {
    for (int64_t first = 0; first < longest; first += pageSize) {
      rowsOfEntries.push_back(std::clamp<int64_t>(lengths[size_t(sequence)] - first, 0, pageSize));
      table.push_back(rowsOfEntries.back() == 0 ? wildEntry(numPages, random) : pages[size_t(page++)]);
    }
  }
  setUnlessGiven("block_table", table);
  // A table that is given may name a page twice, or none: then the nearest one is read.
  table = Operands(tensors).integers("block_table");
  std::map<int64_t, int64_t> rowsOfPages;
  for (size_t i = 0; i < table.size() && numPages > 0; ++i) {
    if (rowsOfEntries[i] > 0) {
      int64_t &rows = rowsOfPages[std::clamp<int64_t>(table[i], 0, numPages - 1)];
      rows = std::max(rows, rowsOfEntries[i]);
    }
  }
  std::vector<FilledPage> filled;
  for (auto [page, rows] : rowsOfPages) {
    filled.push_back({page, rows});
  }
  for (std::string_view name : cachesOf(description)) {
    HostTensor &cache = find(tensors, name);
    std::ranges::fill(cache.bytes, kPoison);
    fillPages(filled, cache, random);
  }

  if (description.flag("reuse_schedule")) {
    DecodeSchedule schedule = makeDecodeSchedule(lengths, sizes["splits"]);
    setUnlessGiven("schedule", schedule.parts);
    setUnlessGiven("split_offsets", schedule.splitOffsets);
  }
  return okStatus();
}

} // namespace jitk::reference
