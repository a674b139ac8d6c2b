// Problems that come to the same kernel: it is compiled once.

#include "src/runtime/Plan.h"
#include "src/runtime/Reproducer.h"
#include "tests/unit/runtime/Stub.h"

#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <latch>
#include <map>
#include <set>
#include <thread>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("runtime/SameProgram");

namespace {

/// A compiler for which the bound of m does not matter.
struct BoundlessRuntime : StubRuntime {
  explicit BoundlessRuntime(std::string folder = "") : StubRuntime(std::move(folder)) {
    compiler.digest = [](const Description &description) {
      return "n is " + std::to_string(description.dimension("n").value);
    };
  }
};

constexpr const char *kBounds[] = {"*", "*<=16", "*<=32", "*<=64", "*<=128", "*<=256", "*<=512", "*<=1024"};

/// How many kernels of a preparation came from where.
std::map<Tier, int> prepare(Plan &plan, PrepareOptions options) {
  std::map<Tier, int> tiers;
  options.progress = [&](const Progress &progress) { ++tiers[progress.tier]; };
  REQUIRE(plan.prepare(std::move(options)).ok());
  (void)plan.wait(std::nullopt);
  return tiers;
}

} // namespace

TEST_CASE("two problems of one program share a compilation, and each keeps an entry") {
  TemporaryFolder folder;
  BoundlessRuntime stub(folder.path("store"));
  EntrySource &entries = stub.runtime->entries();
  Result<Obtained> first = entries.obtain(*stubProblem("*<=16"), kTarget);
  Result<Obtained> second = entries.obtain(*stubProblem("*<=32"), kTarget);
  REQUIRE(second.ok());
  CHECK(first->tier == Tier::Compiled);
  CHECK(second->tier == Tier::Equal);
  CHECK(stub.compiler.numCompilations == 1);
  CHECK(stub.runtime->counters().compilations == 1);
  CHECK(stub.runtime->counters().kernels[static_cast<size_t>(Tier::Equal)] == 1);
  CHECK(second->entry->key == *entries.keyOf(*stubProblem("*<=32"), kTarget));
  CHECK(second->entry->code == first->entry->code);
  CHECK(second->entry->recipe == first->entry->recipe);
  // The next process finds both.
  stub.restart(folder.path("store"));
  CHECK(stub.runtime->entries().obtain(*stubProblem("*<=32"), kTarget)->tier == Tier::Disk);
  CHECK(stub.runtime->entries().obtain(*stubProblem("*<=16"), kTarget)->tier == Tier::Disk);
}

TEST_CASE("what another process compiled of a program is not compiled again, and takes no second place") {
  TemporaryFolder folder;
  BoundlessRuntime stub(folder.path("store"));
  REQUIRE(stub.runtime->entries().obtain(*stubProblem("*<=16"), kTarget)->tier == Tier::Compiled);
  stub.restart(folder.path("store"));
  EntrySource &entries = stub.runtime->entries();
  Result<Obtained> second = entries.obtain(*stubProblem("*<=32"), kTarget);
  REQUIRE(second.ok());
  CHECK(second->tier == Tier::Equal);
  CHECK(second->entry->key == *entries.keyOf(*stubProblem("*<=32"), kTarget));
  CHECK(stub.compiler.numCompilations == 1);
  CHECK(entries.obtain(*stubProblem("*<=32", 65), kTarget)->tier == Tier::Compiled);
  size_t numReferences = 0;
  for (const auto &file : std::filesystem::directory_iterator(folder.path("store"))) {
    std::ifstream stream(file.path(), std::ios::binary);
    std::vector<uint8_t> bytes = {std::istreambuf_iterator<char>(stream), {}};
    Result<Entry> entry = Entry::deserialize(bytes);
    numReferences += entry.ok() && entry->isReference();
  }
  CHECK(numReferences == 1);
  stub.restart(folder.path("store"));
  CHECK(stub.runtime->entries().obtain(*stubProblem("*<=32"), kTarget)->tier == Tier::Disk);
}

TEST_CASE("processes that are asked for problems of one program at a time compile it once") {
  TemporaryFolder folder;
  std::vector<std::unique_ptr<BoundlessRuntime>> stubs;
  for (size_t i = 0; i < std::size(kBounds); ++i) {
    stubs.push_back(std::make_unique<BoundlessRuntime>(folder.path("store")));
  }
  std::latch start(std::ssize(stubs));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < stubs.size(); ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      (void)stubs[i]->runtime->entries().obtain(*stubProblem(kBounds[i]), kTarget);
    });
  }
  int numCompilations = 0;
  for (size_t i = 0; i < stubs.size(); ++i) {
    threads[i].join();
    numCompilations += stubs[i]->compiler.numCompilations;
  }
  CHECK(numCompilations == 1);
}

TEST_CASE("another program, another target and another assembler are compiled") {
  BoundlessRuntime stub;
  EntrySource &entries = stub.runtime->entries();
  REQUIRE(entries.obtain(*stubProblem("*<=16"), kTarget).ok());
  CHECK(entries.obtain(*stubProblem("*<=32", 65), kTarget)->tier == Tier::Compiled);
  CHECK(entries.obtain(*stubProblem("*<=32"), Target{Target::Kind::Cuda, 90, false})->tier == Tier::Compiled);
  CHECK(*entries.programOf(*stubProblem("*<=16"), kTarget) == *entries.programOf(*stubProblem("*<=32"), kTarget));
  std::string before = *entries.programOf(*stubProblem("*"), kTarget);
  stub.compiler.assembler = "stub assembler 2";
  stub.restart("");
  CHECK(*stub.runtime->entries().programOf(*stubProblem("*"), kTarget) != before);
}

TEST_CASE("a compiler that outran its limit over a program is not asked for the kernel too") {
  BoundlessRuntime stub;
  stub.compiler.digestOutruns = true;
  Result<Obtained> obtained = stub.runtime->entries().obtain(*stubProblem("*<=16"), kTarget);
  CHECK(obtained.status().code() == StatusCode::DeadlineExceeded);
  CHECK(obtained.status().toString().find("; while compiling stub m=*<=16") != std::string::npos);
  CHECK(stub.compiler.numDigests == 1);

  Plan plan(stub.runtime);
  REQUIRE(plan.add({{stubProblem("*<=16"), 0}, {stubProblem("*<=32"), 0}}).ok());
  PrepareOptions options;
  options.target = kTarget;
  REQUIRE(plan.prepare(std::move(options)).ok());
  CHECK(plan.wait(std::nullopt).code() == StatusCode::DeadlineExceeded);
  CHECK(stub.compiler.numDigests == 3);
  CHECK(stub.compiler.numCompilations == 0);
}

TEST_CASE("nor is it for a reproducer") {
  TemporaryFolder folder;
  StubCompiler compiler;
  Status outran = Status(StatusCode::DeadlineExceeded, "outran").atStage("compile");
  CHECK(writeReproducer(folder.path("r"), *stubProblem("*"), kTarget, outran, compiler).ok());
  CHECK(compiler.numReproductions == 0);
  // An assembler's limit is another matter.
  outran = Status(StatusCode::DeadlineExceeded, "outran").atStage("assemble");
  CHECK(writeReproducer(folder.path("r"), *stubProblem("*"), kTarget, outran, compiler).ok());
  CHECK(compiler.numReproductions == 1);
}

TEST_CASE("problems of which no program is known are compiled each for itself") {
  StubRuntime stub;
  EntrySource &entries = stub.runtime->entries();
  CHECK(entries.obtain(*stubProblem("*<=16"), kTarget)->tier == Tier::Compiled);
  CHECK(entries.obtain(*stubProblem("*<=32"), kTarget)->tier == Tier::Compiled);
}

TEST_CASE("threads that want problems of one program at the same time compile it once") {
  BoundlessRuntime stub;
  std::latch start(std::size(kBounds));
  std::atomic<int> numCompiled = 0, numEqual = 0;
  std::vector<std::thread> threads;
  for (const char *bound : kBounds) {
    threads.emplace_back([&, bound] {
      start.arrive_and_wait();
      Result<Obtained> obtained = stub.runtime->entries().obtain(*stubProblem(bound), kTarget);
      numCompiled += obtained.ok() && obtained->tier == Tier::Compiled;
      numEqual += obtained.ok() && obtained->tier == Tier::Equal;
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  CHECK(numCompiled == 1);
  CHECK(numEqual == int(std::size(kBounds)) - 1);
  CHECK(stub.compiler.numCompilations == 1);
}

TEST_CASE("a plan compiles each program once and loads each problem") {
  TemporaryFolder folder;
  BoundlessRuntime stub(folder.path("store"));
  Plan plan(stub.runtime);
  for (int n : {1, 2, 3}) {
    for (const char *bound : kBounds) {
      REQUIRE(plan.add({{stubProblem(bound, n), 0}}).ok());
    }
  }
  PrepareOptions options;
  options.device = stub.device;
  std::map<Tier, int> tiers = prepare(plan, options);
  CHECK(tiers == std::map<Tier, int>{{Tier::Compiled, 3}, {Tier::Equal, 21}});
  CHECK(stub.compiler.numCompilations == 3);
  CHECK(stub.device->record->numLoads == 24);
  CHECK(stub.runtime->entries().disk()->list(false).size() == 24);
  CHECK(plan.trace()->find("\"tier\": \"equal\"") != std::string::npos);
}

TEST_CASE("16,384 sizes that come to 20 kernels compile 20") {
  constexpr int64_t kSizes = 16'384, kKernels = 20;
  auto kernelOf = [](int64_t size) { return (size - 1) * kKernels / kSizes; };
  StubRuntime stub;
  stub.compiler.digest = [&](const Description &description) {
    return "kernel " + std::to_string(kernelOf(description.dimension("m").bound));
  };
  Plan plan(stub.runtime), buckets(stub.runtime);
  for (int64_t size = 1; size <= kSizes; ++size) {
    // Of each kernel the largest size that it is for.
    int64_t bucket = size;
    while (bucket < kSizes && kernelOf(bucket + 1) == kernelOf(size)) {
      ++bucket;
    }
    REQUIRE(buckets.add({{stubProblem("*<=" + std::to_string(bucket)), 0}}).ok());
    REQUIRE(plan.add({{stubProblem("*<=" + std::to_string(size)), 0}}).ok());
  }
  CHECK(plan.items().size() == kSizes);
  PrepareOptions onDevice;
  onDevice.device = stub.device;
  std::map<Tier, int> tiers = prepare(plan, onDevice);
  CHECK(plan.wait(std::nullopt).ok());
  CHECK(stub.compiler.numCompilations == kKernels);
  CHECK(tiers == std::map<Tier, int>{{Tier::Compiled, kKernels}, {Tier::Equal, kSizes - kKernels}});

  // An engine that asks for the bucket of each size has as many kernels as buckets.
  CHECK(buckets.items().size() == kKernels);
  stub.restart("");
  Plan again(stub.runtime);
  REQUIRE(again.add(buckets.items()).ok());
  stub.compiler.numCompilations = 0;
  tiers = prepare(again, onDevice);
  CHECK(tiers == std::map<Tier, int>{{Tier::Compiled, kKernels}});
  CHECK(stub.compiler.numCompilations == kKernels);
}

TEST_CASE("what waits for another's compilation holds no worker") {
  BoundlessRuntime stub; // with four workers
  Plan plan(stub.runtime);
  for (const char *bound : kBounds) {
    REQUIRE(plan.add({{stubProblem(bound, 1), 0}}).ok());
  }
  REQUIRE(plan.add({{stubProblem("*", 2), 0}, {stubProblem("*", 3), 0}}).ok());
  // The first program is ready only after the last two, which come behind all that wait for it.
  std::latch others(2);
  stub.compiler.onCompile = [&](const Description &description) {
    if (description.dimension("n").value == 1) {
      others.wait();
    } else {
      others.count_down();
    }
  };
  PrepareOptions options;
  options.device = stub.device;
  CHECK(prepare(plan, options) == std::map<Tier, int>{{Tier::Compiled, 3}, {Tier::Equal, 7}});
}

TEST_CASE("what waited is begun before what was not begun yet") {
  BoundlessRuntime stub;
  RuntimeOptions given;
  given.compiler = &stub.compiler;
  given.storeFolder = "";
  given.jobs = 2;
  stub.runtime = *Runtime::create(std::move(given));
  Plan plan(stub.runtime);
  for (auto [bound, n] : {std::pair("*", 1), {"*<=64", 1}, {"*<=32", 2}, {"*<=32", 3}, {"*<=32", 4}}) {
    REQUIRE(plan.add({{stubProblem(bound, n), 0}}).ok());
  }
  // The first is ready once the third is begun, which ends when the second has.
  std::latch third(1), second(1);
  stub.compiler.onCompile = [&](const Description &description) {
    int64_t n = description.dimension("n").value;
    if (n == 1) {
      third.wait();
    }
    if (n == 2) {
      third.count_down();
      second.wait();
    }
  };
  std::vector<std::string> order;
  PrepareOptions options;
  options.target = kTarget;
  options.progress = [&](const Progress &progress) {
    order.push_back(progress.problem.text);
    if (order.size() == 2) {
      second.count_down();
    }
  };
  REQUIRE(plan.prepare(std::move(options)).ok());
  REQUIRE(plan.wait(std::nullopt).ok());
  // Two workers begin them at once: either may compile, and the other wait.
  const std::set<std::string> both = {stubProblem("*", 1)->text, stubProblem("*<=64", 1)->text};
  CHECK(std::set<std::string>(order.begin(), order.begin() + 2) == both);
}

TEST_CASE("where a program does not compile, each of its problems fails in its own name") {
  BoundlessRuntime stub;
  stub.compiler.onCompile = [&](const Description &description) {
    stub.compiler.failure = unsupported("no kernel for " + description.toString());
  };
  RuntimeOptions given;
  given.compiler = &stub.compiler;
  given.storeFolder = "";
  given.jobs = 1; // the failure above is no thread's own
  stub.runtime = *Runtime::create(std::move(given));
  Plan plan(stub.runtime);
  std::set<std::string> failures;
  for (const char *bound : kBounds) {
    REQUIRE(plan.add({{stubProblem(bound), 0}}).ok());
  }
  PrepareOptions options;
  options.target = kTarget;
  options.progress = [&](const Progress &progress) {
    CHECK(progress.status.toString().find(progress.problem.text) != std::string::npos);
    failures.insert(progress.status.toString());
  };
  REQUIRE(plan.prepare(std::move(options)).ok());
  CHECK(plan.wait(std::nullopt).code() == StatusCode::Unsupported);
  CHECK(failures.size() == std::size(kBounds));
}

TEST_CASE("cancelling a preparation ends what waits in it") {
  BoundlessRuntime stub;
  Plan plan(stub.runtime);
  for (const char *bound : kBounds) {
    REQUIRE(plan.add({{stubProblem(bound), 0}}).ok());
  }
  std::latch begun(1), cancelled(1);
  stub.compiler.onCompile = [&](const Description &) {
    begun.count_down();
    cancelled.wait();
  };
  std::atomic<int> numCancelled = 0;
  PrepareOptions options;
  options.target = kTarget;
  options.progress = [&](const Progress &progress) { numCancelled += progress.status.code() == StatusCode::Cancelled; };
  REQUIRE(plan.prepare(std::move(options)).ok());
  begun.wait();
  plan.cancel();
  cancelled.count_down();
  CHECK(plan.wait(std::nullopt).code() == StatusCode::Cancelled);
  CHECK(numCancelled == int(std::size(kBounds)) - 1);
  CHECK(stub.compiler.numCompilations == 1);
}

TEST_CASE("what is stored, and what has no relatives in the plan, is not asked for its program ahead") {
  TemporaryFolder folder;
  BoundlessRuntime stub(folder.path("store"));
  {
    Plan plan(stub.runtime);
    REQUIRE(plan.add({{stubProblem("*<=16", 1), 0}, {stubProblem("*<=16", 2), 0}}).ok());
    PrepareOptions options;
    options.device = stub.device;
    (void)prepare(plan, options);
    CHECK(stub.compiler.numDigests == 2); // once each, when it is compiled
  }
  stub.restart(folder.path("store"));
  Plan plan(stub.runtime);
  REQUIRE(plan.add({{stubProblem("*<=16", 1), 0}, {stubProblem("*<=16", 2), 0}}).ok());
  PrepareOptions options;
  options.device = stub.device;
  CHECK(prepare(plan, options) == std::map<Tier, int>{{Tier::Disk, 2}});
  CHECK(stub.compiler.numDigests == 2);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("runtime/WeakMap");

TEST_CASE("a weak map finds what is alive, and forgets what has died") {
  WeakMap<int, const int> map;
  std::vector<std::shared_ptr<const int>> alive;
  for (int i = 0; i < 100'000; ++i) {
    auto value = std::make_shared<const int>(i);
    map.add(i, value);
    CHECK(map.find(i) == value);
    if (i < 100) {
      alive.push_back(std::move(value));
    }
    REQUIRE(map.size() <= 2 * 100 + 2);
  }
  CHECK(*map.find(99) == 99);
  CHECK(map.find(100) == nullptr);
  CHECK(map.find(-1) == nullptr);
}

TEST_SUITE_END();
