#include "src/store/KeyLock.h"

#include "src/store/StoreFolder.h"
#include "tests/support/TemporaryFolder.h"

#include <csignal>
#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace jitk;
using namespace jitk::test;
using Clock = std::chrono::steady_clock;
using Outcome = KeyLock::Outcome;

TEST_SUITE_BEGIN("store/KeyLock");

static KeyLock acquire(const File &folder, int64_t offset, std::chrono::milliseconds patience,
                       const std::function<bool()> &done = nullptr) {
  return KeyLock::acquire(folder, offset, Clock::now() + patience, done);
}

TEST_CASE("a lock is free again when its holder goes") {
  TemporaryFolder temporary;
  File folder = *openStoreFolder(temporary.path());
  {
    KeyLock lock = acquire(folder, 7, std::chrono::seconds(10));
    CHECK(lock.held());
    CHECK(KeyLock::tryAcquire(folder, 7).outcome() == Outcome::TimedOut);
  }
  CHECK(KeyLock::tryAcquire(folder, 7).held());
}

TEST_CASE("locks of other offsets do not wait") {
  TemporaryFolder temporary;
  File folder = *openStoreFolder(temporary.path());
  KeyLock first = acquire(folder, 7, std::chrono::seconds(10));
  CHECK(KeyLock::tryAcquire(folder, 8).held());
  CHECK(KeyLock::tryAcquire(folder, INT64_MAX - 1).held());
}

TEST_CASE("a wait ends at its deadline") {
  TemporaryFolder temporary;
  File folder = *openStoreFolder(temporary.path());
  KeyLock first = acquire(folder, 7, std::chrono::seconds(10));
  Clock::time_point begin = Clock::now();
  CHECK(acquire(folder, 7, std::chrono::milliseconds(60)).outcome() == Outcome::TimedOut);
  CHECK(Clock::now() - begin >= std::chrono::milliseconds(60));
}

TEST_CASE("a wait ends when there is nothing left to wait for") {
  TemporaryFolder temporary;
  File folder = *openStoreFolder(temporary.path());
  KeyLock first = acquire(folder, 7, std::chrono::seconds(10));
  int asked = 0;
  CHECK(acquire(folder, 7, std::chrono::hours(1), [&] { return ++asked == 3; }).outcome() == Outcome::NotNeeded);
}

TEST_CASE("a holder that is killed frees its lock, and one that is stopped costs the deadline only") {
  TemporaryFolder temporary;
  File folder = *openStoreFolder(temporary.path());
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // it must not outlive a check that fails
    KeyLock lock = acquire(folder, 7, std::chrono::seconds(10));
    char taken = lock.held() ? 'y' : 'n';
    (void)!::write(ready[1], &taken, 1);
    while (true) {
      ::pause();
    }
  }
  char taken = 0;
  REQUIRE(::read(ready[0], &taken, 1) == 1);
  REQUIRE(taken == 'y');

  ::kill(child, SIGSTOP);
  CHECK(acquire(folder, 7, std::chrono::milliseconds(50)).outcome() == Outcome::TimedOut);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(acquire(folder, 7, std::chrono::seconds(10)).held());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_SUITE_END();
