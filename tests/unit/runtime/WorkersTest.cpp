#include "src/runtime/workers/Workers.h"

#include "src/runtime/workers/HostLimits.h"
#include "src/runtime/workers/LoweredPriority.h"
#include "tests/support/TemporaryFolder.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fstream>
#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

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

/// What `body` makes the process write to stderr.
template <typename Body> static std::string stderrOf(Body &&body) {
  test::TemporaryFolder folder;
  int file = ::open(folder.path("stderr").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int kept = ::dup(STDERR_FILENO);
  REQUIRE((file >= 0 && kept >= 0));
  std::fflush(stderr);
  ::dup2(file, STDERR_FILENO);
  body();
  std::fflush(stderr);
  ::dup2(kept, STDERR_FILENO);
  std::string text(static_cast<size_t>(::lseek(file, 0, SEEK_END)), '\0');
  CHECK(::pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  ::close(file);
  ::close(kept);
  return text;
}

/// How many jobs were seen to run at once, of enough that wait for each other.
static uint32_t numAtOnce(Workers &workers, uint32_t wanted) {
  std::atomic<uint32_t> begun = 0, ended = 0;
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (uint32_t i = 0; i < wanted; ++i) {
    workers.submit([&] {
      ++begun;
      while (begun < wanted && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
      ++ended;
    });
  }
  while (ended < wanted) {
    std::this_thread::yield();
  }
  return std::chrono::steady_clock::now() < deadline ? begun.load() : 0;
}

TEST_CASE("workers of several sizes live together, in any order, and nothing is printed") {
  std::string printed = stderrOf([] {
    for (std::array<uint32_t, 3> sizes : {std::array{1u, 7u, 3u}, std::array{9u, 2u, 5u}}) {
      std::unique_ptr<Workers> first = createWorkers(sizes[0]);
      std::unique_ptr<Workers> second = createWorkers(sizes[1]);
      CHECK(numAtOnce(*second, sizes[1]) == sizes[1]);
      std::unique_ptr<Workers> third = createWorkers(sizes[2]);
      CHECK(numAtOnce(*third, sizes[2]) == sizes[2]);
      first.reset();
      CHECK(numAtOnce(*second, sizes[1]) == sizes[1]);
    }
  });
  CHECK(printed == "");
}

/// What the system knows of a thread.
struct Priority {
  int policy = -1, nice = -1;

  static Priority ofThread() { return {::sched_getscheduler(0), ::getpriority(PRIO_PROCESS, 0)}; }
  bool operator==(const Priority &) const = default;
};

static Priority priorityOfJob(uint32_t nice) {
  Priority seen;
  createWorkers(1, nice)->submit([&] { seen = Priority::ofThread(); });
  return seen;
}

/// Gives up the right to raise a priority, on this thread and for good.
static bool giveUpRaising() {
  const rlimit none = {};
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct nothing[_LINUX_CAPABILITY_U32S_3] = {};
  return ::setrlimit(RLIMIT_NICE, &none) == 0 && ::syscall(SYS_capset, &header, nothing) == 0;
}

TEST_CASE("a thread that could not have its nice value back keeps it") {
  // In a child, for rights do not come back; and before any other lowering, for the answer is kept for the process.
  pid_t child = ::fork();
  if (child == 0) {
    const int nice = Priority::ofThread().nice;
    if (!giveUpRaising()) {
      ::_exit(2);
    }
    bool good = true;
    {
      LoweredPriority scope(7);
      good = Priority::ofThread() == Priority{SCHED_BATCH, nice};
    }
    ::_exit(good && Priority::ofThread() == Priority{SCHED_OTHER, nice} ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("jobs run with a lowered priority, and threads have theirs back") {
  const Priority own = Priority::ofThread();
  if (own.policy != SCHED_OTHER || own.nice > 12) {
    MESSAGE("SKIPPED: the test itself must run with a usual priority");
    return;
  }
  CHECK(priorityOfJob(0) == own);
  Priority lowered = priorityOfJob(7);
  CHECK(lowered.policy == SCHED_BATCH);
  std::thread([&] { // whether the system lets this process have a nice value back
    bool can = ::setpriority(PRIO_PROCESS, 0, own.nice + 1) == 0 && ::setpriority(PRIO_PROCESS, 0, own.nice) == 0;
    CHECK(lowered.nice == own.nice + (can ? 7 : 0));
  })
      .join();
  std::thread([&] {
    {
      LoweredPriority scope(19);
    }
    CHECK(Priority::ofThread() == own);
  }).join();
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
  HostLimits limits = HostLimits::read(root.path(), "0::/a/b\n");
  CHECK(limits.cores == 1.5);
  CHECK(limits.memoryBytes == uint64_t{1000});
  CHECK(HostLimits::read(root.path(), "0::/\n").cores == 4.0);
  CHECK(HostLimits::read(root.path("nowhere"), "0::/x\n").cores == std::nullopt);
  CHECK(HostLimits::read(root.path(), "").cores == std::nullopt);
}

TEST_CASE("groups of version 1 have a tree for each controller") {
  test::TemporaryFolder root;
  std::filesystem::create_directories(root.path("cpu/a"));
  std::filesystem::create_directories(root.path("memory/b/c"));
  std::ofstream(root.path("cpu/cpu.cfs_quota_us")) << "-1\n"; // none
  std::ofstream(root.path("cpu/cpu.cfs_period_us")) << "100000\n";
  std::ofstream(root.path("cpu/a/cpu.cfs_quota_us")) << "250000\n";
  std::ofstream(root.path("cpu/a/cpu.cfs_period_us")) << "100000\n";
  std::ofstream(root.path("memory/memory.limit_in_bytes")) << "9223372036854771712\n"; // none
  std::ofstream(root.path("memory/b/memory.limit_in_bytes")) << "2147483648\n";
  HostLimits limits = HostLimits::read(root.path(), "4:memory:/b/c\n2:cpu,cpuacct:/a\n1:cpuset:/\n0::/\n");
  CHECK(limits.cores == 2.5);
  CHECK(limits.memoryBytes == uint64_t{2147483648});
  // A container sees its own group as the root, under the name that it has outside.
  std::ofstream(root.path("memory/memory.limit_in_bytes")) << "1073741824\n";
  CHECK(HostLimits::read(root.path(), "4:memory:/outside/x\n").memoryBytes == uint64_t{1073741824});
  CHECK(HostLimits::read(root.path(), "4:memory:/outside/x\n").cores == std::nullopt);
}

TEST_SUITE_END();
