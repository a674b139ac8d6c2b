#include "src/runtime/Plan.h"

#include "src/runtime/PlanFile.h"
#include "src/runtime/StandIn.h"
#include "tests/unit/runtime/Stub.h"

#include <atomic>
#include <doctest/doctest.h>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("runtime/Plan");

namespace {

/// Progress records, copied.
struct Seen {
  size_t done, total;
  std::string problem;
  StatusCode code;
  Tier tier;
};

PrepareOptions onDevice(StubRuntime &stub, std::vector<Seen> *seen = nullptr) {
  PrepareOptions options;
  options.device = stub.device;
  if (seen) {
    options.progress = [seen](const Progress &progress) {
      seen->push_back({progress.done, progress.total, progress.problem.text, progress.status.code(), progress.tier});
    };
  }
  return options;
}

/// A runtime whose one worker notes the n of each problem that it compiles.
struct OneWorker : StubRuntime {
  OneWorker() {
    RuntimeOptions options;
    options.storeFolder = "";
    options.compiler = &compiler;
    options.jobs = 1;
    runtime = *Runtime::create(std::move(options));
    compiler.onCompile = [this](const Description &description) { order.push_back(description.dimension("n").value); };
  }

  std::vector<int64_t> order;
};

} // namespace

TEST_CASE("a general kernel has the description that a user would give of it") {
  for (const char *line :
       {"gated_delta_rule tokens=64 qk_heads=2 key_dim=64",
        "gated_delta_rule tokens=64 qk_heads=2 key_dim=64 state_pool=true slots=7",
        "flash_attention heads=4 seq_q=64 head_dim=64 causal=true window_right=3",
        "flash_attention heads=4 seq_q=64 total_q=99 head_dim=64 packed=true", "matmul m=8 n=16 k=32"}) {
    CAPTURE(line);
    const Description general = generalize(*parseDescription(line));
    CHECK(*parseDescription(general.toString()) == general);
  }
  CHECK_FALSE(generalize(*parseDescription("gated_delta_rule tokens=64 qk_heads=2 key_dim=64 state_pool=true slots=7"))
                  .dimension("slots")
                  .isStatic());
}

TEST_CASE("equal problems are prepared once") {
  StubRuntime stub;
  Plan plan(stub.runtime);
  REQUIRE(plan.add({{stubProblem("*"), 0}, {stubProblem("*"), 3}, {stubProblem("*<=64"), 0}}).ok());
  REQUIRE(plan.add({{stubProblem("*"), 1}}).ok());
  REQUIRE(plan.items().size() == 2);
  CHECK(plan.items()[0].priority == 3);
  REQUIRE(plan.prepare(onDevice(stub)).ok());
  REQUIRE(plan.wait(std::nullopt).ok());
  CHECK(stub.compiler.numCompilations == 2);
}

TEST_CASE("each problem is reported once, in the order of finishing") {
  StubRuntime stub;
  Plan plan(stub.runtime);
  for (int n = 1; n <= 20; ++n) {
    REQUIRE(plan.add({{stubProblem("*", n), 0}}).ok());
  }
  std::vector<Seen> seen;
  REQUIRE(plan.prepare(onDevice(stub, &seen)).ok());
  REQUIRE(plan.wait(std::nullopt).ok());
  REQUIRE(seen.size() == 20);
  for (size_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i].done == i + 1);
    CHECK(seen[i].total == 20);
    CHECK(seen[i].tier == Tier::Compiled);
  }
}

TEST_CASE("a sealed plan looks up, and has nothing else to offer") {
  StubRuntime stub;
  Plan plan(stub.runtime);
  REQUIRE(plan.add({{stubProblem("*"), 0}}).ok());
  REQUIRE(plan.prepare(onDevice(stub)).ok());
  REQUIRE(plan.seal().ok());
  REQUIRE(plan.seal().ok());
  CHECK(plan.kernel(stub.device, stubProblem("*")).ok());

  Result<Served> missing = plan.kernel(stub.device, stubProblem("*<=64"));
  CHECK(missing.status().code() == StatusCode::NotPrepared);
  CHECK(missing.status().toString() == "plan is sealed and has no kernel for stub m=*<=64 n=64 on sm_90a");
  auto other = std::make_shared<StubDevice>(kTarget);
  CHECK(plan.kernel(other, stubProblem("*")).status().code() == StatusCode::NotPrepared);
  CHECK(plan.add({{stubProblem("*"), 0}}).code() == StatusCode::InvalidArgument);
  CHECK(plan.prepare(onDevice(stub)).code() == StatusCode::InvalidArgument);
  CHECK(stub.compiler.numCompilations == 1);
  CHECK(stub.device->record->numLoads == 1);
}

TEST_CASE("a plan that is not sealed compiles what is missing, and keeps it") {
  StubRuntime stub;
  Plan plan(stub.runtime);
  REQUIRE(plan.kernel(stub.device, stubProblem("*")).ok());
  REQUIRE(plan.seal().ok());
  CHECK(plan.kernel(stub.device, stubProblem("*")).ok());
  CHECK(stub.device->record->numUnloads == 0);
}

TEST_CASE("without a device a preparation fills the store") {
  TemporaryFolder folder;
  StubRuntime stub(folder.path("store"));
  Plan plan(stub.runtime);
  REQUIRE(plan.add({{stubProblem("*"), 0}}).ok());
  PrepareOptions options;
  options.target = kTarget;
  REQUIRE(plan.prepare(std::move(options)).ok());
  REQUIRE(plan.wait(std::nullopt).ok());
  CHECK(stub.runtime->entries().disk()->list(false).size() == 1);
  CHECK(stub.device->record->numLoads == 0);
}

TEST_CASE("the first failure is what waiting reports, and the others go on") {
  StubRuntime stub;
  stub.compiler.failure = unsupported("cannot do that");
  Plan plan(stub.runtime);
  REQUIRE(plan.add({{stubProblem("*", 1), 0}, {stubProblem("*", 2), 0}}).ok());
  std::vector<Seen> seen;
  REQUIRE(plan.prepare(onDevice(stub, &seen)).ok());
  CHECK(plan.wait(std::nullopt).code() == StatusCode::Unsupported);
  CHECK(seen.size() == 2);
  CHECK(stub.compiler.numCompilations == 2);
}

TEST_CASE("an exception in a compiler is a failure of one kernel") {
  StubRuntime stub;
  stub.compiler.onCompile = [](const Description &) { throw std::runtime_error("surprise"); };
  Plan plan(stub.runtime);
  REQUIRE(plan.add({{stubProblem("*"), 0}}).ok());
  REQUIRE(plan.prepare(onDevice(stub)).ok());
  Status status = plan.wait(std::nullopt);
  CHECK(status.code() == StatusCode::Internal);
  CHECK(status.toString().find("surprise") != std::string::npos);
}

TEST_CASE("a cancelled preparation finishes what it began, and begins nothing") {
  StubRuntime stub;
  std::promise<void> begun, go;
  std::shared_future<void> goes = go.get_future().share();
  std::atomic<int> numBegun = 0;
  stub.compiler.onCompile = [&](const Description &) {
    if (++numBegun == 4) { // all four workers are busy
      begun.set_value();
    }
    goes.wait();
  };
  Plan plan(stub.runtime);
  for (int n = 1; n <= 20; ++n) {
    REQUIRE(plan.add({{stubProblem("*", n), 0}}).ok());
  }
  std::vector<Seen> seen;
  REQUIRE(plan.prepare(onDevice(stub, &seen)).ok());
  begun.get_future().wait();
  CHECK(plan.add({{stubProblem("*"), 0}}).code() == StatusCode::InvalidArgument);
  CHECK(plan.wait(std::chrono::milliseconds(1)).code() == StatusCode::DeadlineExceeded);
  plan.cancel();
  go.set_value();
  CHECK(plan.wait(std::nullopt).code() == StatusCode::Cancelled);
  CHECK(seen.size() == 20);
  CHECK(numBegun == 4);
  // It may be prepared again.
  REQUIRE(plan.prepare(onDevice(stub)).ok());
  CHECK(plan.wait(std::nullopt).ok());
}

TEST_CASE("what a deadline leaves is not begun") {
  StubRuntime stub;
  Plan plan(stub.runtime);
  REQUIRE(plan.add({{stubProblem("*"), 0}}).ok());
  PrepareOptions options = onDevice(stub);
  options.deadline = std::chrono::steady_clock::now();
  REQUIRE(plan.prepare(std::move(options)).ok());
  CHECK(plan.wait(std::nullopt).code() == StatusCode::DeadlineExceeded);
  CHECK(stub.compiler.numCompilations == 0);
}

TEST_CASE("higher priorities are begun first") {
  OneWorker stub;
  Plan plan(stub.runtime);
  REQUIRE(plan.add({{stubProblem("*", 1), 0}, {stubProblem("*", 2), 5}, {stubProblem("*", 3), -1}}).ok());
  REQUIRE(plan.add({{stubProblem("*", 4), 5}}).ok());
  REQUIRE(plan.prepare(onDevice(stub)).ok());
  REQUIRE(plan.wait(std::nullopt).ok());
  CHECK(stub.order == std::vector<int64_t>{2, 4, 1, 3});
}

TEST_CASE("of equal priorities the widest ranges of sizes are begun first") {
  OneWorker stub;
  Plan plan(stub.runtime);
  REQUIRE(plan.add({{stubProblem("*<=16", 1), 0}, {stubProblem("*<=64", 2), 0}, {stubProblem("128", 3), 0}}).ok());
  REQUIRE(plan.add({{stubProblem("*", 4), 0}, {stubProblem("*<=64", 5), 0}, {stubProblem("*<=16", 6), 1}}).ok());
  REQUIRE(plan.prepare(onDevice(stub)).ok());
  REQUIRE(plan.wait(std::nullopt).ok());
  CHECK(stub.order == std::vector<int64_t>{6, 4, 2, 5, 1, 3});
}

TEST_CASE("a plan that dies cancels and waits") {
  StubRuntime stub;
  {
    Plan plan(stub.runtime);
    for (int n = 1; n <= 50; ++n) {
      REQUIRE(plan.add({{stubProblem("*", n), 0}}).ok());
    }
    REQUIRE(plan.prepare(onDevice(stub)).ok());
  }
  CHECK(stub.compiler.numCompilations <= 50);
}

// --- one kernel of a preparation

TEST_CASE("each kernel of a preparation can be waited for") {
  StubRuntime stub;
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  stub.compiler.onCompile = [&](const Description &description) {
    if (description.dimension("n").value == 2) {
      gone.wait();
    }
    if (description.dimension("n").value == 3) {
      throw std::runtime_error("bad luck");
    }
  };
  Plan plan(stub.runtime);
  CHECK(plan.wait(*stubProblem("*", 1), std::nullopt).code() == StatusCode::InvalidArgument);
  REQUIRE(plan.add({{stubProblem("*", 1), 0}, {stubProblem("*", 2), 0}, {stubProblem("*", 3), 0}}).ok());
  REQUIRE(plan.prepare(onDevice(stub)).ok());
  CHECK(plan.wait(*stubProblem("*", 1), std::nullopt).ok());
  CHECK(plan.wait(*stubProblem("*", 3), std::nullopt).code() == StatusCode::Internal);
  CHECK(plan.wait(*stubProblem("*", 2), std::chrono::milliseconds(1)).toString() ==
        "kernel is not ready after 1 ms: stub m=* n=2");
  CHECK(plan.wait(*stubProblem("*", 4), std::nullopt).toString() ==
        "description must be one of the preparation: got stub m=* n=4");
  go.set_value();
  CHECK(plan.wait(*stubProblem("*", 2), std::nullopt).ok());
}

// --- what was not prepared

TEST_CASE("the policy Fail compiles nothing on a miss") {
  StubRuntime stub;
  Plan plan(stub.runtime, {.onMiss = MissPolicy::Fail});
  CHECK(plan.kernel(stub.device, stubProblem("*")).status().toString() ==
        "plan has no kernel for stub m=* n=64 on sm_90a");
  CHECK(stub.compiler.numCompilations == 0);
}

namespace {

/// A plan with the policy Background whose generic kernel is ready, and a compiler that waits.
struct BackgroundPlan {
  explicit BackgroundPlan(PlanOptions options = {.onMiss = MissPolicy::Background}) : plan(stub.runtime, options) {
    REQUIRE(plan.add({{stubProblem("*", 1), 0}}).ok());
    REQUIRE(plan.prepare(onDevice(stub)).ok());
    REQUIRE(plan.wait(std::nullopt).ok());
    stub.compiler.onCompile = [gate = gate.get_future().share()](const Description &) { gate.wait(); };
  }
  ~BackgroundPlan() { open(); }
  void open() {
    if (!std::exchange(opened, true)) {
      gate.set_value();
    }
  }

  StubRuntime stub;
  std::promise<void> gate;
  bool opened = false;
  Plan plan;
};

const uint64_t kTensors[] = {0x1000, 0x2000, 0x3000};

LaunchRequest rows(const int64_t &m) { return {.tensors = kTensors, .dimensions = {&m, 1}, .scalars = {}}; }

} // namespace

TEST_CASE("a generic kernel serves at once, and the problem's own takes over between two launches") {
  BackgroundPlan background;
  Plan &plan = background.plan;
  StubRuntime &stub = background.stub;
  CHECK(stub.compiler.numCompilations == 2); // the planned one and the generic one
  Served served = *plan.kernel(stub.device, stubProblem("*<=512", 48));
  REQUIRE(served.standIn);
  CHECK(served.standIn->dimensions() == std::vector<std::string>{"m"});
  CHECK(served.standIn->current().problem().text == "stub m=* n=*");
  int64_t m = 300;
  REQUIRE(served.standIn->launch(rows(m)).ok());
  // The static n is filled in; what the problem forbids is refused though the generic kernel could do it.
  CHECK(stub.device->record->launches.back().arguments == std::vector<uint64_t>{6, 0x1000, 0x2000, 0x3000, 300, 48});
  int64_t tooLarge = 513;
  CHECK(served.standIn->launch(rows(tooLarge)).toString() == "dimension m must be at most 512: got 513");

  background.open();
  while (&served.standIn->current().problem() != &served.standIn->problem()) {
    std::this_thread::yield();
  }
  REQUIRE(served.standIn->launch(rows(m)).ok());
  CHECK(stub.device->record->launches.back().arguments == std::vector<uint64_t>{5, 0x1000, 0x2000, 0x3000, 300});
  CHECK(served.standIn->launch(rows(tooLarge)).code() == StatusCode::InvalidArgument);
  CHECK(plan.kernel(stub.device, stubProblem("*<=512", 48))->kernel);
  CHECK(stub.compiler.numCompilations == 3);
}

TEST_CASE("a takeover disturbs no launch") {
  BackgroundPlan background;
  Served served = *background.plan.kernel(background.stub.device, stubProblem("*", 48));
  std::atomic<bool> bad = false, replaced = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      int64_t m = 300;
      for (int after = 0; after < 100; after += replaced) {
        bad = bad || !served.standIn->launch(rows(m)).ok();
      }
    });
  }
  background.open();
  while (&served.standIn->current().problem() != &served.standIn->problem()) {
    std::this_thread::yield();
  }
  replaced = true;
  for (std::thread &thread : threads) {
    thread.join();
  }
  CHECK_FALSE(bad);
}

TEST_CASE("a hundred requests for what is made in the background make it once") {
  BackgroundPlan background;
  Served first = *background.plan.kernel(background.stub.device, stubProblem("*", 48));
  for (int i = 0; i < 100; ++i) {
    CHECK(background.plan.kernel(background.stub.device, stubProblem("*", 48))->standIn == first.standIn);
  }
  background.open();
  while (!background.plan.kernel(background.stub.device, stubProblem("*", 48))->kernel) {
    std::this_thread::yield();
  }
  CHECK(background.stub.compiler.numCompilations == 3);
}

TEST_CASE("without a generic kernel the miss fails, and a later request finds what was made") {
  StubRuntime stub;
  stub.compiler.onCompile = [](const Description &description) {
    if (!description.dimension("n").isStatic()) {
      throw std::runtime_error("n must be static");
    }
  };
  Plan plan(stub.runtime, {.onMiss = MissPolicy::Background});
  REQUIRE(plan.add({{stubProblem("*", 1), 0}}).ok());
  std::vector<Seen> seen;
  REQUIRE(plan.prepare(onDevice(stub, &seen)).ok());
  REQUIRE(plan.wait(std::nullopt).ok()); // what was planned is ready
  CHECK(seen.size() == 2);
  CHECK(stub.lines.lines().size() == 1);
  CHECK(plan.kernel(stub.device, stubProblem("*", 48)).status().toString() ==
        "plan has no kernel for stub m=* n=48 on sm_90a; it is made in the background, and there is no generic kernel "
        "stub m=* n=*");
  while (!plan.kernel(stub.device, stubProblem("*", 48)).ok()) {
    std::this_thread::yield();
  }
  CHECK(plan.kernel(stub.device, stubProblem("*", 48))->kernel);
}

TEST_CASE("in a sealed plan the generic kernel serves for good") {
  BackgroundPlan background;
  background.open();
  REQUIRE(background.plan.seal().ok());
  Served served = *background.plan.kernel(background.stub.device, stubProblem("*", 48));
  REQUIRE(served.standIn);
  int64_t m = 300;
  CHECK(served.standIn->launch(rows(m)).ok());
  CHECK(background.stub.compiler.numCompilations == 2);
  CHECK(background.stub.device->record->numLoads == 2);
}

TEST_CASE("sealing waits for what is made in the background") {
  BackgroundPlan background;
  Served served = *background.plan.kernel(background.stub.device, stubProblem("*", 48));
  while (background.stub.compiler.numCompilations < 3) {
    std::this_thread::yield();
  }
  std::thread opener([&] { background.open(); });
  REQUIRE(background.plan.seal().ok());
  opener.join();
  CHECK(background.plan.kernel(background.stub.device, stubProblem("*", 48))->kernel);
}

TEST_CASE("beyond its bound a plan drops the missed kernels that were used least recently, never a prepared one") {
  StubRuntime stub;
  Plan plan(stub.runtime, {.maximalMisses = 2});
  REQUIRE(plan.add({{stubProblem("*", 1), 0}}).ok());
  REQUIRE(plan.prepare(onDevice(stub)).ok());
  REQUIRE(plan.wait(std::nullopt).ok());
  for (int64_t n : {2, 3, 2, 4, 5}) {
    REQUIRE(plan.kernel(stub.device, stubProblem("*", n)).ok());
  }
  CHECK(stub.device->record->numLoads == 5);
  CHECK(stub.device->record->numUnloads == 2); // 3, then 2
  REQUIRE(plan.kernel(stub.device, stubProblem("*", 1)).ok());
  REQUIRE(plan.kernel(stub.device, stubProblem("*", 4)).ok());
  CHECK(stub.device->record->numLoads == 5);
}

TEST_CASE("an empty plan is ready at once") {
  StubRuntime stub;
  Plan plan(stub.runtime);
  CHECK(plan.wait(std::nullopt).ok());
  REQUIRE(plan.prepare(onDevice(stub)).ok());
  CHECK(plan.wait(std::nullopt).ok());
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("runtime/PlanFile");

static std::string failure(std::string_view text) {
  Result<std::vector<Plan::Item>> items = parsePlanFile(text);
  REQUIRE_FALSE(items.ok());
  CHECK(items.status().code() == StatusCode::InvalidArgument);
  return items.status().toString();
}

TEST_CASE("a plan file is written as it was read") {
  Result<std::vector<Plan::Item>> items = parsePlanFile(R"({"jitk_plan": 1, "model": "ignored", "kernels": [
    {"op": "matmul", "attributes": {"m": "*<=1024", "n": 4096, "k": "7168"}, "priority": 2},
    {"op": "flash_attention", "attributes": {"heads": 8, "seq_q": "*", "head_dim": 128, "causal": true,
                                             "scale": 0.250}}]})");
  REQUIRE(items.ok());
  REQUIRE(items->size() == 2);
  CHECK((*items)[0].problem->text ==
        "matmul a_layout=row accumulate=false activation=none b_layout=row bias=false dtype=bf16 "
        "k=7168 m=*<=1024 n=4096 out_dtype=bf16 residual=false");
  CHECK((*items)[0].priority == 2);
  CHECK((*items)[1].problem->description.flag("causal"));
  CHECK((*items)[1].problem->description.word("scale") == "0.25");
  Result<std::vector<Plan::Item>> again = parsePlanFile(writePlanFile(*items));
  REQUIRE(again.ok());
  for (size_t i = 0; i < 2; ++i) {
    CHECK((*again)[i].problem->text == (*items)[i].problem->text);
    CHECK((*again)[i].priority == (*items)[i].priority);
  }
}

TEST_CASE("what is no plan file is refused, with the place") {
  CHECK(failure("").starts_with("plan file has malformed JSON: line 1, column 1: "));
  CHECK(failure("{\n").starts_with("plan file has malformed JSON: line 2, column 1: "));
  CHECK(
      failure(R"({"jitk_plan": 1, "kernels": [],})").starts_with("plan file has malformed JSON: line 1, column 32: "));
  CHECK(failure(R"({"jitk_plan": 1e400})").starts_with("plan file has malformed JSON: "));
  CHECK(failure("{\"jitk_plan\": 1, \"kernels\": \"\xff\"}").starts_with("plan file has malformed JSON: line 1"));
  CHECK(failure(R"({"jitk_plan": 1, "kernels": [], "kernels": []})") ==
        "plan file has member must be given once: got \"kernels\" twice");
  CHECK(failure("[]") == "plan file must be a JSON object");
  CHECK(failure("{}") == "plan file must have the member jitk_plan with the value 1");
  CHECK(failure(R"({"jitk_plan": 2})") == "plan file must have the member jitk_plan with the value 1");
  CHECK(failure(R"({"jitk_plan": 1})") == "plan file must have the member kernels, a list");
  CHECK(failure(R"({"jitk_plan": 1, "kernels": [7]})") ==
        "plan file kernel must be an object with a string member op; in kernel 0 of the plan file");
  CHECK(failure(R"({"jitk_plan": 1, "kernels": [{"op": "flash_attention", "attributes": {"heads": 1, "seq_q": 1,
                                                "head_dim": 64, "scale": -0.5}}]})")
            .starts_with("attribute scale must be a number above 0 and at most 65536: got '-0.5'"));
  CHECK(failure(R"({"jitk_plan": 1, "kernels": [{"op": "matmul", "attributes": {"m": 1.5}}]})") ==
        "plan file attribute m must be a string, an integer or a truth value: got 1.5; in kernel 0 of the plan file");
  CHECK(failure(R"({"jitk_plan": 1, "kernels": [{"op": "matmul", "attributes": {"m": 1, "n": 1, "k": 1}},
                                                {"op": "nonsense"}]})")
            .ends_with("got 'nonsense'; in kernel 1 of the plan file"));
}

TEST_SUITE_END();
