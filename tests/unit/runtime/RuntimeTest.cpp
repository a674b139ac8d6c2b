#include "tests/unit/runtime/Stub.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <latch>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("runtime/Runtime");

/// Runs `body(i)` on `count` threads that begin together.
template <typename Body> static void together(int count, Body body) {
  std::latch start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

TEST_CASE("a kernel is compiled, then found in memory") {
  StubRuntime stub;
  Result<Obtained> first = stub.runtime->entries().obtain(*stubProblem("*"), kTarget);
  REQUIRE(first.ok());
  CHECK(first->tier == Tier::Compiled);
  Result<Obtained> second = stub.runtime->entries().obtain(*stubProblem("*"), kTarget);
  CHECK(second->tier == Tier::Memory);
  CHECK(second->entry == first->entry);
  CHECK(stub.compiler.numCompilations == 1);
}

TEST_CASE("the next process finds it on the disk and compiles nothing") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  REQUIRE(stub.runtime->entries().obtain(*stubProblem("*"), kTarget).ok());
  stub.restart(folder.path("store"));
  Result<Obtained> found = stub.runtime->entries().obtain(*stubProblem("*"), kTarget);
  REQUIRE(found.ok());
  CHECK(found->tier == Tier::Disk);
  CHECK(found->entry->facts.registers == 32);
  CHECK(stub.compiler.numCompilations == 1);
}

TEST_CASE("another target, another assembler and another problem are each compiled") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  EntrySource &entries = stub.runtime->entries();
  REQUIRE(entries.obtain(*stubProblem("*"), kTarget).ok());
  REQUIRE(entries.obtain(*stubProblem("*<=64"), kTarget).ok());
  REQUIRE(entries.obtain(*stubProblem("*"), Target{Target::Kind::Cuda, 90, false}).ok());
  REQUIRE(entries.obtain(*stubProblem("*"), Target{Target::Kind::Emulator, 90, true}).ok());
  CHECK(stub.compiler.numCompilations == 4);
  stub.compiler.assembler = "stub assembler 2";
  stub.restart(folder.path("store"));
  CHECK(stub.runtime->entries().obtain(*stubProblem("*"), kTarget)->tier == Tier::Compiled);
}

TEST_CASE("a hundred threads that want the same kernel compile it once and load it once") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  std::atomic<int> numGood = 0;
  std::vector<std::shared_ptr<const Kernel>> kernels(100);
  together(100, [&](int i) {
    Result<std::shared_ptr<const Kernel>> kernel = stub.runtime->kernel(stub.device, stubProblem("*"));
    if (kernel.ok()) {
      ++numGood;
      kernels[static_cast<size_t>(i)] = *kernel;
    }
  });
  CHECK(numGood == 100);
  CHECK(stub.compiler.numCompilations == 1);
  CHECK(stub.device->record->numLoads == 1);
  for (const auto &kernel : kernels) {
    CHECK(kernel == kernels[0]);
  }
}

TEST_CASE("several runtimes over one store compile each kernel once") {
  TemporaryFolder folder;
  StubCompiler compiler;
  auto makeRuntime = [&] {
    RuntimeOptions options;
    options.storeFolder = folder.path("store");
    options.compiler = &compiler;
    options.jobs = 1;
    options.lockPatience = std::chrono::seconds(60);
    return *Runtime::create(std::move(options));
  };
  constexpr int kRuntimes = 8, kKernels = 12;
  std::vector<std::shared_ptr<Runtime>> runtimes;
  for (int i = 0; i < kRuntimes; ++i) {
    runtimes.push_back(makeRuntime());
  }
  std::atomic<int> numGood = 0;
  together(kRuntimes, [&](int i) {
    for (int k = 0; k < kKernels; ++k) {
      numGood += runtimes[static_cast<size_t>(i)]->entries().obtain(*stubProblem("*", k + 1), kTarget).ok();
    }
  });
  CHECK(numGood == kRuntimes * kKernels);
  CHECK(compiler.numCompilations == kKernels);
}

/// A pipe whose ends close with it.
struct Pipe {
  Pipe() { REQUIRE(::pipe(ends) == 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  template <typename T> void put(T value) const { (void)!::write(ends[1], &value, sizeof value); }
  template <typename T> T take() const {
    T value = {};
    (void)!::read(ends[0], &value, sizeof value);
    return value;
  }
  int ends[2];
};

TEST_CASE("64 processes over one store compile each of 50 kernels once") {
  TemporaryFolder folder;
  constexpr int kProcesses = 64, kKernels = 50;
  std::vector<pid_t> children;
  Pipe counts, start;
  for (int i = 0; i < kProcesses; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      StubRuntime stub(folder.path("store"));
      stub.compiler.onCompile = [](const Description &) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
      start.take<char>();
      bool good = true;
      for (int k = 0; k < kKernels; ++k) {
        // Each begins at another kernel, and all meet.
        int64_t n = (i * 7 + k) % kKernels + 1;
        good = good && stub.runtime->entries().obtain(*stubProblem("*", n), kTarget).ok();
      }
      counts.put(good ? stub.compiler.numCompilations.load() : 1000);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (int i = 0; i < kProcesses; ++i) {
    start.put('g');
  }
  int total = 0;
  for (pid_t child : children) {
    total += counts.take<int>();
    ::waitpid(child, nullptr, 0);
  }
  CHECK(total == kKernels);
}

/// What processes of a test share.
struct SharedCounts {
  std::atomic<int> running, most, compiled;
};

TEST_CASE("of many processes no more compile at a time than the machine is to bear") {
  TemporaryFolder folder;
  constexpr int kProcesses = 12, kKernels = 6;
  constexpr uint32_t kLimit = 3;
  void *memory = ::mmap(nullptr, sizeof(SharedCounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto *counts = new (memory) SharedCounts{};
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      StubRuntime stub;
      RuntimeOptions options;
      options.storeFolder = folder.path("store");
      options.compiler = &stub.compiler;
      options.hostJobs = kLimit;
      stub.compiler.onCompile = [&](const Description &) {
        int running = ++counts->running;
        for (int most = counts->most; running > most && !counts->most.compare_exchange_weak(most, running);) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++counts->compiled;
        --counts->running;
      };
      stub.runtime = *Runtime::create(std::move(options));
      bool good = true;
      for (int k = 0; k < kKernels; ++k) { // other ones in each process
        good = good && stub.runtime->entries().obtain(*stubProblem("*", i * kKernels + k + 1), kTarget).ok();
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(counts->compiled == kProcesses * kKernels);
  CHECK(counts->most <= static_cast<int>(kLimit));
  CHECK(counts->most >= 2); // the limit is used
  ::munmap(memory, sizeof(SharedCounts));
}

/// A process that compiles for a minute, unless a signal reaches it before.
class Holder {
public:
  /// Begins to compile in a runtime that `prepare` makes, and is sent `signal` then.
  template <typename Prepare> Holder(int signal, const Prepare &prepare) {
    Pipe begun;
    process_ = ::fork();
    if (process_ == 0) {
      StubRuntime stub;
      prepare(stub);
      stub.compiler.onCompile = [&](const Description &) {
        begun.put('b');
        ::sleep(60);
      };
      (void)stub.runtime->entries().obtain(*stubProblem("*"), kTarget);
      ::_exit(0);
    }
    begun.take<char>();
    ::kill(process_, signal);
    if (signal == SIGKILL) {
      ::waitpid(process_, nullptr, 0);
      process_ = 0;
    }
  }
  Holder(const Holder &) = delete;
  Holder &operator=(const Holder &) = delete;
  ~Holder() {
    if (process_ != 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
  }

private:
  pid_t process_ = 0;
};

/// A runtime of `stub` over a store in `folder`, in whose processes one kernel compiles at a time.
static void beginWithOneJob(StubRuntime &stub, const TemporaryFolder &folder, std::chrono::milliseconds patience) {
  RuntimeOptions options;
  options.storeFolder = folder.path("store");
  options.compiler = &stub.compiler;
  options.hostJobs = 1;
  options.lockPatience = patience;
  stub.runtime = *Runtime::create(std::move(options));
}

TEST_CASE("a process that is killed while it compiles gives its place back, one that is stopped costs the deadline") {
  for (int signal : {SIGKILL, SIGSTOP}) {
    CAPTURE(signal);
    TemporaryFolder folder;
    auto withOneJob = [&](StubRuntime &stub) { beginWithOneJob(stub, folder, std::chrono::milliseconds(300)); };
    Holder holder(signal, withOneJob);
    StubRuntime stub;
    withOneJob(stub);
    auto begin = std::chrono::steady_clock::now();
    CHECK(stub.runtime->entries().obtain(*stubProblem("*", 2), kTarget).ok());
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    CHECK(stub.runtime->counters().lockTimeouts.load() == (signal == SIGKILL ? 0 : 1));
    CHECK(seconds < 1.3);
  }
}

TEST_CASE("a process that is stopped costs one deadline, not one for each kernel or for each that waits") {
  TemporaryFolder folder;
  auto withOneJob = [&](StubRuntime &stub) { beginWithOneJob(stub, folder, std::chrono::milliseconds(1000)); };
  Holder holder(SIGSTOP, withOneJob);
  StubRuntime stub;
  withOneJob(stub);
  auto begin = std::chrono::steady_clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  // It begins to wait when half of the time of the first is over, and ends with it.
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    CHECK(stub.runtime->entries().obtain(*stubProblem("*", 50), kTarget).ok());
    CHECK(seconds() < 1.4);
  });
  // The one that the holder compiles: it waits for that, and then for a place no more.
  CHECK(stub.runtime->entries().obtain(*stubProblem("*"), kTarget).ok());
  CHECK(seconds() >= 1);
  for (int n = 1; n <= 40; ++n) {
    CHECK(stub.runtime->entries().obtain(*stubProblem("*", n), kTarget).ok());
  }
  late.join();
  CHECK(seconds() < 2);
  CHECK(stub.runtime->counters().lockTimeouts.load() == 1);
}

/// What another process gets that wants the kernel which a process was compiling when `signal` reached it, and how long
/// it takes.
static std::pair<Tier, double> afterHolderGot(int signal, std::chrono::milliseconds patience) {
  TemporaryFolder folder;
  auto overTheStore = [&](StubRuntime &stub) {
    RuntimeOptions options;
    options.storeFolder = folder.path("store");
    options.compiler = &stub.compiler;
    options.lockPatience = patience;
    stub.runtime = *Runtime::create(std::move(options));
  };
  Holder holder(signal, overTheStore);
  StubRuntime stub;
  overTheStore(stub);
  auto begin = std::chrono::steady_clock::now();
  Result<Obtained> obtained = stub.runtime->entries().obtain(*stubProblem("*"), kTarget);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {obtained.ok() ? obtained->tier : Tier::None, seconds};
}

TEST_CASE("a process that is killed while it compiles delays nobody") {
  auto [tier, seconds] = afterHolderGot(SIGKILL, std::chrono::seconds(30));
  CHECK(tier == Tier::Compiled);
  CHECK(seconds < 5);
}

TEST_CASE("a process that is stopped while it compiles delays others by their patience only") {
  auto [tier, seconds] = afterHolderGot(SIGSTOP, std::chrono::milliseconds(300));
  CHECK(tier == Tier::Compiled);
  CHECK(seconds >= 0.3);
  CHECK(seconds < 1.3);
}

TEST_CASE("a configuration that was measured is used by a runtime that is told to, for devices of that name") {
  TemporaryFolder folder;
  auto problem =
      std::make_shared<const Problem>(Description("stub", {{"m", Dimension{}}, {"configuration", std::string()}}));
  auto named = std::make_shared<const Problem>(
      Description("stub", {{"m", Dimension{}}, {"configuration", std::string("small")}}));
  auto builtAs = [](Result<std::shared_ptr<const Kernel>> kernel) {
    REQUIRE(kernel.ok());
    CHECK((*kernel)->problem().text == "stub m=*");
    return (*kernel)->entry().key.parts().description;
  };
  StubRuntime stub(folder.path("store"));
  REQUIRE(stub.runtime->entries().publishTuned(*problem, *stub.device, "large").ok());
  CHECK(builtAs(stub.runtime->kernel(stub.device, problem)) == "stub m=*"); // it was not told to
  stub.useTuned = true;
  stub.restart(folder.path("store"));
  CHECK(builtAs(stub.runtime->kernel(stub.device, problem)) == "stub configuration=large m=*");
  CHECK((*stub.runtime->kernel(stub.device, named))->entry().key.parts().description == "stub configuration=small m=*");
  // As it is built by default, after all.
  REQUIRE(stub.runtime->entries().publishTuned(*problem, *stub.device, "").ok());
  stub.restart(folder.path("store"));
  CHECK(builtAs(stub.runtime->kernel(stub.device, problem)) == "stub m=*");
  stub.device = std::make_shared<StubDevice>(kTarget);
  stub.device->deviceName = "another GPU";
  CHECK(builtAs(stub.runtime->kernel(stub.device, problem)) == "stub m=*");
  // What has no such attribute is left alone.
  CHECK((*stub.runtime->kernel(stub.device, stubProblem("*")))->entry().key.parts().description == "stub m=* n=64");
  stub.restart("");
  CHECK(stub.runtime->entries().publishTuned(*problem, *stub.device, "large").code() == StatusCode::Unavailable);
}

TEST_CASE("a failure is told to all who wait, and tried again by the next") {
  StubRuntime stub;
  stub.compiler.failure = unsupported("cannot do that").atStage("lower");
  Result<Obtained> failed = stub.runtime->entries().obtain(*stubProblem("*"), kTarget);
  CHECK(failed.status().code() == StatusCode::Unsupported);
  CHECK(failed.status().stage() == "lower");
  stub.compiler.failure = okStatus();
  CHECK(stub.runtime->entries().obtain(*stubProblem("*"), kTarget).ok());
}

TEST_CASE("what a compiler notes of a kernel is one warning, and no failure") {
  StubRuntime stub;
  stub.compiler.note = "loops have 2 stages at most";
  std::shared_ptr<const Problem> problem = stubProblem("*");
  for (int i = 0; i < 2; ++i) {
    REQUIRE(stub.runtime->entries().obtain(*problem, kTarget).ok());
  }
  REQUIRE(stub.lines.lines().size() == 1);
  CHECK(stub.lines.lines().front().ends_with(problem->label + ": loops have 2 stages at most"));
}

TEST_CASE("an exception leaves nobody waiting: whoever waited for the kernel makes it") {
  StubRuntime stub;
  std::promise<void> begun, mayGoOn;
  stub.compiler.onCompile = [&](const Description &) {
    if (stub.compiler.numCompilations == 1) {
      begun.set_value();
      mayGoOn.get_future().wait();
      throw std::runtime_error("out of luck");
    }
  };
  auto get = [&] { return stub.runtime->kernel(stub.device, stubProblem("*")); };
  std::future<Result<std::shared_ptr<const Kernel>>> first = std::async(std::launch::async, get);
  begun.get_future().wait();
  std::future<Result<std::shared_ptr<const Kernel>>> second = std::async(std::launch::async, get);
  CHECK(second.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  mayGoOn.set_value();
  CHECK_THROWS_WITH((void)first.get(), "out of luck");
  CHECK(second.get().ok());
  CHECK(stub.compiler.numCompilations == 2);
}

TEST_CASE("what a compiler gives is checked before it is kept") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  SUBCASE("nothing") { stub.compiler.code = {}; }
  SUBCASE("garbage") { stub.compiler.code = {'g', 'a', 'r', 'b', 'a', 'g', 'e'}; }
  SUBCASE("cut off after two bytes") { stub.compiler.code = {0x7f, 'E'}; }
  SUBCASE("cut in half") { stub.compiler.code.resize(stub.compiler.code.size() / 2); }
  SUBCASE("cut by a byte") { stub.compiler.code.pop_back(); }
  Result<Obtained> obtained = stub.runtime->entries().obtain(*stubProblem("*"), kTarget);
  REQUIRE_FALSE(obtained.ok());
  CHECK(obtained.status().code() == StatusCode::Internal);
  CHECK(stub.runtime->entries().disk()->list(false).empty());
}

TEST_CASE("stored code that the device refuses is compiled again, once, and the store is healed") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  const std::vector<uint8_t> good = stub.compiler.code, bad = sampleElf("what no device takes");
  stub.compiler.code = bad;
  REQUIRE(stub.runtime->entries().obtain(*stubProblem("*"), kTarget).ok());
  stub.compiler.code = good;
  stub.restart(folder.path("store"));
  stub.device->refuses = bad;
  SUBCASE("asked for by one") { REQUIRE(stub.runtime->kernel(stub.device, stubProblem("*")).ok()); }
  SUBCASE("asked for by many") {
    std::atomic<int> numGood = 0;
    together(16, [&](int) { numGood += stub.runtime->kernel(stub.device, stubProblem("*")).ok(); });
    CHECK(numGood == 16);
  }
  CHECK(stub.compiler.numCompilations == 2);
  REQUIRE(stub.lines.lines().size() == 1);
  CHECK(stub.lines.lines()[0].find("the device refuses it") != std::string::npos);
  stub.restart(folder.path("store"));
  REQUIRE(stub.runtime->kernel(stub.device, stubProblem("*")).ok());
  CHECK(stub.compiler.numCompilations == 2);
}

TEST_CASE("code of a bundle that the device refuses is compiled, and then served by the store") {
  TemporaryFolder folder;
  StubRuntime stub;
  const std::vector<uint8_t> good = stub.compiler.code, bad = sampleElf("what no device takes");
  stub.compiler.code = bad;
  std::vector<Entry> entries = {*stub.runtime->entries().obtain(*stubProblem("*"), kTarget)->entry};
  REQUIRE(Bundle::write(folder.path("bundle"), entries).ok());
  stub.compiler.code = good;
  stub.device->refuses = bad;
  for (int run = 0; run < 2; ++run) {
    RuntimeOptions options;
    options.storeFolder = folder.path("store");
    options.bundles = {folder.path("bundle")};
    options.compiler = &stub.compiler;
    options.jobs = 1;
    stub.runtime = *Runtime::create(std::move(options));
    REQUIRE(stub.runtime->kernel(stub.device, stubProblem("*")).ok());
    CHECK(stub.compiler.numCompilations == 2);
  }
}

TEST_CASE("a device that refuses all code costs one compilation a kernel, and the store keeps what is good") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  REQUIRE(stub.runtime->kernel(stub.device, stubProblem("*")).ok());
  stub.restart(folder.path("store"));
  stub.device->refuses = stub.compiler.code;
  for (int i = 0; i < 3; ++i) {
    Result<std::shared_ptr<const Kernel>> refused = stub.runtime->kernel(stub.device, stubProblem("*"));
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().code() == StatusCode::Unsupported);
    CHECK(refused.status().stage() == "load");
  }
  CHECK(stub.compiler.numCompilations == 2);
  CHECK(stub.runtime->entries().disk()->find(*stub.runtime->entries().keyOf(*stubProblem("*"), kTarget)));
}

TEST_CASE("without a compiler the store keeps what the device refuses") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  REQUIRE(stub.runtime->kernel(stub.device, stubProblem("*")).ok());
  stub.compiler.noAssembler = true;
  stub.restart(folder.path("store"));
  stub.device->refuses = stub.compiler.code;
  CHECK(stub.runtime->kernel(stub.device, stubProblem("*")).status().code() == StatusCode::Unsupported);
  CHECK(stub.runtime->entries().disk()->list(false).size() == 1);
}

TEST_CASE("a damaged entry is compiled again, with one log line") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  REQUIRE(stub.runtime->entries().obtain(*stubProblem("*"), kTarget).ok());
  std::string name = stub.runtime->entries().keyOf(*stubProblem("*"), kTarget)->name();
  std::filesystem::resize_file(folder.path("store/" + name + ".jitk"), 60);
  stub.restart(folder.path("store"));
  CHECK(stub.runtime->entries().obtain(*stubProblem("*"), kTarget)->tier == Tier::Compiled);
  CHECK(stub.lines.lines().size() == 1);
  stub.restart(folder.path("store"));
  CHECK(stub.runtime->entries().obtain(*stubProblem("*"), kTarget)->tier == Tier::Disk);
}

TEST_CASE("a store that cannot be had costs one warning, and kernels stay in memory") {
  StubRuntime stub("/proc/nowhere/store");
  REQUIRE(stub.lines.lines().size() == 1);
  CHECK(stub.lines.lines()[0].starts_with("warning: store: store folder cannot be created: /proc/nowhere/store"));
  CHECK(stub.runtime->entries().obtain(*stubProblem("*"), kTarget)->tier == Tier::Compiled);
  CHECK(stub.runtime->entries().obtain(*stubProblem("*"), kTarget)->tier == Tier::Memory);
  CHECK(stub.lines.lines().size() == 1);
}

TEST_CASE("no place for a store is one warning too") {
  LogLines lines;
  RuntimeOptions options;
  options.logSink = lines.sink();
  options.jobs = 1;
  std::shared_ptr<Runtime> runtime = *Runtime::create(std::move(options));
  CHECK(lines.lines() == std::vector<std::string>{"warning: store: no folder for the store: HOME, XDG_CACHE_HOME and "
                                                  "JITK_STORE are not set; kernels stay in memory"});
}

TEST_CASE("without a compiler library the store still serves") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  REQUIRE(stub.runtime->entries().obtain(*stubProblem("*"), kTarget).ok());

  RuntimeOptions options;
  options.storeFolder = folder.path("store");
  options.compilerLibrary = "/nowhere/libjitk-compiler.so";
  options.buildId = "stub build";
  options.jobs = 1;
  std::shared_ptr<Runtime> sealedImage = *Runtime::create(std::move(options));
  Result<Obtained> found = sealedImage->entries().obtain(*stubProblem("*"), kTarget);
  REQUIRE(found.ok());
  CHECK(found->tier == Tier::Disk);
  Result<Obtained> missing = sealedImage->entries().obtain(*stubProblem("*", 128), kTarget);
  CHECK(missing.status().code() == StatusCode::Unavailable);
  CHECK(missing.status().toString().find("/nowhere/libjitk-compiler.so") != std::string::npos);
  CHECK(missing.status().toString().find("and the store has no kernel for stub") != std::string::npos);
}

TEST_CASE("a bundle serves before the disk, with a compiler or without") {
  TemporaryFolder folder;
  StubRuntime stub;
  std::vector<Entry> entries = {*stub.runtime->entries().obtain(*stubProblem("*"), kTarget)->entry};
  REQUIRE(Bundle::write(folder.path("bundle"), entries).ok());

  RuntimeOptions options;
  options.storeFolder = folder.path("store");
  options.bundles = {folder.path("bundle")};
  options.jobs = 1;
  SUBCASE("with") { options.compiler = &stub.compiler; }
  SUBCASE("without") {
    options.compilerLibrary = "/nowhere/libjitk-compiler.so";
    options.buildId = stub.compiler.buildId();
  }
  std::shared_ptr<Runtime> runtime = *Runtime::create(std::move(options));
  Result<Obtained> found = runtime->entries().obtain(*stubProblem("*"), kTarget);
  REQUIRE(found.ok());
  CHECK(found->tier == Tier::Bundle);
  CHECK(stub.compiler.numCompilations == 1);
}

TEST_CASE("a bundle that cannot be opened is told at once") {
  RuntimeOptions options;
  options.storeFolder = "";
  options.bundles = {"/nowhere/bundle"};
  CHECK(Runtime::create(std::move(options)).status().code() == StatusCode::Unavailable);
}

TEST_CASE("without an assembler the store still serves") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  REQUIRE(stub.runtime->entries().obtain(*stubProblem("*"), kTarget).ok());
  stub.compiler.noAssembler = true;
  stub.restart(folder.path("store"));
  CHECK(stub.runtime->entries().obtain(*stubProblem("*"), kTarget)->tier == Tier::Disk);
  Result<Obtained> missing = stub.runtime->entries().obtain(*stubProblem("*", 128), kTarget);
  CHECK(missing.status().toString().starts_with("no assembler was found"));
}

TEST_CASE("a kernel that nobody holds is unloaded, and loaded again when asked for") {
  StubRuntime stub;
  REQUIRE(stub.runtime->kernel(stub.device, stubProblem("*")).ok());
  CHECK(stub.device->record->numUnloads == 1);
  Tier tier = Tier::None;
  Result<std::shared_ptr<const Kernel>> held =
      stub.runtime->kernel(stub.device, stubProblem("*"), Cause::Requested, &tier);
  CHECK(tier == Tier::Memory);
  REQUIRE(stub.runtime->kernel(stub.device, stubProblem("*"), Cause::Requested, &tier).ok());
  CHECK(tier == Tier::Loaded);
  CHECK(stub.device->record->numLoads == 2);
}

TEST_CASE("two devices of one target share code and have kernels of their own") {
  StubRuntime stub;
  auto second = std::make_shared<StubDevice>(kTarget);
  Result<std::shared_ptr<const Kernel>> one = stub.runtime->kernel(stub.device, stubProblem("*"));
  Result<std::shared_ptr<const Kernel>> two = stub.runtime->kernel(second, stubProblem("*"));
  CHECK((*one)->device() == stub.device);
  CHECK((*two)->device() == second);
  CHECK(&(*one)->entry() == &(*two)->entry());
  CHECK(stub.compiler.numCompilations == 1);
}

TEST_SUITE_END();
