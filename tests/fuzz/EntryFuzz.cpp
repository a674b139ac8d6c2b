// The entry reader. An input is a flag byte and an entry; with the flag's low bit its length and checksum are made
// right first, so that the reader gets past them.

#include "src/store/Entry.h"
#include "src/support/Hash.h"
#include "tests/fuzz/Fuzz.h"
#include "tests/support/SampleEntry.h"

#include <cstring>

using namespace jitk;

static constexpr size_t kLengthAt = 16, kChecksumAt = 24, kBodyAt = 40;

static void makeRight(std::vector<uint8_t> &bytes) {
  if (bytes.size() < kBodyAt) {
    return;
  }
  uint64_t length = bytes.size();
  Hash128 checksum = hashBytes(std::span<const uint8_t>(bytes).subspan(kBodyAt));
  std::memcpy(bytes.data() + kLengthAt, &length, sizeof length);
  std::memcpy(bytes.data() + kChecksumAt, &checksum.high, sizeof checksum.high);
  std::memcpy(bytes.data() + kChecksumAt + 8, &checksum.low, sizeof checksum.low);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) {
    return 0;
  }
  std::vector<uint8_t> bytes(data + 1, data + size);
  if ((data[0] & 1) != 0) {
    makeRight(bytes);
  }
  Result<Entry> entry = Entry::deserialize(bytes);
  if (entry.ok()) {
    // Nothing is read in two ways: what is accepted is what would be written.
    FUZZ_REQUIRE(entry->serialize() == bytes);
  } else {
    FUZZ_REQUIRE(entry.status().code() == StatusCode::DataLoss);
  }
  return 0;
}

std::vector<std::vector<uint8_t>> test::fuzzSeeds() {
  std::vector<std::vector<uint8_t>> seeds;
  for (uint8_t flag : {0, 1, 1, 1}) {
    std::vector<uint8_t> seed = sampleEntry(sampleKey("seed" + std::to_string(seeds.size()))).serialize();
    seed.insert(seed.begin(), flag);
    seeds.push_back(std::move(seed));
  }
  std::vector<uint8_t> reference = sampleEntryOf("p", sampleKey()).reference().serialize();
  reference.insert(reference.begin(), 1);
  seeds.push_back(std::move(reference));
  return seeds;
}
