// The disk store under load, its processes killed at random moments: never wrong bytes, never a store that does not
// work, never a wait without end.

#include "src/store/DiskStore.h"
#include "tests/support/LogLines.h"
#include "tests/support/SampleEntry.h"
#include "tests/support/TemporaryFolder.h"

#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("store/Kill");

namespace {

constexpr int kKeys = 12;
constexpr size_t kCodeBytes = 20'000;

Key keyOf(int i) { return sampleKey("n=" + std::to_string(i)); }

/// Three keys in a row are of one program, but for one in four, whose program is not known.
Entry entryOf(const Key &key) {
  int number = std::stoi(key.parts().description.substr(2));
  return number % 4 == 3 ? sampleEntry(key, kCodeBytes)
                         : sampleEntryOf("p" + std::to_string(number / 4), key, kCodeBytes);
}

// Half of the keys have room, so that every second publication evicts.
uint64_t bound() { return kKeys / 2 * (kCodeBytes + 400); }

/// What a process of the load does until it is killed. Exits with 3 if it is given wrong bytes.
[[noreturn]] void work(const std::string &folder, unsigned seed) {
  std::minstd_rand random(seed);
  Log log;
  while (true) {
    Result<std::unique_ptr<DiskStore>> store = DiskStore::open(folder, bound(), log);
    if (!store.ok()) {
      ::_exit(4);
    }
    for (int i = 0; i < 20; ++i) {
      Key key = keyOf(static_cast<int>(random() % kKeys));
      KeyLock lock = (*store)->lock(key, std::chrono::milliseconds(20));
      std::shared_ptr<const Entry> found = (*store)->find(key);
      if (found && found->serialize() != entryOf(key).serialize()) {
        ::_exit(3);
      }
      if (!found) {
        (void)(*store)->publish(entryOf(key));
      }
    }
  }
}

pid_t startWorker(const std::string &folder, unsigned seed) {
  pid_t child = ::fork();
  if (child == 0) {
    work(folder, seed);
  }
  return child;
}

/// Kills a worker, which must not have ended before.
void kill9(pid_t worker) {
  ::kill(worker, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(worker, &status, 0) == worker);
  CAPTURE(status);
  REQUIRE(WIFSIGNALED(status));
}

int numKills() {
  const char *given = std::getenv("JITK_TEST_KILLS");
  return given ? std::atoi(given) : 50;
}

} // namespace

TEST_CASE("processes killed at random moments leave a sound store") {
  TemporaryFolder folder = TemporaryFolder::inMemory();
  std::string path = folder.path("store");
  unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::minstd_rand random(seed);
  pid_t neighbour = startWorker(path, static_cast<unsigned>(random()));
  for (int kill = 0; kill < numKills(); ++kill) {
    pid_t victim = startWorker(path, static_cast<unsigned>(random()));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 6000));
    kill9(victim);

    LogLines lines;
    Log log(lines.sink(), LogFilter{LogLevel::Warning, {}});
    std::unique_ptr<DiskStore> store = *DiskStore::open(path, bound(), log);
    for (int i = 0; i < kKeys; ++i) {
      std::shared_ptr<const Entry> found = store->find(keyOf(i));
      bool right = !found || found->serialize() == entryOf(keyOf(i)).serialize();
      REQUIRE(right);
    }
    // A damaged file would be a line.
    REQUIRE(lines.lines().empty());
  }
  kill9(neighbour);

  // Alone now: every lock is free, every key can be published and is found.
  Log log;
  std::unique_ptr<DiskStore> store = *DiskStore::open(path, uint64_t{1} << 30, log);
  for (int i = 0; i < kKeys; ++i) {
    (void)store->publish(entryOf(keyOf(i)));
    CHECK(store->find(keyOf(i)));
    KeyLock::Outcome outcome =
        store->lock(sampleKey("free" + std::to_string(i)), std::chrono::milliseconds(0)).outcome();
    CHECK(outcome == KeyLock::Outcome::Held);
  }
}

TEST_SUITE_END();
