// What jitk adds to a launch and to a look-up, in nanoseconds: on a device whose launch does nothing.
//
//   bench_launch
//
// Prints the median of 31 runs of 20,000 calls. Goals: 60 ns for a launch with 12 arguments, 100 ns for a look-up in a
// sealed plan of 256 kernels.

#include "src/runtime/Plan.h"
#include "tests/fakes/StubCompiler.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace jitk;
using namespace jitk::test;

namespace {

constexpr Target kTarget = {Target::Kind::Cuda, 90, true};

/// Nanoseconds of one call of `body`: median of 31 runs of 20,000.
template <typename Body> double nanoseconds(Body body) {
  constexpr int kCalls = 20'000, kRuns = 31;
  std::vector<double> runs;
  for (int run = 0; run < kRuns; ++run) {
    auto begin = std::chrono::steady_clock::now();
    for (int call = 0; call < kCalls; ++call) {
      body();
    }
    runs.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / kCalls);
  }
  std::sort(runs.begin(), runs.end());
  return runs[kRuns / 2];
}

std::shared_ptr<const Problem> problem(int64_t n) {
  return std::make_shared<const Problem>(Description("stub", {{"m", Dimension{}}, {"n", Dimension{n, 1, 0}}}));
}

/// A kernel of three tensors, one dynamic size and enough arguments of that size to make twelve.
std::shared_ptr<const Kernel> twelveArguments(const std::shared_ptr<Device> &device) {
  Recipe recipe = StubCompiler::makeRecipe(problem(1)->description);
  while (recipe.steps[0].arguments.size() < 12) {
    recipe.steps[0].arguments.push_back({Argument::Kind::Integer32, 0, Expression::dimension(0)});
  }
  Entry entry{Key({"stub", kTarget.toString(), "build", "", "stub"}), recipe.serialize(), {}, {0x7f}, ""};
  return *Kernel::load(device, problem(1), {std::make_shared<const Entry>(std::move(entry)), Tier::Compiled, 0});
}

void benchLaunch(const std::shared_ptr<Device> &device) {
  std::shared_ptr<const Kernel> kernel = twelveArguments(device);
  const uint64_t tensors[] = {0x1000, 0x2000, 0x3000};
  const int64_t sizes[] = {4096};
  bool good = true;
  double time =
      nanoseconds([&] { good &= kernel->launch({.tensors = tensors, .dimensions = sizes, .scalars = {}}).ok(); });
  std::printf("launch, 12 arguments         %7.1f ns%s\n", time, good ? "" : "  (failed)");
}

void benchLookUp(const std::shared_ptr<Device> &device, StubCompiler &compiler) {
  RuntimeOptions options;
  options.storeFolder = "";
  options.compiler = &compiler;
  options.jobs = 2;
  Plan plan(*Runtime::create(std::move(options)));
  std::vector<std::shared_ptr<const Problem>> problems;
  for (int64_t n = 1; n <= 256; ++n) {
    problems.push_back(problem(n));
    (void)plan.add({{problems.back(), 0}});
  }
  PrepareOptions prepare;
  prepare.device = device;
  (void)plan.prepare(std::move(prepare));
  (void)plan.seal();
  size_t next = 0;
  bool good = true;
  double time = nanoseconds([&] {
    next = (next + 97) % problems.size();
    good &= plan.kernel(device, problems[next]).ok();
  });
  std::printf("look-up, 256 kernels, sealed %7.1f ns%s\n", time, good ? "" : "  (failed)");
}

} // namespace

int main() {
  StubCompiler compiler;
  auto device = std::make_shared<StubDevice>(kTarget, /*remember=*/false);
  benchLaunch(device);
  benchLookUp(device, compiler);
  return 0;
}
