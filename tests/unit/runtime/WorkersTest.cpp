#include "src/runtime/workers/Workers.h"

#include "src/runtime/workers/HostLimits.h"
#include "tests/support/TemporaryFolder.h"

#include <atomic>
#include <doctest/doctest.h>
#include <fstream>

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

TEST_CASE("no number means what the host leaves") {
  CHECK(createWorkers(0)->count() == defaultJobs());
  CHECK(defaultJobs() >= 1);
  CHECK(defaultJobs() <= usableCores());
}

TEST_CASE("limits of a control group are read, or are none") {
  CHECK(parseCpuQuota("200000 100000\n") == 2.0);
  CHECK(parseCpuQuota("max 100000\n") == std::nullopt);
  CHECK(parseCpuQuota("") == std::nullopt);
  CHECK(parseCpuQuota("5 0") == std::nullopt);
  CHECK(parseMemoryLimit("2147483648\n") == uint64_t{2147483648});
  CHECK(parseMemoryLimit("max\n") == std::nullopt);
}

TEST_CASE("the tightest group on the way to the root counts") {
  test::TemporaryFolder root;
  std::filesystem::create_directories(root.path("a/b"));
  std::ofstream(root.path("cpu.max")) << "400000 100000";
  std::ofstream(root.path("a/cpu.max")) << "150000 100000";
  std::ofstream(root.path("a/memory.max")) << "max";
  std::ofstream(root.path("a/b/memory.max")) << "1000";
  HostLimits limits = HostLimits::read(root.path(), "/a/b");
  CHECK(limits.cores == 1.5);
  CHECK(limits.memoryBytes == uint64_t{1000});
  CHECK(HostLimits::read(root.path(), "").cores == 4.0);
  CHECK(HostLimits::read(root.path("nowhere"), "/x").cores == std::nullopt);
}

TEST_SUITE_END();
