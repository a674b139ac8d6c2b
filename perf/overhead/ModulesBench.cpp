// Loading on a GPU: shape after shape through a plan that keeps 256 kernels, with what that leaves in the device's and
// in the process's memory; and a warm start, each kernel from the disk store onto the device.
//
//   bench_modules [--churn 100000] [--warm 1000] [--jobs 8] [--device cuda:0] [--check]
//
// A real kernel is compiled once. Each of the others has a description of its own and the same code, so that the
// compiler's time is left out and all else is as ever: key, entry, store, cuLibraryLoadData, functions, launch, unload.
// With --check the program fails if device memory grows by more than 1 MiB, or that of the process by more than 5 %,
// after the first tenth.

#include "backends/nvidia/driver/CudaDevice.h"
#include "src/runtime/BuildId.h"
#include "src/runtime/CompilerLibrary.h"
#include "src/runtime/Plan.h"
#include "src/tools/timing/Gpu.h"
#include "tests/support/TemporaryFolder.h"

#include "perf/commit/Commit.h"
#include "perf/overhead/Samples.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

using namespace jitk;
using namespace jitk::perf;
using Clock = std::chrono::steady_clock;

namespace {

constexpr size_t kCap = 256;
constexpr int64_t kRows = 64;
constexpr double kMebibyte = 1 << 20;

struct Options {
  int churn = 100'000, warm = 1000, repeats = 5;
  uint32_t jobs = 8;
  std::string device = "cuda:0", compiler;
  bool check = false;
};

template <typename T> T valueOf(Result<T> result) {
  if (!result.ok()) {
    throw std::runtime_error(result.status().toString());
  }
  return *std::move(result);
}

void demand(const Status &status) {
  if (!status.ok()) {
    throw std::runtime_error(status.toString());
  }
}

double microseconds(Clock::duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

/// A bound on m that no other number has: it is part of the description, and not of the code.
std::shared_ptr<const Problem> problemOf(int number) {
  return std::make_shared<const Problem>(
      valueOf(parseDescription("matmul k=512 n=256 dtype=bf16 b_layout=col m=*<=" + std::to_string(1024 + number))));
}

/// Answers each question with the kernel that it was made with.
class SameKernel final : public Compiler {
public:
  SameKernel(Compiler &compiler, const Target &target)
      : compiler_(compiler), kernel_(valueOf(compiler.compile(problemOf(0)->description, target, {}))) {}

  std::string buildId() const override { return compiler_.buildId(); }
  Result<std::string> assemblerIdentity(const Target &, const CompileOptions &) override {
    return std::string("the same");
  }
  Result<CompiledKernel> compile(const Description &, const Target &, const CompileOptions &) override {
    return kernel_;
  }
  Result<std::string> programDigest(const Description &, const Target &) override { return std::string(); }
  Result<std::string> reproduce(const Description &description, const Target &target) override {
    return compiler_.reproduce(description, target);
  }
  Result<std::vector<Configuration>> configurations(const Description &description, const Target &target) override {
    return compiler_.configurations(description, target);
  }
  Result<std::unique_ptr<Device>> createEmulator(const EmulatorOptions &options) override {
    return compiler_.createEmulator(options);
  }
  size_t codeBytes() const { return kernel_.code.size(); }

private:
  Compiler &compiler_;
  const CompiledKernel kernel_;
};

std::shared_ptr<Runtime> openRuntime(Compiler &compiler, const std::string &store, uint32_t jobs) {
  RuntimeOptions options;
  options.storeFolder = store;
  options.compiler = &compiler;
  options.jobs = jobs;
  options.memoryBytes = 16 << 20;
  return valueOf(Runtime::create(std::move(options)));
}

double residentMiB() {
  double all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / kMebibyte;
}

/// The least and the most that was seen.
struct Range {
  double least = 1e300, most = 0;
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

/// Device memory for the operands of the one problem that is launched.
class Operands {
public:
  explicit Operands(std::shared_ptr<Device> device) : device_(std::move(device)) {
    for (size_t bytes : {kRows * 512 * 2, int64_t{256 * 512 * 2}, kRows * 256 * 2}) {
      addresses_.push_back(valueOf(device_->allocate(bytes)));
      demand(device_->fill(addresses_.back(), 0, bytes));
    }
    workspaceBytes_ = 16 << 20;
    workspace_ = valueOf(device_->allocate(workspaceBytes_));
  }
  ~Operands() {
    for (uint64_t address : addresses_) {
      (void)device_->free(address);
    }
    (void)device_->free(workspace_);
  }
  Operands(const Operands &) = delete;

  void launch(const Kernel &kernel, StreamHandle stream) const {
    demand(kernel.launch({.tensors = addresses_,
                          .dimensions = {&kRows, 1},
                          .scalars = {},
                          .workspace = workspace_,
                          .workspaceBytes = workspaceBytes_,
                          .stream = stream}));
  }

private:
  std::shared_ptr<Device> device_;
  std::vector<uint64_t> addresses_;
  uint64_t workspace_ = 0, workspaceBytes_ = 0;
};

/// True if memory stayed what it was.
bool churn(const Options &options, SameKernel &compiler, const std::shared_ptr<Device> &device,
           const timing::Gpu &gpu) {
  std::shared_ptr<Runtime> runtime = openRuntime(compiler, "", 1);
  Plan plan(runtime, {.onMiss = MissPolicy::Compile, .maximalMisses = kCap});
  Operands operands(device);
  Range used, resident;
  const double before = static_cast<double>(gpu.freeBytes()) / kMebibyte;
  const int warmUp = std::max<int>(options.churn / 10, kCap);
  Clock::time_point begin = Clock::now();
  for (int i = 0; i < options.churn; ++i) {
    Served served = valueOf(plan.kernel(device, problemOf(i)));
    operands.launch(*served.kernel, gpu.stream());
    if (i % 500 == 0 && i >= warmUp) {
      used.add(before - static_cast<double>(gpu.freeBytes()) / kMebibyte);
      resident.add(residentMiB());
    }
  }
  gpu.synchronize();
  double each = microseconds(Clock::now() - begin) / options.churn;
  std::printf("churn: %d kernels of %zu bytes of code through a plan that keeps %zu, %.1f us each\n", options.churn,
              compiler.codeBytes(), kCap, each);
  std::printf("  of the device's memory %.2f to %.2f MiB were in use for them after the first %d\n", used.least,
              used.most, warmUp);
  std::printf("  the process had %.2f to %.2f MiB resident\n", resident.least, resident.most);
  return used.most - used.least <= 1 && resident.most <= 1.05 * resident.least;
}

/// Kernels from a store that another runtime filled, onto the device.
void warmStart(const Options &options, SameKernel &compiler, const std::shared_ptr<Device> &device) {
  test::TemporaryFolder folder;
  const std::string store = folder.path("store");
  std::vector<Plan::Item> items;
  for (int i = 0; i < options.warm; ++i) {
    items.push_back({problemOf(i), 0});
  }
  {
    std::shared_ptr<Runtime> runtime = openRuntime(compiler, store, options.jobs);
    for (const Plan::Item &item : items) {
      (void)valueOf(runtime->entries().obtain(*item.problem, device->target()));
    }
  }
  Samples all, obtaining, loading;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    std::shared_ptr<Runtime> runtime = openRuntime(compiler, store, options.jobs);
    Plan plan(runtime);
    demand(plan.add(items));
    PrepareOptions how;
    how.device = device;
    how.target = device->target();
    how.progress = [&](const Progress &progress) {
      obtaining.add(1e3 * progress.obtainMilliseconds);
      loading.add(1e3 * progress.loadMilliseconds);
    };
    Clock::time_point begin = Clock::now();
    demand(plan.prepare(std::move(how)));
    demand(plan.wait(std::nullopt));
    demand(plan.seal());
    all.add(microseconds(Clock::now() - begin));
  }
  std::printf("warm start: %d kernels from the disk store onto the device by %u workers: %.1f ms (p95 %.1f)\n",
              options.warm, options.jobs, all.median() / 1e3, all.quantile(0.95) / 1e3);
  std::printf("  each, on its worker: %.1f us from the store (p95 %.1f), %.1f us of loading (p95 %.1f)\n",
              obtaining.median(), obtaining.quantile(0.95), loading.median(), loading.quantile(0.95));
}

int run(const Options &options) {
  std::printf("commit %s, build %s\n", kCommit, kBuildId);
  OpenCompiler opened = valueOf(openCompilerLibrary(options.compiler, kBuildId));
  std::shared_ptr<Device> device =
      valueOf(nvidia::openDevice(options.device.substr(options.device.find(':') + 1), nullptr));
  timing::Gpu gpu(device->ordinal());
  std::printf("%s, driver %s\n", device->name().c_str(), gpu.driverVersion().c_str());
  SameKernel compiler(*opened.compiler, device->target());
  if (options.warm > 0) {
    warmStart(options, compiler, device);
    Options alone = options;
    alone.jobs = 1;
    warmStart(alone, compiler, device);
  }
  bool flat = options.churn == 0 || churn(options, compiler, device, gpu);
  return options.check && !flat ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("loading of kernels on a GPU");
  app.add_option("--churn", options.churn, "kernels through a plan that keeps 256; 0 = none");
  app.add_option("--warm", options.warm, "kernels of a warm start; 0 = none");
  app.add_option("--jobs", options.jobs, "worker threads of the warm start")->check(CLI::PositiveNumber);
  app.add_option("--repeats", options.repeats, "warm starts")->check(CLI::PositiveNumber);
  app.add_option("--device", options.device, "cuda:0, cuda:1, ...");
  app.add_option("--compiler", options.compiler, "compiler library (default: as ld.so finds it)");
  app.add_flag("--check", options.check, "fail where memory grows");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "bench_modules: %s\n", failure.what());
    return 2;
  }
}
