#include "src/runtime/workers/Workers.h"

#include <atomic>
#include <doctest/doctest.h>

using namespace jitk;

TEST_SUITE_BEGIN("runtime/Workers");

TEST_CASE("every job runs once before the workers are gone") {
  std::atomic<int> numRun = 0;
  {
    std::unique_ptr<Workers> workers = createWorkers(3);
    CHECK(workers->count() == 3);
    for (int i = 0; i < 1000; ++i) {
      workers->submit([&] { ++numRun; });
    }
  }
  CHECK(numRun == 1000);
}

TEST_CASE("a job may submit others") {
  std::atomic<int> numRun = 0;
  {
    std::unique_ptr<Workers> workers = createWorkers(2);
    workers->submit([&] {
      ++numRun;
      workers->submit([&] { ++numRun; });
    });
    while (numRun < 2) {
    }
  }
  CHECK(numRun == 2);
}

TEST_CASE("what a job holds is gone with the workers") {
  auto held = std::make_shared<int>(7);
  {
    std::unique_ptr<Workers> workers = createWorkers(1);
    workers->submit([held] {});
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("no number means one worker for each core that may be used") {
  CHECK(createWorkers(0)->count() == usableCores());
  CHECK(usableCores() >= 1);
}

TEST_SUITE_END();
