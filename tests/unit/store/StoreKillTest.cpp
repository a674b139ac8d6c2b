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
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("store/Kill");

namespace {

constexpr int kKeys = 12;
// So many that a process is at writing some for most of its time, when it is killed.
constexpr size_t kCodeBytes = 1 << 20;

Key keyOf(int i) { return sampleKey("n=" + std::to_string(i)); }

/// Three keys in a row are of one program, but for one in four, whose program is not known.
Entry entryOf(const Key &key) {
  int number = std::stoi(key.parts().description.substr(2));
  return number % 4 == 3 ? sampleEntry(key, kCodeBytes)
                         : sampleEntryOf("p" + std::to_string(number / 4), key, kCodeBytes);
}

// Half of the keys have room, so that every second publication evicts.
uint64_t bound() { return kKeys / 2 * (kCodeBytes + 400); }

/// What a process of the load does until it is killed. Exits with 3 if it is given wrong bytes, with 5 if it sees
/// damage, which it heals before anybody else could see it.
[[noreturn]] void work(const std::string &folder, unsigned seed) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::minstd_rand random(seed);
  Log log([](LogLevel, std::string_view, std::string_view) { ::_exit(5); }, LogFilter{LogLevel::Warning, {}});
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

/// A process of the load, which goes with the object.
class Worker {
public:
  Worker(const std::string &folder, unsigned seed) : process_(::fork()) {
    if (process_ == 0) {
      work(folder, seed);
    }
  }
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;
  ~Worker() { (void)end(); }

  /// Kills it. False if it had ended before.
  bool kill9() {
    int status = end();
    CAPTURE(status);
    CHECK(WIFSIGNALED(status));
    return WIFSIGNALED(status);
  }

private:
  int end() {
    int status = 0;
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, &status, 0);
      process_ = 0;
    }
    return status;
  }

  pid_t process_;
};

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
  Worker neighbour(path, static_cast<unsigned>(random()));
  for (int kill = 0; kill < numKills(); ++kill) {
    Worker victim(path, static_cast<unsigned>(random()));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
    REQUIRE(victim.kill9());

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
  REQUIRE(neighbour.kill9());

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
