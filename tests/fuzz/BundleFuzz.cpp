// The bundle reader. An input is a flag byte and a bundle; with the flag's low bit its length and the checksum of its
// index are made right first.

#include "src/store/Bundle.h"
#include "src/support/Hash.h"
#include "tests/fuzz/Fuzz.h"
#include "tests/support/SampleEntry.h"
#include "tests/support/TemporaryFolder.h"

#include <cstring>
#include <fstream>

using namespace jitk;

static constexpr size_t kCountAt = 12, kLengthAt = 16, kChecksumAt = 24, kIndexAt = 40, kPlaceBytes = 61;

static void makeRight(std::vector<uint8_t> &bytes) {
  if (bytes.size() < kIndexAt) {
    return;
  }
  uint32_t count = 0;
  uint64_t length = bytes.size();
  std::memcpy(&count, bytes.data() + kCountAt, sizeof count);
  size_t indexBytes = std::min(bytes.size() - kIndexAt, count * kPlaceBytes);
  Hash128 checksum = hashBytes(std::span<const uint8_t>(bytes).subspan(kIndexAt, indexBytes));
  std::memcpy(bytes.data() + kLengthAt, &length, sizeof length);
  std::memcpy(bytes.data() + kChecksumAt, &checksum.high, sizeof checksum.high);
  std::memcpy(bytes.data() + kChecksumAt + 8, &checksum.low, sizeof checksum.low);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static test::TemporaryFolder folder = test::TemporaryFolder::inMemory();
  if (size == 0) {
    return 0;
  }
  std::vector<uint8_t> bytes(data + 1, data + size);
  if ((data[0] & 1) != 0) {
    makeRight(bytes);
  }
  std::ofstream(folder.path("bundle"), std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  Result<std::unique_ptr<Bundle>> bundle = Bundle::open(folder.path("bundle"));
  if (!bundle.ok()) {
    FUZZ_REQUIRE(bundle.status().code() == StatusCode::DataLoss);
    return 0;
  }
  for (size_t i = 0; i < (*bundle)->size(); ++i) {
    (void)(*bundle)->read(i);
  }
  for (const char *name : {"a", "b", "c"}) {
    std::shared_ptr<const Entry> found = (*bundle)->find(test::sampleKey(name));
    FUZZ_REQUIRE(!found || !found->isReference());
    FUZZ_REQUIRE(!found || found->key == test::sampleKey(name));
    (void)(*bundle)->findAnyAssembler(test::sampleKey(name, ""));
  }
  return 0;
}

std::vector<std::vector<uint8_t>> test::fuzzSeeds() {
  TemporaryFolder folder;
  std::vector<Entry> entries = {sampleEntryOf("p", sampleKey("a")), sampleEntry(sampleKey("b")),
                                sampleEntryOf("p", sampleKey("c"))};
  std::vector<std::vector<uint8_t>> seeds;
  for (uint8_t flag : {0, 1, 1}) {
    FUZZ_REQUIRE(Bundle::write(folder.path("seed"), std::span(entries).first(1 + seeds.size())).ok());
    std::ifstream stream(folder.path("seed"), std::ios::binary);
    std::vector<uint8_t> seed = {std::istreambuf_iterator<char>(stream), {}};
    seed.insert(seed.begin(), flag);
    seeds.push_back(std::move(seed));
  }
  return seeds;
}
