// The policy `background` with real kernels: the generic one serves first, the problem's own takes over, and both give
// the results of the reference.

#include "src/ops/OpSchema.h"
#include "src/tools/checked/CheckedRun.h"
#include "tests/conformance/Session.h"

#include <chrono>
#include <doctest/doctest.h>
#include <future>
#include <thread>

using namespace jitk;
using namespace jitk::conformance;

namespace {

/// Keeps the one worker of a runtime busy until it is told to go on.
class BusyWorker {
public:
  explicit BusyWorker(const api::Runtime &runtime) : plan_(api::Plan::create(runtime)) {
    plan_.add(api::Description::create(
        "user_kernel",
        {{"language", "ttgir"}, {"source", "none"}, {"entry", "none"}, {"arguments", ""}, {"grid", "1"}}));
    jitk_prepare_options_t options = {};
    options.target = target_.c_str();
    options.progress = [](void *self, const jitk_progress_t *) { static_cast<BusyWorker *>(self)->hold(); };
    options.progress_user = this;
    plan_.prepare(options);
    isHeld_.get_future().wait();
  }
  ~BusyWorker() { release(); }

  void release() {
    if (!released_) {
      released_ = true;
      mayGoOn_.set_value();
      (void)jitk_plan_wait(plan_.get(), api::Plan::kForever, nullptr); // that its kernel is none is known
    }
  }

private:
  void hold() {
    isHeld_.set_value();
    mayGoOn_.get_future().wait();
  }

  const std::string target_ = Session::get().device.target();
  api::Plan plan_;
  std::promise<void> isHeld_, mayGoOn_;
  bool released_ = false;
};

/// A problem that was not prepared, in a plan that has one of the same op.
struct Miss {
  const char *prepared;
  checked::Problem problem;
};

const Miss misses[] = {
    {"matmul m=16 n=64 k=64 b_layout=col", {"matmul m=* n=128 k=192 b_layout=col", {{"m", 130}}}},
    {"matmul m=16 n=64 k=64 dtype=fp16 bias=true activation=silu residual=true",
     {"matmul m=33 n=65 k=47 dtype=fp16 bias=true activation=silu residual=true"}},
    {"fp8_block_matmul m=16 n=128 k=128", {"fp8_block_matmul m=*<=128 n=136 k=400", {{"m", 70}}}},
    {"flash_attention heads=1 seq_q=16 head_dim=64 causal=true",
     {"flash_attention batch=2 heads=4 kv_heads=2 seq_q=* seq_k=* head_dim=64 causal=true",
      {{"seq_q", 70}, {"seq_k", 100}}}},
    {"flash_attention heads=1 seq_q=16 head_dim=128", {"flash_attention heads=2 seq_q=100 seq_k=130 head_dim=128"}},
};

/// The problem as the generic kernel sees it: every size is one of the launch.
checked::Problem asGeneric(const checked::Problem &problem, const api::Kernel &generic) {
  checked::Problem all = problem;
  Description own = *parseDescription(problem.description);
  all.description = generic.info().description;
  Description general = *parseDescription(all.description);
  for (const auto &[name, value] : own.attributes()) {
    const auto *dimension = std::get_if<Dimension>(&value);
    if (dimension && dimension->isStatic() && !general.dimension(name).isStatic()) {
      all.sizes[name] = dimension->value;
    }
  }
  return all;
}

api::Runtime withOneWorker() {
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  options.jobs = 1;
  return api::Runtime::create(&options);
}

api::Plan preparedPlan(const api::Runtime &runtime, const api::Device &device, const char *description) {
  jitk_plan_options_t options = {};
  options.struct_size = sizeof options;
  options.on_miss = JITK_MISS_BACKGROUND;
  api::Plan plan = api::Plan::create(runtime, &options);
  plan.add(api::Description::parse(description));
  jitk_prepare_options_t prepare = {};
  prepare.device = device.get();
  plan.prepare(prepare);
  plan.wait();
  return plan;
}

void checkTakeover(const Miss &miss) {
  CAPTURE(miss.problem.description);
  api::Runtime runtime = withOneWorker();
  api::Device device = openDevice(runtime, 20);
  api::Plan plan = preparedPlan(runtime, device, miss.prepared);
  BusyWorker worker(runtime);
  const uint64_t compiled = runtime.counters().compilations;

  api::Kernel kernel = plan.kernel(device, api::Description::parse(miss.problem.description));
  REQUIRE(kernel.info().stands_in == 1);
  checked::Outcome before = checked::run(device, kernel, miss.problem);
  CHECK(before.passed());
  CHECK(kernel.info().stands_in == 1);
  CHECK(runtime.counters().compilations == compiled);
  checked::Outcome generic = checked::run(runtime, device, asGeneric(miss.problem, kernel));
  CHECK(generic.passed());
  CHECK(before.tensors == generic.tensors);

  worker.release();
  std::vector<std::vector<std::vector<uint8_t>>> between;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (kernel.info().stands_in != 0) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // cores are for the worker, too
    between.push_back(checked::run(device, kernel, miss.problem, /*check=*/false).tensors);
  }
  checked::Outcome after = checked::run(device, kernel, miss.problem);
  CHECK(after.passed());
  CHECK(std::string(after.info.description) == api::Description::parse(miss.problem.description).text());
  CHECK(runtime.counters().compilations == compiled + 1);
  // Which of the two served a launch at the takeover is not to be told, but no launch was of anything else.
  for (const auto &tensors : between) {
    CHECK((tensors == before.tensors || tensors == after.tensors));
  }
  CHECK(checked::run(runtime, device, miss.problem).tensors == after.tensors);
  CHECK(plan.kernel(device, api::Description::parse(miss.problem.description)).info().stands_in == 0);
}

} // namespace

TEST_SUITE("conformance/GenericKernel") {
  TEST_CASE(
      "a generic kernel serves what was not prepared, and the problem's own takes over, both with right results") {
    for (const Miss &miss : misses) {
      checkTakeover(miss);
    }
  }

  TEST_CASE("in a sealed plan a generic kernel serves for good, with right results") {
    for (const Miss &miss : misses) {
      CAPTURE(miss.problem.description);
      api::Runtime runtime = withOneWorker();
      api::Device device = openDevice(runtime, 20);
      api::Plan plan = preparedPlan(runtime, device, miss.prepared);
      plan.seal();
      const uint64_t compiled = runtime.counters().compilations;
      api::Kernel kernel = plan.kernel(device, api::Description::parse(miss.problem.description));
      checked::Outcome outcome = checked::run(device, kernel, miss.problem);
      CHECK(outcome.passed());
      CHECK(outcome.info.stands_in == 1);
      CHECK(runtime.counters().compilations == compiled);
    }
  }
}
