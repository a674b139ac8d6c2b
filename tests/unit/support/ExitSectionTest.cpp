#include "src/support/ExitSection.h"

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace jitk;

TEST_SUITE_BEGIN("support/ExitSection");

namespace {

/// What a child leaves behind for the test.
struct Shared {
  std::atomic<int> ended = 0, refused = 0, nested = 0;
};

Shared *share() {
  void *memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return new (memory) Shared;
}

/// Exit status of a child in which `body` runs, and the milliseconds that it lived.
template <typename Body> std::pair<int, int64_t> inChild(Body &&body) {
  auto begin = std::chrono::steady_clock::now();
  pid_t child = ::fork();
  if (child == 0) {
    ::close(STDOUT_FILENO); // doctest's statics print
    body();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  auto lived = std::chrono::steady_clock::now() - begin;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          std::chrono::duration_cast<std::chrono::milliseconds>(lived).count()};
}

void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

} // namespace

TEST_CASE("an exit waits for a section of another thread, and none begins after it") {
  Shared *seen = share();
  auto [status, lived] = inChild([seen] {
    std::atomic<bool> begun = false;
    std::thread([&begun, seen] {
      {
        ExitSection section;
        begun = section.entered();
        pause(300);
        ExitSection nested; // what has begun is finished
        seen->nested = nested.entered();
        seen->ended = 1;
      }
      ExitSection late;
      seen->refused = late.status().code() == StatusCode::Cancelled;
      seen->ended = 2; // may come too late to be seen
    }).detach();
    while (!begun) {
    }
    std::exit(7);
  });
  CHECK(status == 7);
  CHECK(seen->ended >= 1);
  CHECK(seen->nested == 1);
  CHECK((seen->ended < 2 || seen->refused == 1));
}

TEST_CASE("an exit in a section does not wait for itself") {
  auto [status, lived] = inChild([] {
    ExitSection section, nested;
    std::exit(8);
  });
  CHECK(status == 8);
  CHECK(lived < 4000);
}

TEST_CASE("a child does not wait for sections of its parent's threads") {
  std::atomic<bool> begun = false, over = false;
  std::thread thread([&] {
    ExitSection section;
    begun = true;
    while (!over) {
      pause(1);
    }
  });
  while (!begun) {
  }
  auto [status, lived] = inChild([] { std::exit(9); });
  over = true;
  thread.join();
  CHECK(status == 9);
  CHECK(lived < 4000);
}

TEST_SUITE_END();
