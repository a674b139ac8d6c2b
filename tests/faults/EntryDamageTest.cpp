// Stores of real kernels, damaged at random: what is found is the kernel as it was or nothing, and the next publication
// heals it. JITK_TEST_DAMAGES says how often; 2,000 times without.

#include "jitk/jitk.hpp"
#include "src/store/DiskStore.h"
#include "tests/support/TemporaryFolder.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <unistd.h>

using namespace jitk;
using namespace jitk::test;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("faults/EntryDamage");

namespace {

using Bytes = std::vector<uint8_t>;

int numDamages() {
  const char *text = std::getenv("JITK_TEST_DAMAGES");
  return text ? std::atoi(text) : 2000;
}

/// Kernels of real families; the first two have the same code, so that one's entry is a reference to the other's.
const std::vector<std::string> kDescriptions = {
    "matmul m=*<=4096 n=64 k=64",
    "matmul m=*<=2048 n=64 k=64",
    "fp8_block_matmul m=* n=128 k=128",
    "flash_attention heads=2 kv_heads=1 seq_q=*<=64 head_dim=64 causal=true",
};

/// Compiles the kernels into a store: for an emulator, and for a GPU where there is an assembler.
void fillStore(const std::string &folder) {
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = folder.c_str();
  api::Runtime runtime = api::Runtime::create(&options);
  for (const char *target : {"emulator:sm_90a", "sm_90a"}) {
    api::Plan plan = api::Plan::create(runtime);
    for (const std::string &description : kDescriptions) {
      plan.add(api::Description::parse(description));
    }
    jitk_prepare_options_t prepare = {};
    prepare.target = target;
    plan.prepare(prepare);
    try {
      plan.wait();
    } catch (const api::Exception &failure) {
      REQUIRE(failure.status() == JITK_STATUS_UNAVAILABLE);
      MESSAGE("no entries for sm_90a: " << failure.what());
    }
  }
}

Bytes readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Overwrites a file in place, so that all of its names see it.
void overwrite(const fs::path &path, const Bytes &bytes) {
  int file = ::open(path.c_str(), O_WRONLY | O_TRUNC);
  REQUIRE(file >= 0);
  REQUIRE(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  ::close(file);
}

/// What disks, copies and crashes do to a file; `other` is another file of the store.
Bytes damaged(Bytes bytes, const Bytes &other, std::mt19937_64 &random) {
  auto below = [&](size_t end) { return static_cast<size_t>(random() % std::max<size_t>(end, 1)); };
  size_t at = below(bytes.size()), length = 1 + below(std::min<size_t>(bytes.size() - at, 4096));
  auto begin = bytes.begin() + std::ptrdiff_t(at), end = begin + std::ptrdiff_t(length);
  switch (random() % 9) {
  case 0: // one bit
    bytes[at] ^= uint8_t(1u << random() % 8);
    break;
  case 1: // some bytes
    std::generate(begin, end, [&] { return uint8_t(random()); });
    break;
  case 2: // a block that was never written
    std::fill(begin, end, uint8_t(0));
    break;
  case 3: // cut off
    bytes.resize(at);
    break;
  case 4: // with more at its end
    bytes.insert(bytes.end(), length, uint8_t(random()));
    break;
  case 5: // with a hole closed
    bytes.erase(begin, end);
    break;
  case 6: // a block that lies elsewhere, too
    std::copy_n(bytes.begin() + std::ptrdiff_t(below(bytes.size() - length)), length, begin);
    break;
  case 7: // the begin of this and the end of another
    bytes.resize(at);
    bytes.insert(bytes.end(), other.begin() + std::ptrdiff_t(below(other.size())), other.end());
    break;
  case 8: // another one under this name
    bytes = other;
    break;
  }
  return bytes;
}

bool same(const Entry &one, const Entry &other) {
  return one.key == other.key && one.recipe == other.recipe && one.code == other.code &&
         one.facts.registers == other.facts.registers && one.facts.sharedBytes == other.facts.sharedBytes;
}

/// The files of a store that hold entries.
std::vector<fs::path> entryFiles(const std::string &folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry &each : fs::directory_iterator(folder)) {
    if (each.is_regular_file() && each.file_size() > 0) {
      files.push_back(each.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

} // namespace

TEST_CASE("of real entries damaged at random none is found that is not as it was, and all heal") {
  TemporaryFolder folder = TemporaryFolder::inMemory();
  const std::string path = folder.path("store");
  fillStore(path);
  size_t numLines = 0;
  Log log([&](LogLevel, std::string_view, std::string_view) { ++numLines; }, {});
  std::unique_ptr<DiskStore> store = *DiskStore::open(path, uint64_t{1} << 30, log);
  std::vector<std::shared_ptr<const Entry>> entries;
  for (const DiskStore::Item &item : store->list(/*quarantine=*/false)) {
    REQUIRE(item.entry.ok());
    entries.push_back(store->find(item.entry->key));
    REQUIRE(entries.back());
    CHECK(entries.back()->code.size() > 1000);
  }
  REQUIRE(entries.size() >= kDescriptions.size());
  std::set<Bytes> codes;
  for (const std::shared_ptr<const Entry> &entry : entries) {
    codes.insert(entry->code);
  }
  REQUIRE(codes.size() < entries.size());

  std::mt19937_64 random(20261130);
  size_t numChanged = 0, numMissed = 0, numWrong = 0, numUnhealed = 0, numSilent = 0;
  const int damages = numDamages();
  for (int i = 0; i < damages; ++i) {
    CAPTURE(i);
    std::vector<fs::path> files = entryFiles(path);
    const fs::path &file = files[random() % files.size()], &another = files[random() % files.size()];
    const Bytes before = readFile(file), other = readFile(another), after = damaged(before, other, random);
    if (after == before) {
      continue;
    }
    ++numChanged;
    overwrite(file, after);
    const size_t linesBefore = numLines;
    const bool isWholeEntry = after == other;
    size_t missed = 0;
    for (const std::shared_ptr<const Entry> &entry : entries) {
      std::shared_ptr<const Entry> found = store->find(entry->key);
      missed += !found;
      numWrong += found && !same(*found, *entry);
    }
    numMissed += missed;
    // A good entry under another's name is a miss, and no damage.
    numSilent += !isWholeEntry && missed > 0 && numLines == linesBefore;
    for (const std::shared_ptr<const Entry> &entry : entries) {
      std::shared_ptr<const Entry> found = store->find(entry->key);
      if (!found) {
        REQUIRE(store->publish(*entry).ok());
      }
    }
    for (const std::shared_ptr<const Entry> &entry : entries) {
      std::shared_ptr<const Entry> found = store->find(entry->key);
      numUnhealed += !found || !same(*found, *entry);
    }
    fs::remove_all(path + "/quarantine");
  }
  MESSAGE(numChanged << " damages, " << numMissed << " entries missed");
  CHECK(numWrong == 0);
  CHECK(numUnhealed == 0);
  CHECK(numSilent == 0);
  CHECK(numChanged > size_t(damages) / 2);
  CHECK(numMissed >= numChanged / 2); // a second name that no other kernel needs is not missed
}

TEST_SUITE_END();
