// What 10,000 kernels take on a disk, and what a bound leaves of them.

#include "src/store/DiskStore.h"
#include "tests/support/LogLines.h"
#include "tests/support/SampleEntry.h"
#include "tests/support/TemporaryFolder.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <random>

using namespace jitk;
using namespace jitk::test;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("store/Footprint");

namespace {

constexpr int kKernels = 10'000;
constexpr uint64_t kLargestCode = 28 << 10;

/// As many as a fleet's store has: code of 4 to 28 KiB, a recipe of as many bytes as those of real kernels.
Entry kernel(int number, std::mt19937 &random) {
  std::string description =
      "matmul a_layout=row accumulate=false activation=none b_layout=col bias=false dtype=bf16 k=7168 m=*<=4096 n=" +
      std::to_string(number) + " out_dtype=bf16 residual=false";
  Entry entry = sampleEntry(sampleKey(description), 4096 + random() % (kLargestCode - 4096 + 1));
  entry.recipe.assign(400, 1);
  return entry;
}

struct Found {
  uint64_t files = 0, bytes = 0;
};

Found walk(const std::string &folder) {
  Found found;
  for (const fs::directory_entry &each : fs::recursive_directory_iterator(folder)) {
    if (each.is_regular_file() && each.path().filename() != "lock") {
      ++found.files;
      found.bytes += each.file_size();
    }
  }
  return found;
}

} // namespace

TEST_CASE("10,000 kernels take a file each, and little more than their code") {
  TemporaryFolder folder = TemporaryFolder::inMemory();
  LogLines lines;
  Log log(lines.sink(), {});
  std::unique_ptr<DiskStore> store = *DiskStore::open(folder.path("store"), uint64_t{1} << 40, log);
  std::mt19937 random(7);
  uint64_t code = 0;
  for (int i = 0; i < kKernels; ++i) {
    Entry entry = kernel(i, random);
    code += entry.code.size();
    REQUIRE(store->publish(entry).ok());
  }
  Found found = walk(folder.path("store"));
  MESSAGE(found.files << " files, " << double(found.bytes) / double(code) << " bytes for each of code");
  CHECK(found.files == kKernels);
  CHECK(double(found.bytes) <= 1.3 * double(code));
  // Another process finds the first and the last of them.
  std::unique_ptr<DiskStore> other = *DiskStore::open(folder.path("store"), uint64_t{1} << 40, log);
  std::mt19937 again(7);
  for (int i = 0; i < kKernels; ++i) {
    Entry entry = kernel(i, again);
    if (i == 0 || i == kKernels - 1) {
      std::shared_ptr<const Entry> kept = other->find(entry.key);
      REQUIRE(kept);
      CHECK(kept->code == entry.code);
    }
  }
  CHECK(lines.lines().empty());
}

TEST_CASE("of 10,000 kernels the bound leaves as many as it holds, to within one, at any time") {
  constexpr uint64_t kBound = 4 << 20;
  TemporaryFolder folder = TemporaryFolder::inMemory();
  LogLines lines;
  Log log(lines.sink(), {});
  std::unique_ptr<DiskStore> store = *DiskStore::open(folder.path("store"), kBound, log);
  std::mt19937 random(7);
  uint64_t largest = 0, least = UINT64_MAX, largestEntry = 0;
  Entry last = kernel(0, random);
  for (int i = 0; i < kKernels; ++i) {
    last = kernel(i, random);
    largestEntry = std::max<uint64_t>(largestEntry, last.serialize().size());
    REQUIRE(store->publish(last).ok());
    if (i % 25 == 0 || i == kKernels - 1) {
      Found found = walk(folder.path("store"));
      largest = std::max(largest, found.bytes);
      least = i > 1000 ? std::min(least, found.bytes) : least;
    }
  }
  MESSAGE("between " << least << " and " << largest << " bytes of " << kBound);
  CHECK(largest <= kBound + largestEntry);
  CHECK(least + 2 * largestEntry >= kBound); // no more is dropped than must be
  CHECK(store->find(last.key));
  CHECK(lines.lines().empty());
}

TEST_SUITE_END();
