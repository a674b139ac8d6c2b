// What jitk adds to a launch, and what a look-up costs, in nanoseconds: through the C API, on a driver that does
// nothing, or, with --gpu, on the first GPU.
//
//   bench_launch [--check] [--gpu | --busy-driver]
//   bench_launch --ops [--gpu]
//
// --ops times launches of jitk's own kernels of small sizes, which encode tensor maps, have several steps, of which
// some are skipped, and workspaces, against as many calls of cuTensorMapEncodeTiled and cuLaunchKernelEx by hand.
//
// A launch is timed against the bare call of the same driver's cuLaunchKernelEx, in turns, as the median of 2,000 pairs
// of batches of 100 calls; the kernel is empty, and a GPU catches up between batches, which is not timed. With
// --busy-driver a launch by the driver that does nothing takes microseconds and leaves nothing of the caller's in the
// first-level caches and the branch predictors, as a real one's does. Goals: 60 ns for a launch with 12 arguments,
// 100 ns for a look-up among 256 kernels. With --check a figure above four times its goal makes the program fail: other
// programs may run beside it.

#include "backends/nvidia/driver/Driver.h"
#include "jitk/jitk.hpp"

#include "perf/commit/Commit.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <type_traits>
#include <vector>

using namespace jitk;
using namespace jitk::nvidia::api;

namespace {

constexpr int kCalls = 20'000, kRuns = 31; ///< of a look-up
constexpr int kBatch = 100, kPairs = 2'000;
constexpr double kSlack = 4;

/// Nanoseconds of one call of `body`, over `calls` of them.
template <typename Body> double batch(Body body, int calls = kBatch) {
  auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < calls; ++call) {
    body();
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / calls;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Body> double nanoseconds(Body body) {
  std::vector<double> runs;
  for (int run = 0; run < kRuns; ++run) {
    runs.push_back(batch(body, kCalls));
  }
  return median(std::move(runs));
}

/// Prints a figure; false if it is far above its goal.
bool report(const char *what, double figure, double goal) {
  std::printf("%-44s %7.1f ns   goal %.0f\n", what, figure, goal);
  return figure <= kSlack * goal;
}

template <typename Function> Function *symbol(void *library, const char *name) {
  return reinterpret_cast<Function *>(::dlsym(library, name));
}

/// A context that is current, as an engine's is, and a function in it: of a module, or of a library, as jitk loads.
struct BareDriver {
  BareDriver(void *library, const char *code, const char *name, unsigned theSharedBytes, bool ofLibrary = false)
      : launchKernelEx(symbol<CUresult(const LaunchConfig *, void *, void **, void **)>(library, "cuLaunchKernelEx")),
        synchronize(symbol<CUresult()>(library, "cuCtxSynchronize")),
        contextCurrent(symbol<CUresult(CUcontext *)>(library, "cuCtxGetCurrent")),
        encode(symbol<std::remove_pointer_t<decltype(Functions::tensorMapEncodeTiled)>>(library,
                                                                                        "cuTensorMapEncodeTiled")),
        sharedBytes(theSharedBytes) {
    CUcontext context = nullptr;
    symbol<CUresult(CUcontext *, CUdevice)>(library, "cuDevicePrimaryCtxRetain")(&context, 0);
    symbol<CUresult(CUcontext)>(library, "cuCtxPushCurrent_v2")(context);
    if (ofLibrary) {
      CUlibrary loaded = nullptr;
      CUkernel kernel = nullptr;
      symbol<CUresult(CUlibrary *, const void *, int *, void **, unsigned, int *, void **, unsigned)>(
          library, "cuLibraryLoadData")(&loaded, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
      symbol<CUresult(CUkernel *, CUlibrary, const char *)>(library, "cuLibraryGetKernel")(&kernel, loaded, name);
      symbol<CUresult(CUfunction *, CUkernel)>(library, "cuKernelGetFunction")(&function, kernel);
      return;
    }
    CUmodule module = nullptr;
    symbol<CUresult(CUmodule *, const void *)>(library, "cuModuleLoadData")(&module, code);
    symbol<CUresult(CUfunction *, CUmodule, const char *)>(library, "cuModuleGetFunction")(&function, module, name);
  }

  CUresult (*launchKernelEx)(const LaunchConfig *, void *, void **, void **);
  CUresult (*synchronize)();
  CUresult (*contextCurrent)(CUcontext *);
  decltype(Functions::tensorMapEncodeTiled) encode;
  unsigned sharedBytes;
  CUfunction function = nullptr;
};

/// What an engine without jitk does for each launch: point at its twelve arguments and fill in the configuration.
CUresult launchBare(const BareDriver &driver, const uint64_t *values, unsigned rows) {
  void *arguments[12];
  for (int i = 0; i < 12; ++i) {
    arguments[i] = const_cast<uint64_t *>(&values[i]);
  }
  LaunchConfig config = {{(rows + 127) / 128, 1, 1}, {128, 1, 1}, driver.sharedBytes, nullptr, nullptr, 0};
  return driver.launchKernelEx(&config, driver.function, arguments, nullptr);
}

/// `kernel` has twelve arguments, of which jitk is given tensors and sizes.
bool benchLaunch(const BareDriver &bare, const api::Kernel &kernel) {
  static constexpr size_t kMostTensors = 4, kMostSizes = 8;
  const uint64_t tensors[kMostTensors] = {0x1000, 0x2000, 0x3000, 0x4000};
  int64_t sizes[kMostSizes];
  std::fill(std::begin(sizes), std::end(sizes), 4096);
  jitk_launch_t launch = {};
  launch.struct_size = sizeof launch;
  launch.tensors = tensors;
  launch.num_tensors = jitk_kernel_num_tensors(kernel.get());
  launch.dimensions = sizes;
  launch.num_dimensions = jitk_kernel_num_dimensions(kernel.get());
  const uint64_t values[12] = {0x1000, 0x2000, 0x3000, 0x4000, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096};
  bool good = launch.num_tensors <= kMostTensors && launch.num_dimensions <= kMostSizes;
  auto settle = [&] { good &= bare.synchronize() == CUDA_SUCCESS; };
  std::vector<double> withJitk, without, added;
  for (int pair = 0; pair < kPairs; ++pair) {
    settle();
    without.push_back(batch([&] { good &= launchBare(bare, values, 4096) == CUDA_SUCCESS; }));
    settle();
    withJitk.push_back(batch([&] { good &= jitk_kernel_launch(kernel.get(), &launch, nullptr) == JITK_STATUS_OK; }));
    added.push_back(withJitk.back() - without.back());
  }
  settle();
  std::printf("launch, 12 arguments: bare %.1f ns, through jitk %.1f ns\n", median(without), median(withJitk));
  return report("added to a launch with 12 arguments", median(added), 60) && good;
}

bool benchLookUp(const api::Runtime &runtime, const api::Device &device) {
  api::Plan plan = api::Plan::create(runtime);
  std::vector<api::Description> descriptions;
  for (int n = 0; n < 256; ++n) {
    descriptions.push_back(api::Description::parse("matmul m=* k=64 n=" + std::to_string(128 + n)));
    plan.add(descriptions.back());
  }
  jitk_prepare_options_t prepare = {};
  prepare.device = device.get();
  plan.prepare(prepare);
  plan.wait();
  plan.seal();
  size_t next = 0;
  bool good = true;
  double time = nanoseconds([&] {
    next = (next + 97) % descriptions.size();
    jitk_kernel_t kernel = nullptr;
    good &= jitk_plan_kernel(plan.get(), device.get(), descriptions[next].get(), &kernel, nullptr) == JITK_STATUS_OK;
    jitk_kernel_release(kernel);
  });
  auto dispatch = api::Dispatch::create(plan, device, descriptions[0], {"m", "n"});
  double byKey = nanoseconds([&] {
    next = (next + 97) % descriptions.size();
    const int64_t sizes[] = {4096, static_cast<int64_t>(128 + next)};
    jitk_kernel_t kernel = nullptr;
    good &= jitk_dispatch_kernel(dispatch.get(), sizes, 2, &kernel, nullptr) == JITK_STATUS_OK;
  });
  good &= report("look-up by description, 256 kernels", time, 100);
  return report("look-up by sizes, 256 kernels", byKey, 100) && good;
}

/// Twelve parameters, four of them tensors that it does not touch.
api::Description emptyKernel() {
  std::vector<std::pair<std::string, std::string>> attributes = {
      {"language", "cuda"}, {"entry", "empty"}, {"grid", "ceil(n0/128)"}, {"block", "128"}};
  std::string parameters, arguments;
  for (int i = 0; i < 4; ++i) {
    parameters += "float *t" + std::to_string(i) + ", ";
    arguments += "t" + std::to_string(i) + ": updated fp32[n0], ";
  }
  for (int i = 0; i < 8; ++i) {
    const std::string name = "n" + std::to_string(i), comma = i < 7 ? ", " : "";
    parameters += "int " + name + comma;
    arguments += name + ": int32" + comma;
    attributes.emplace_back(name, "*");
  }
  attributes.emplace_back("source", "extern \"C\" __global__ void empty(" + parameters + ") {}\n");
  attributes.emplace_back("arguments", arguments);
  return api::Description::create("user_kernel", attributes);
}

bool benchGpu() {
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  api::Runtime runtime = api::Runtime::create(&options);
  api::Device device = api::Device::open(runtime, "cuda:0"); // initializes the driver
  std::printf("%s\n", device.name().c_str());
  api::Artifact artifact = api::Artifact::compile(runtime, emptyKernel(), device.target());
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW);
  const char *code = artifact.dump(JITK_DUMP_CODE).data();
  BareDriver bare(library, code, "empty", /*sharedBytes=*/0), ofLibrary(library, code, "empty", 0, /*ofLibrary=*/true);
  api::Kernel kernel = api::Kernel::obtain(runtime, device, emptyKernel());
  CUcontext current = nullptr;
  std::printf("of which to ask for the current context: %.1f ns\n",
              nanoseconds([&] { (void)bare.contextCurrent(&current); }));
  bool good = benchLaunch(bare, kernel);
  std::printf("beside a function of a library, as jitk loads it:\n");
  return benchLaunch(ofLibrary, kernel) && good;
}

/// A kernel of jitk's, and what its launch asks of the driver.
struct OpCase {
  const char *description;
  std::vector<int64_t> sizes;
  int numMaps, numLaunches;
};

/// The driver's calls that a launch of `each` makes, by hand: with maps of some tensor, and a kernel of 12 arguments.
bool launchByHand(const BareDriver &driver, const OpCase &each, const uint64_t *values, uint64_t address) {
  alignas(64) char maps[8][128];
  const uint64_t mapSizes[] = {64, 64}, strides[] = {128};
  const uint32_t box[] = {64, 64}, ones[] = {1, 1};
  bool good = true;
  for (int i = 0; i < each.numMaps; ++i) {
    good &= driver.encode(maps[i], 9, 2, reinterpret_cast<void *>(address), mapSizes, strides, box, ones, 0, 3, 3, 0) ==
            CUDA_SUCCESS;
  }
  for (int i = 0; i < each.numLaunches; ++i) {
    good &= launchBare(driver, values, 4096) == CUDA_SUCCESS;
  }
  return good;
}

bool benchOp(const BareDriver &bare, const api::Runtime &runtime, const api::Device &device, const OpCase &each) {
  api::Kernel kernel = api::Kernel::obtain(runtime, device, api::Description::parse(each.description));
  constexpr uint64_t kBytes = uint64_t{1} << 26; // more than any of the tensors has
  api::Buffer memory(device, kBytes);
  device.fill(memory.address(), 0, kBytes);
  std::vector<uint64_t> tensors(jitk_kernel_num_tensors(kernel.get()), memory.address());
  std::vector<float> scalars(jitk_kernel_num_scalars(kernel.get()), 0.125F);
  jitk_launch_t launch = {};
  launch.struct_size = sizeof launch;
  launch.tensors = tensors.data();
  launch.num_tensors = tensors.size();
  launch.dimensions = each.sizes.data();
  launch.num_dimensions = each.sizes.size();
  launch.scalars = scalars.data();
  launch.num_scalars = scalars.size();
  launch.workspace = memory.address();
  launch.workspace_bytes = kBytes;
  const uint64_t values[12] = {0x1000, 0x2000, 0x3000, 0x4000, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096};
  bool good = true;
  std::vector<double> withJitk, without, added;
  for (int pair = 0; pair < kPairs / 2; ++pair) {
    good &= bare.synchronize() == CUDA_SUCCESS;
    without.push_back(batch([&] { good &= launchByHand(bare, each, values, memory.address()); }));
    good &= bare.synchronize() == CUDA_SUCCESS;
    withJitk.push_back(batch([&] { good &= jitk_kernel_launch(kernel.get(), &launch, nullptr) == JITK_STATUS_OK; }));
    added.push_back(withJitk.back() - without.back());
  }
  good &= bare.synchronize() == CUDA_SUCCESS;
  std::printf("%-48s %d maps %d launches: by hand %7.1f ns, through jitk %7.1f ns, added %6.1f ns\n", each.description,
              each.numMaps, each.numLaunches, median(without), median(withJitk), median(added));
  return good;
}

bool benchOps(bool gpu) {
  const OpCase cases[] = {
      {"matmul m=64 n=128 k=256", {}, 3, 1},
      {"matmul m=* n=128 k=256", {64}, 3, 1},
      {"matmul m=4 n=256 k=8192 b_layout=col", {}, 2, 2},
      {"flash_attention heads=2 kv_heads=1 seq_q=* seq_k=* head_dim=128 causal=true", {64, 64}, 4, 2},
  };
  if (!gpu) {
    ::setenv("JITK_DRIVER_LIBRARY", JITK_FAKE_CUDA, 1);
  }
  void *library = ::dlopen(gpu ? "libcuda.so.1" : JITK_FAKE_CUDA, RTLD_NOW);
  if (!gpu) {
    symbol<void(int)>(library, "fake_cuda_remember")(0);
    symbol<void(int)>(library, "fake_cuda_set_version")(13'000); // as new as what assembles
  }
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  api::Runtime runtime = api::Runtime::create(&options);
  api::Device device = api::Device::open(runtime, "cuda:0");
  std::printf("%s\n", device.name().c_str());
  std::string code =
      gpu ? std::string(api::Artifact::compile(runtime, emptyKernel(), device.target()).dump(JITK_DUMP_CODE)) : "";
  BareDriver bare(library, code.data(), "empty", /*sharedBytes=*/0, /*ofLibrary=*/true);
  bool good = true;
  for (const OpCase &each : cases) {
    good &= benchOp(bare, runtime, device, each);
  }
  return good;
}

bool benchFake(bool busy) {
  ::setenv("JITK_DRIVER_LIBRARY", JITK_FAKE_CUDA, 1);
  void *library = ::dlopen(JITK_FAKE_CUDA, RTLD_NOW);
  symbol<void(int)>(library, "fake_cuda_remember")(0);
  symbol<void(int)>(library, "fake_cuda_walk")(busy);
  BareDriver bare(library, "", "bare", /*sharedBytes=*/65536);
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  options.compiler_library = JITK_STUB_COMPILER;
  api::Runtime runtime = api::Runtime::create(&options);
  api::Device device = api::Device::open(runtime, "cuda:0");
  bool good = benchLaunch(bare, api::Kernel::obtain(runtime, device, api::Description::parse("matmul m=* n=23 k=64")));
  return busy ? good : benchLookUp(runtime, device) && good;
}

} // namespace

int main(int argc, char **argv) {
  bool check = false, gpu = false, busy = false, ops = false;
  for (int i = 1; i < argc; ++i) {
    check |= std::strcmp(argv[i], "--check") == 0;
    gpu |= std::strcmp(argv[i], "--gpu") == 0;
    busy |= std::strcmp(argv[i], "--busy-driver") == 0;
    ops |= std::strcmp(argv[i], "--ops") == 0;
  }
  std::printf("commit %s, build %s\n", perf::kCommit, jitk_build_id());
  try {
    bool good = ops ? benchOps(gpu) : gpu ? benchGpu() : benchFake(busy);
    return check && !good ? 1 : 0;
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "bench_launch: %s\n", failure.what());
    return 2;
  }
}
