#include "src/store/DiskStore.h"

#include "tests/support/FileBytes.h"
#include "tests/support/LogLines.h"
#include "tests/support/SampleEntry.h"
#include "tests/support/TemporaryFolder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace jitk;
using namespace jitk::test;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("store/DiskStore");

namespace {

/// A store in a folder of its own.
struct Fixture {
  explicit Fixture(uint64_t maximalBytes = uint64_t{1} << 30) : log(lines.sink(), LogFilter{LogLevel::Warning, {}}) {
    store = *DiskStore::open(folder.path("store"), maximalBytes, log);
  }

  std::string file(const Key &key) const { return folder.path("store/" + key.name() + ".jitk"); }

  TemporaryFolder folder;
  LogLines lines;
  Log log;
  std::unique_ptr<DiskStore> store;
};

/// Sets the last use of an entry to so many seconds of the epoch.
void setLastUse(const std::string &path, time_t seconds) {
  timespec times[2] = {{seconds, 0}, {seconds, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

} // namespace

TEST_CASE("what one process publishes another finds") {
  Fixture fixture;
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey())).ok());
  std::unique_ptr<DiskStore> other = *DiskStore::open(fixture.store->folder(), 1 << 20, fixture.log);
  std::shared_ptr<const Entry> found = other->find(sampleKey());
  REQUIRE(found);
  CHECK(found->code == sampleEntry(sampleKey()).code);
  CHECK_FALSE(other->find(sampleKey("other")));
  CHECK(fixture.lines.lines().empty());
}

TEST_CASE("a kernel takes one file, which only its user may read") {
  Fixture fixture;
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey())).ok());
  struct stat status;
  REQUIRE(::stat(fixture.file(sampleKey()).c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(::stat(fixture.store->folder().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  size_t files = 0;
  for (const auto &entry : fs::directory_iterator(fixture.store->folder())) {
    files += entry.path().filename() != "lock";
  }
  CHECK(files == 1);
}

TEST_CASE("damage at any byte is a miss, one log line, and healed by the next publication") {
  Fixture fixture;
  Entry entry = sampleEntry(sampleKey());
  std::vector<uint8_t> good = entry.serialize();
  std::string file = fixture.file(sampleKey());
  size_t linesBefore = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (bool truncate : {false, true}) {
      CAPTURE(at);
      CAPTURE(truncate);
      std::vector<uint8_t> bad = good;
      truncate ? bad.resize(at) : static_cast<void>(bad[at] ^= 0x40);
      writeFile(file, bad);
      REQUIRE_FALSE(fixture.store->find(sampleKey()));
      REQUIRE_FALSE(fs::exists(file));
      REQUIRE(fixture.lines.lines().size() == ++linesBefore);
      REQUIRE(fixture.store->publish(entry).ok());
      REQUIRE(fixture.store->find(sampleKey()));
      REQUIRE(readFile(file) == good);
    }
  }
  CHECK(fs::exists(fixture.folder.path("store/quarantine/" + sampleKey().name() + ".jitk")));
}

TEST_CASE("another key under the same name is a miss, and no damage") {
  Fixture fixture;
  writeFile(fixture.file(sampleKey()), sampleEntry(sampleKey("other")).serialize());
  CHECK_FALSE(fixture.store->find(sampleKey()));
  CHECK(fs::exists(fixture.file(sampleKey())));
  CHECK(fixture.lines.lines().empty());
}

TEST_CASE("without a compiler the entry of any assembler serves, the last used first") {
  Fixture fixture;
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("a", "ptxas 12.8"))).ok());
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("a", "ptxas 12.9"))).ok());
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("b", "ptxas 13.0"))).ok());
  setLastUse(fixture.file(sampleKey("a", "ptxas 12.8")), 2000);
  setLastUse(fixture.file(sampleKey("a", "ptxas 12.9")), 1000);
  std::shared_ptr<const Entry> found = fixture.store->findAnyAssembler(sampleKey("a", ""));
  REQUIRE(found);
  CHECK(found->key.parts().assembler == "ptxas 12.8");
  CHECK_FALSE(fixture.store->findAnyAssembler(sampleKey("c", "")));
}

TEST_CASE("the bound holds after each publication, least recently used first") {
  uint64_t one = sampleEntry(sampleKey("a")).serialize().size();
  Fixture fixture(3 * one);
  for (const char *name : {"a", "b", "c"}) {
    REQUIRE(fixture.store->publish(sampleEntry(sampleKey(name))).ok());
    setLastUse(fixture.file(sampleKey(name)), 1000 + name[0]);
  }
  REQUIRE(fixture.store->find(sampleKey("a"))); // now the last used
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("d"))).ok());
  CHECK(fixture.store->find(sampleKey("a")));
  CHECK_FALSE(fixture.store->find(sampleKey("b")));
  CHECK(fixture.store->find(sampleKey("c")));
  CHECK(fixture.store->find(sampleKey("d")));
}

TEST_CASE("an entry above the bound is not kept and pushes nothing out") {
  Fixture fixture(2000);
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("small"))).ok());
  CHECK_FALSE(fixture.store->publish(sampleEntry(sampleKey("large"), 4000)).ok());
  CHECK(fixture.store->find(sampleKey("small")));
  CHECK_FALSE(fixture.store->find(sampleKey("large")));
}

TEST_CASE("what a clock that was ahead left behind goes first") {
  uint64_t one = sampleEntry(sampleKey("a")).serialize().size();
  Fixture fixture(2 * one);
  time_t tomorrow = ::time(nullptr) + 24 * 3600;
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("a"))).ok());
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("b"))).ok());
  setLastUse(fixture.file(sampleKey("a")), 1000);
  setLastUse(fixture.file(sampleKey("b")), tomorrow);
  writeFile(fixture.store->folder() + "/tmp-0000000000000000", {});
  setLastUse(fixture.store->folder() + "/tmp-0000000000000000", tomorrow);
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("c"))).ok());
  CHECK(fixture.store->find(sampleKey("a")));
  CHECK_FALSE(fixture.store->find(sampleKey("b")));
  CHECK(fixture.store->find(sampleKey("c")));
  CHECK_FALSE(fs::exists(fixture.store->folder() + "/tmp-0000000000000000"));
}

TEST_CASE("foreign files and abandoned temporary ones disturb nothing") {
  Fixture fixture;
  writeFile(fixture.store->folder() + "/README", {});
  writeFile(fixture.store->folder() + "/tmp-0000000000000000", {});
  setLastUse(fixture.store->folder() + "/tmp-0000000000000000", 1000);
  writeFile(fixture.store->folder() + "/tmp-1111111111111111", {});
  fs::create_directory(fixture.store->folder() + "/" + std::string(41, 'a') + ".jitk");
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey())).ok());
  CHECK(fixture.store->find(sampleKey()));
  CHECK(fs::exists(fixture.store->folder() + "/README"));
  CHECK_FALSE(fs::exists(fixture.store->folder() + "/tmp-0000000000000000"));
  CHECK(fs::exists(fixture.store->folder() + "/tmp-1111111111111111"));
}

TEST_CASE("a list tells good entries from damaged ones") {
  Fixture fixture;
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("a"))).ok());
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("b"))).ok());
  std::vector<uint8_t> bytes = readFile(fixture.file(sampleKey("b")));
  bytes[50] ^= 1;
  writeFile(fixture.file(sampleKey("b")), bytes);

  std::vector<DiskStore::Item> items = fixture.store->list(/*quarantine=*/false);
  REQUIRE(items.size() == 2);
  size_t good = items[0].entry.ok() ? 0 : 1;
  CHECK(items[good].entry->key == sampleKey("a"));
  CHECK(items[1 - good].entry.status().message() == "checksum differs");
  CHECK(fs::exists(fixture.file(sampleKey("b"))));

  CHECK(fixture.store->list(/*quarantine=*/true).size() == 2);
  CHECK_FALSE(fs::exists(fixture.file(sampleKey("b"))));
  CHECK(fixture.store->list(/*quarantine=*/true).size() == 1);
}

TEST_CASE("collecting waits for those who do so") {
  Fixture fixture;
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("a"))).ok());
  constexpr int64_t kEvictionLock = INT64_MAX - 1; // of all versions that share a folder
  File folder(::open(fixture.store->folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  KeyLock others = KeyLock::tryAcquire(folder, kEvictionLock);
  REQUIRE(others.held());
  std::thread leaves([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    others = KeyLock();
  });
  CHECK(fixture.store->collect(0).ok());
  CHECK(fixture.store->list(false).empty());
  leaves.join();
}

TEST_CASE("collecting to nothing leaves nothing") {
  Fixture fixture;
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("a"))).ok());
  writeFile(fixture.file(sampleKey("b")), std::vector<uint8_t>{1});
  REQUIRE_FALSE(fixture.store->find(sampleKey("b")));
  REQUIRE(fixture.store->collect(0).ok());
  CHECK(fixture.store->list(false).empty());
  CHECK(fs::is_empty(fixture.store->folder() + "/quarantine"));
}

// --- problems of one program

static uint64_t bytesOf(const std::string &file) { return fs::file_size(file); }

TEST_CASE("problems of one program have its code once") {
  Fixture fixture;
  constexpr size_t kCode = 5000;
  REQUIRE(fixture.store->publish(sampleEntryOf("p", sampleKey("a"), kCode)).ok());
  REQUIRE(fixture.store->publish(sampleEntryOf("p", sampleKey("b"), kCode)).ok());
  REQUIRE(fixture.store->publish(sampleEntryOf("q", sampleKey("c"), kCode)).ok());
  CHECK(bytesOf(fixture.file(sampleKey("a"))) > kCode);
  CHECK(bytesOf(fixture.file(sampleKey("b"))) < 500);
  CHECK(bytesOf(fixture.file(sampleKey("c"))) > kCode);
  std::unique_ptr<DiskStore> other = *DiskStore::open(fixture.store->folder(), 1 << 20, fixture.log);
  for (const char *name : {"a", "b"}) {
    std::shared_ptr<const Entry> found = other->find(sampleKey(name));
    REQUIRE(found);
    CHECK(found->serialize() == sampleEntryOf("p", sampleKey(name), kCode).serialize());
  }
  CHECK(other->findAnyAssembler(sampleKey("b", ""))->code == sampleEntryOf("p", sampleKey("b"), kCode).code);
  // For a problem that is not there yet.
  CHECK(other->findProgram(Entry::programKey(sampleKey("d"), "p"))->key == sampleKey("a"));
  CHECK_FALSE(other->findProgram(Entry::programKey(sampleKey("d", "stub 2"), "p")));
  CHECK_FALSE(other->findProgram(Entry::programKey(sampleKey("d"), "r")));
  std::vector<DiskStore::Item> items = other->list(/*quarantine=*/true);
  REQUIRE(items.size() == 3);
  for (const DiskStore::Item &item : items) {
    REQUIRE(item.entry.ok());
    CHECK(item.entry->code.size() == kCode);
  }
  CHECK(fixture.lines.lines().empty());
}

TEST_CASE("other code of the same program is kept beside it") {
  Fixture fixture;
  Entry odd = sampleEntryOf("p", sampleKey("b"));
  odd.code.front() ^= 1;
  REQUIRE(fixture.store->publish(sampleEntryOf("p", sampleKey("a"))).ok());
  REQUIRE(fixture.store->publish(odd).ok());
  CHECK(fixture.store->find(sampleKey("a"))->code == sampleEntryOf("p", sampleKey("a")).code);
  CHECK(fixture.store->find(sampleKey("b"))->code == odd.code);
}

TEST_CASE("a reference is a miss when its program has gone, and whole when it is published again") {
  Fixture fixture;
  REQUIRE(fixture.store->publish(sampleEntryOf("p", sampleKey("a"))).ok());
  REQUIRE(fixture.store->publish(sampleEntryOf("p", sampleKey("b"))).ok());
  std::string program = fixture.folder.path("store/" + Entry::programKey(sampleKey(), "p").name() + ".program");
  REQUIRE(fs::exists(program));
  SUBCASE("removed") {
    fs::remove(program);
    CHECK(fixture.lines.lines().empty());
  }
  SUBCASE("damaged") {
    std::vector<uint8_t> bytes = readFile(program);
    bytes[60] ^= 4;
    writeFile(program, bytes);
    CHECK_FALSE(fixture.store->find(sampleKey("b")));
    CHECK(fixture.lines.lines().size() == 1);
    CHECK_FALSE(fs::exists(program));
    CHECK_FALSE(fixture.store->find(sampleKey("a"))); // the same file
    CHECK(fixture.lines.lines().size() == 2);
  }
  CHECK_FALSE(fixture.store->find(sampleKey("b")));
  CHECK(fixture.store->list(/*quarantine=*/false).size() <= 1);
  REQUIRE(fixture.store->publish(sampleEntryOf("p", sampleKey("b"))).ok());
  CHECK(fixture.store->find(sampleKey("b")));
  CHECK(fixture.store->findProgram(Entry::programKey(sampleKey(), "p"))->key == sampleKey("b"));
}

TEST_CASE("code that is rejected is its program's no more") {
  Fixture fixture;
  for (const char *name : {"a", "b"}) {
    REQUIRE(fixture.store->publish(sampleEntryOf("p", sampleKey(name))).ok());
  }
  Status why(StatusCode::DataLoss, "of no use");
  CHECK(fixture.store->reject(*fixture.store->find(sampleKey("b")), why));
  CHECK_FALSE(fixture.store->findProgram(Entry::programKey(sampleKey(), "p")));
  CHECK_FALSE(fixture.store->find(sampleKey("b")));
  CHECK_FALSE(fixture.store->reject(sampleEntryOf("p", sampleKey("b")), why));
}

TEST_CASE("damage at any byte of a program's code gives no wrong bytes") {
  Fixture fixture;
  Entry first = sampleEntryOf("p", sampleKey("a")), second = sampleEntryOf("p", sampleKey("b"));
  std::vector<uint8_t> good = first.serialize();
  for (size_t at = 0; at < good.size(); ++at) {
    CAPTURE(at);
    REQUIRE(fixture.store->publish(first).ok());
    REQUIRE(fixture.store->publish(second).ok());
    std::vector<uint8_t> bad = good;
    bad[at] ^= 0x40;
    writeFile(fixture.file(first.key), bad);
    REQUIRE_FALSE(fixture.store->find(second.key));
    REQUIRE_FALSE(fixture.store->find(first.key));
  }
}

TEST_CASE("what one problem of a program uses is not pushed out with another") {
  uint64_t one = sampleEntryOf("p", sampleKey("a"), 4000).serialize().size();
  Fixture fixture(3 * one);
  REQUIRE(fixture.store->publish(sampleEntryOf("p", sampleKey("a"), 4000)).ok());
  REQUIRE(fixture.store->publish(sampleEntryOf("p", sampleKey("b"), 4000)).ok());
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("c"), 4000)).ok());
  setLastUse(fixture.file(sampleKey("a")), 1000);
  setLastUse(fixture.file(sampleKey("b")), 1000);
  setLastUse(fixture.file(sampleKey("c")), 2000);
  REQUIRE(fixture.store->find(sampleKey("b")));
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey("d"), 4000)).ok());
  CHECK(fixture.store->find(sampleKey("b")));
  CHECK_FALSE(fixture.store->find(sampleKey("c")));
  // All names go with the bytes.
  REQUIRE(fixture.store->collect(0).ok());
  for (const auto &file : fs::directory_iterator(fixture.store->folder())) {
    CHECK_FALSE(file.path().filename().string().ends_with(".program"));
  }
}

TEST_CASE("a folder that others control is refused") {
  TemporaryFolder folder;
  Log log;
  auto codeOf = [&](const std::string &path) { return DiskStore::open(path, 1 << 20, log).status().code(); };

  REQUIRE(::mkdir(folder.path("real").c_str(), 0700) == 0);
  REQUIRE(::symlink(folder.path("real").c_str(), folder.path("link").c_str()) == 0);
  CHECK(codeOf(folder.path("link")) == StatusCode::InvalidArgument);
  CHECK(codeOf(folder.path("link/")) == StatusCode::InvalidArgument);

  REQUIRE(::mkdir(folder.path("shared").c_str(), 0700) == 0);
  REQUIRE(::chmod(folder.path("shared").c_str(), 0777) == 0);
  CHECK(codeOf(folder.path("shared")) == StatusCode::InvalidArgument);

  writeFile(folder.path("file"), {});
  CHECK(codeOf(folder.path("file")) == StatusCode::Unavailable);
  CHECK(codeOf(folder.path("file/below")) == StatusCode::Unavailable);
  CHECK(codeOf("/proc/nowhere/below") == StatusCode::Unavailable);
}

TEST_CASE("missing parents are made, for the user alone") {
  TemporaryFolder folder;
  Log log;
  REQUIRE(DiskStore::open(folder.path("a/b/c/"), 1 << 20, log).ok());
  struct stat status;
  REQUIRE(::stat(folder.path("a/b").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("a lock is not needed once the entry is there") {
  Fixture fixture;
  KeyLock first = fixture.store->lock(sampleKey(), std::chrono::seconds(10));
  REQUIRE(first.held());
  REQUIRE(fixture.store->publish(sampleEntry(sampleKey())).ok());
  KeyLock second = fixture.store->lock(sampleKey(), std::chrono::hours(1));
  CHECK(second.outcome() == KeyLock::Outcome::NotNeeded);

  Key program = Entry::programKey(sampleKey(), "p");
  KeyLock third = fixture.store->lockProgram(program, std::chrono::seconds(10));
  REQUIRE(third.held());
  CHECK(fixture.store->lockProgram(program, {}).outcome() == KeyLock::Outcome::TimedOut);
  REQUIRE(fixture.store->publish(sampleEntryOf("p", sampleKey("other"))).ok());
  CHECK(fixture.store->lockProgram(program, std::chrono::hours(1)).outcome() == KeyLock::Outcome::NotNeeded);
}

TEST_SUITE_END();
