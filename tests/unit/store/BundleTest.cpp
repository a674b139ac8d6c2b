#include "src/store/Bundle.h"

#include "tests/support/FileBytes.h"
#include "tests/support/SampleEntry.h"
#include "tests/support/TemporaryFolder.h"

#include <atomic>
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("store/Bundle");

namespace {

/// Three problems, one of them twice.
std::vector<Entry> sampleEntries() {
  std::vector<Entry> entries;
  for (const char *name : {"a", "b", "c", "a"}) {
    entries.push_back(sampleEntry(sampleKey(name)));
  }
  return entries;
}

} // namespace

TEST_CASE("what was written is found, from wherever the file was moved to") {
  TemporaryFolder folder;
  REQUIRE(Bundle::write(folder.path("one"), sampleEntries()).ok());
  std::filesystem::rename(folder.path("one"), folder.path("two"));
  std::unique_ptr<Bundle> bundle = *Bundle::open(folder.path("two"));
  CHECK(bundle->size() == 3);
  for (const char *name : {"a", "b", "c"}) {
    std::shared_ptr<const Entry> entry = bundle->find(sampleKey(name));
    REQUIRE(entry);
    CHECK(entry->serialize() == sampleEntry(sampleKey(name)).serialize());
    CHECK(bundle->contains(sampleKey(name)));
  }
  CHECK_FALSE(bundle->find(sampleKey("d")));
  CHECK_FALSE(bundle->contains(sampleKey("d")));
}

TEST_CASE("the entry of any assembler is found by its problem") {
  TemporaryFolder folder;
  std::vector<Entry> entries = {sampleEntry(sampleKey("a", "ptxas 12.8")), sampleEntry(sampleKey("b", "ptxas 12.8"))};
  REQUIRE(Bundle::write(folder.path("bundle"), entries).ok());
  std::unique_ptr<Bundle> bundle = *Bundle::open(folder.path("bundle"));
  CHECK_FALSE(bundle->find(sampleKey("a", "")));
  REQUIRE(bundle->findAnyAssembler(sampleKey("a", "")));
  CHECK_FALSE(bundle->findAnyAssembler(sampleKey("c", "")));
}

TEST_CASE("only a regular file is replaced, and a symbolic link stays one") {
  TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.path("fifo").c_str(), 0600) == 0);
  Status status = Bundle::write(folder.path("fifo"), sampleEntries());
  CHECK(status.code() == StatusCode::InvalidArgument);
  CHECK(status.message().ends_with("/fifo must be a regular file, or none yet"));
  CHECK(std::filesystem::is_fifo(folder.path("fifo")));

  writeFile(folder.path("file"), {});
  std::filesystem::create_symlink("file", folder.path("link"));
  REQUIRE(Bundle::write(folder.path("link"), sampleEntries()).ok());
  CHECK(std::filesystem::is_symlink(folder.path("link")));
  CHECK(Bundle::open(folder.path("file")).ok());
}

TEST_CASE("problems of one program have its code once") {
  TemporaryFolder folder;
  std::vector<Entry> entries;
  for (const char *name : {"a", "b", "c"}) {
    entries.push_back(sampleEntryOf("p", sampleKey(name), 5000));
  }
  entries.push_back(sampleEntryOf("q", sampleKey("d"), 5000));
  entries.push_back(sampleEntryOf("p", sampleKey("e"), 5000));
  entries.back().code.front() ^= 1; // not the program's
  REQUIRE(Bundle::write(folder.path("bundle"), entries).ok());
  CHECK(std::filesystem::file_size(folder.path("bundle")) < 3 * 5000 + 2000);
  std::unique_ptr<Bundle> bundle = *Bundle::open(folder.path("bundle"));
  REQUIRE(bundle->size() == entries.size());
  for (const Entry &entry : entries) {
    std::shared_ptr<const Entry> found = bundle->find(entry.key);
    REQUIRE(found);
    CHECK(found->serialize() == entry.serialize());
  }
  for (size_t i = 0; i < bundle->size(); ++i) {
    CHECK(bundle->read(i)->code.size() == 5000);
  }
}

TEST_CASE("damage at any byte of shared code never gives wrong bytes") {
  TemporaryFolder folder = TemporaryFolder::inMemory();
  std::vector<Entry> entries;
  for (const char *name : {"a", "b", "c"}) {
    entries.push_back(sampleEntryOf("p", sampleKey(name)));
  }
  REQUIRE(Bundle::write(folder.path("good"), entries).ok());
  std::vector<uint8_t> good = readFile(folder.path("good"));
  for (size_t at = 0; at < good.size(); ++at) {
    CAPTURE(at);
    std::vector<uint8_t> bad = good;
    bad[at] ^= 0x10;
    writeFile(folder.path("bad"), bad);
    Result<std::unique_ptr<Bundle>> bundle = Bundle::open(folder.path("bad"));
    size_t numTold = 0;
    for (const Entry &entry : bundle.ok() ? entries : std::vector<Entry>()) {
      Status damage;
      std::shared_ptr<const Entry> found = (*bundle)->find(entry.key, &damage);
      bool right = found ? found->serialize() == entry.serialize() : damage.code() == StatusCode::DataLoss;
      REQUIRE(right);
      numTold += found == nullptr;
    }
    bool isFound = !bundle.ok() || numTold > 0;
    REQUIRE(isFound);
  }
}

TEST_CASE("an empty bundle is a bundle") {
  TemporaryFolder folder;
  REQUIRE(Bundle::write(folder.path("bundle"), {}).ok());
  CHECK((*Bundle::open(folder.path("bundle")))->size() == 0);
}

TEST_CASE("a bundle that is not there or is none is refused, and says why") {
  TemporaryFolder folder;
  CHECK(Bundle::open(folder.path("none")).status().code() == StatusCode::Unavailable);
  writeFile(folder.path("other"), std::vector<uint8_t>(100, 'x'));
  CHECK(Bundle::open(folder.path("other")).status().toString() == "bundle " + folder.path("other") + ": not a bundle");
  CHECK(Bundle::open(folder.path()).status().code() == StatusCode::DataLoss);
}

TEST_CASE("damage at any byte never gives wrong bytes") {
  TemporaryFolder folder = TemporaryFolder::inMemory();
  REQUIRE(Bundle::write(folder.path("good"), sampleEntries()).ok());
  std::vector<uint8_t> good = readFile(folder.path("good"));
  for (size_t at = 0; at < good.size(); ++at) {
    for (bool truncate : {false, true}) {
      CAPTURE(at);
      CAPTURE(truncate);
      std::vector<uint8_t> bad = good;
      truncate ? bad.resize(at) : static_cast<void>(bad[at] ^= 0x10);
      writeFile(folder.path("bad"), bad);
      Result<std::unique_ptr<Bundle>> bundle = Bundle::open(folder.path("bad"));
      if (!bundle.ok()) {
        REQUIRE(bundle.status().code() == StatusCode::DataLoss);
        continue;
      }
      int numDamaged = 0;
      for (const char *name : {"a", "b", "c"}) {
        Status damage;
        std::shared_ptr<const Entry> entry = (*bundle)->find(sampleKey(name), &damage);
        bool right = entry && entry->serialize() == sampleEntry(sampleKey(name)).serialize();
        bool told = !entry && damage.code() == StatusCode::DataLoss;
        bool acceptable = right || told;
        REQUIRE(acceptable);
        numDamaged += told;
      }
      REQUIRE(numDamaged == 1);
    }
  }
}

TEST_CASE("many who write one bundle at a time each write a whole one, also from containers whose processes have one "
          "number") {
  TemporaryFolder folder;
  std::atomic<int> numWritten = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k) {
        std::vector<Entry> entries = {sampleEntry(sampleKey("n=" + std::to_string(i)), 200'000)};
        numWritten += Bundle::write(folder.path("bundle"), entries).ok();
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  CHECK(numWritten == 80);
  Result<std::unique_ptr<Bundle>> bundle = Bundle::open(folder.path("bundle"));
  REQUIRE(bundle.ok());
  REQUIRE((*bundle)->size() == 1);
  CHECK((*bundle)->read(0).ok());
  size_t numFiles = 0;
  for (const auto &file : std::filesystem::directory_iterator(folder.path())) {
    numFiles += file.exists();
  }
  CHECK(numFiles == 1);
}

TEST_CASE("what is no file is no bundle, and does not hang") {
  TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.path("fifo").c_str(), 0600) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20); // what hangs dies
    ::_exit(Bundle::open(folder.path("fifo")).status().code() == StatusCode::DataLoss &&
                    Bundle::open(folder.path()).status().code() == StatusCode::DataLoss
                ? 0
                : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_SUITE_END();
