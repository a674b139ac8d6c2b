#include "src/runtime/workers/Workers.h"

#include <atomic>
#include <doctest/doctest.h>
#include <tbb/global_control.h>

using namespace jitk;

TEST_SUITE_BEGIN("runtime/TbbWorkers");

TEST_CASE("an engine's limit on the threads of oneTBB is kept, and every job runs") {
  std::atomic<int> numRun = 0;
  {
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 3);
    std::unique_ptr<Workers> workers = createWorkers(9);
    CHECK(workers->count() == 2); // one of three is a thread of the engine
    for (int i = 0; i < 100; ++i) {
      workers->submit([&] { ++numRun; });
    }
  }
  CHECK(numRun == 100);
  CHECK(createWorkers(9)->count() == 9);
}

TEST_SUITE_END();
