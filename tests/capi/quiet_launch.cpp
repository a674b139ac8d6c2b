// A launch, and a look-up of a kernel by its sizes, lock nothing and allocate nothing. Shown by a program that puts
// itself between the library and the functions that do: what libjitk or the C++ library under it calls while it is
// watched is counted, by the address that the call comes from. What a driver does within its own calls is the driver's.
//
//   capi_quiet_launch [--gpu]
//
// On the fake driver with the stub compiler, or with --gpu on the first GPU with the real one.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE // RTLD_NEXT
#endif

#include "jitk/jitk.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string>
#include <vector>

namespace {

struct Range {
  uintptr_t begin, end;
};
Range ours[32]; // executable segments of libjitk and libstdc++
int numOurs = 0;
__thread bool isWatched = false;
unsigned long numAllocations = 0, numLocks = 0; // by the watched thread, which is one at a time

bool isOurs(const void *from) {
  auto address = reinterpret_cast<uintptr_t>(from);
  return std::any_of(ours, ours + numOurs,
                     [&](const Range &range) { return range.begin <= address && address < range.end; });
}

void countAllocation(const void *from) { numAllocations += isWatched && isOurs(from) ? 1 : 0; }
void countLock(const void *from) { numLocks += isWatched && isOurs(from) ? 1 : 0; }

int addSegments(dl_phdr_info *info, size_t, void *) {
  const char *name = std::strrchr(info->dlpi_name, '/');
  bool isOne = name && (std::strncmp(name, "/libjitk.so", 11) == 0 || std::strncmp(name, "/libstdc++.so", 13) == 0);
  for (int i = 0; isOne && i < info->dlpi_phnum; ++i) {
    const auto &segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && numOurs < 32) {
      uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
      ours[numOurs++] = {begin, begin + segment.p_memsz};
    }
  }
  return 0;
}

template <typename Function> Function *next(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(RTLD_NEXT, name));
}

} // namespace

// The functions of the C library by their other names, so that finding them allocates nothing.
extern "C" {
#define EXPORT __attribute__((visibility("default")))
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

EXPORT void *malloc(size_t bytes) {
  countAllocation(__builtin_return_address(0));
  return __libc_malloc(bytes);
}
EXPORT void *calloc(size_t count, size_t bytes) {
  countAllocation(__builtin_return_address(0));
  return __libc_calloc(count, bytes);
}
EXPORT void *realloc(void *memory, size_t bytes) {
  countAllocation(__builtin_return_address(0));
  return __libc_realloc(memory, bytes);
}
EXPORT void *aligned_alloc(size_t alignment, size_t bytes) {
  countAllocation(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
EXPORT void free(void *memory) {
  countAllocation(__builtin_return_address(0));
  __libc_free(memory);
}

#define COUNTED_LOCK(name, type)                                                                                       \
  EXPORT int name(type *lock) {                                                                                        \
    static auto *const own = next<int(type *)>(#name);                                                                 \
    countLock(__builtin_return_address(0));                                                                            \
    return own(lock);                                                                                                  \
  }
COUNTED_LOCK(pthread_mutex_lock, pthread_mutex_t)
COUNTED_LOCK(pthread_mutex_trylock, pthread_mutex_t)
COUNTED_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNTED_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
COUNTED_LOCK(pthread_cond_broadcast, pthread_cond_t)
COUNTED_LOCK(pthread_cond_signal, pthread_cond_t)
}

namespace {

using namespace jitk;

/// What `body` does, run many times.
struct Found {
  unsigned long allocations, locks;
};
template <typename Body> Found watch(Body body) {
  numAllocations = numLocks = 0;
  isWatched = true;
  for (int i = 0; i < 1000; ++i) {
    body();
  }
  isWatched = false;
  return {numAllocations, numLocks};
}

bool good = true;

void report(const std::string &what, const Found &found) {
  good &= found.allocations == 0 && found.locks == 0;
  std::printf("%-90.90s %lu allocations, %lu locks\n", what.c_str(), found.allocations, found.locks);
}

/// The watch sees what it is to see: a description is made of strings, and a device is looked up under a lock.
void checkTheWatch(const api::Runtime &runtime) {
  jitk_description_t description = nullptr;
  Found found = watch([&] {
    jitk_description_parse("matmul m=1 n=1 k=1", &description, nullptr);
    jitk_description_release(description);
  });
  good &= found.allocations > 1000;
  jitk_device_t device = nullptr;
  Found locked = watch([&] {
    jitk_device_open(runtime.get(), "cuda:0", nullptr, &device, nullptr);
    jitk_device_release(device);
  });
  good &= locked.locks >= 1000;
  std::printf("watched: %lu allocations of descriptions, %lu locks of devices\n", found.allocations, locked.locks);
}

struct Problem {
  const char *description;
  std::vector<int64_t> sizes;
};

/// What a launch gives: whatever the kernel's tensors are, memory that is large enough.
struct Launch {
  Launch(const api::Kernel &of, uint64_t memory, uint64_t bytes, const std::vector<int64_t> &sizes)
      : kernel(of), tensors(jitk_kernel_num_tensors(of.get()), memory),
        scalars(jitk_kernel_num_scalars(of.get()), 0.125F) {
    given = {};
    given.struct_size = sizeof given;
    given.tensors = tensors.data();
    given.num_tensors = tensors.size();
    given.dimensions = sizes.data();
    given.num_dimensions = sizes.size();
    given.scalars = scalars.data();
    given.num_scalars = scalars.size();
    given.workspace = memory;
    given.workspace_bytes = bytes;
  }
  void operator()(jitk_kernel_t on) { good &= jitk_kernel_launch(on, &given, nullptr) == JITK_STATUS_OK; }
  void operator()() { (*this)(kernel.get()); }

  const api::Kernel &kernel;
  std::vector<uint64_t> tensors;
  std::vector<float> scalars;
  jitk_launch_t given;
};

/// Makes the first device's context current, as an engine has it.
void makeCurrent(const char *driver) {
  void *library = ::dlopen(driver, RTLD_NOW), *context = nullptr;
  auto *retain = reinterpret_cast<int (*)(void **, int)>(::dlsym(library, "cuDevicePrimaryCtxRetain"));
  auto *push = reinterpret_cast<int (*)(void *)>(::dlsym(library, "cuCtxPushCurrent_v2"));
  good &= retain(&context, 0) == 0 && push(context) == 0;
}

constexpr uint64_t kBytes = uint64_t{1} << 26;

void checkKernel(const std::string &name, const api::Kernel &kernel, const api::Device &device, uint64_t memory,
                 const std::vector<int64_t> &sizes) {
  Launch launch(kernel, memory, kBytes, sizes);
  launch(); // the first one is not measured: a driver may load then
  int rounds = 0;
  report("launch of " + name, watch([&] {
           launch();
           if (++rounds % 100 == 0) { // a GPU's queue is finite
             isWatched = false;
             device.synchronize();
             isWatched = true;
           }
         }));
  device.synchronize();
}

/// A kernel of CUDA C++ whose launch is plain.
api::Description plainKernel() {
  return api::Description::create("user_kernel",
                                  {{"language", "cuda"},
                                   {"source", "extern \"C\" __global__ void k(float *x, int n, float a) {}\n"},
                                   {"entry", "k"},
                                   {"arguments", "x: updated fp32[n], n: int32, a: fp32"},
                                   {"grid", "ceil(n/128)"},
                                   {"block", "128"},
                                   {"n", "*"}});
}

void check(bool gpu) {
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  options.compiler_library = gpu ? nullptr : JITK_STUB_COMPILER;
  api::Runtime runtime = api::Runtime::create(&options);
  api::Device device = api::Device::open(runtime, "cuda:0");
  checkTheWatch(runtime);
  makeCurrent(gpu ? "libcuda.so.1" : JITK_FAKE_CUDA);
  uint64_t memory = device.allocate(kBytes);
  std::vector<Problem> problems = {{"matmul m=* n=23 k=64", {300}}, {"matmul m=* n=43 k=64", {300}},
                                   {"matmul m=* n=47 k=64", {300}}, {"matmul m=* n=53 k=64", {300}},
                                   {"matmul m=* n=59 k=64", {300}}, {"matmul m=300 n=47 k=64", {}}};
  if (gpu) {
    problems = {{"matmul m=* n=128 k=256", {64}},
                {"matmul m=4 n=256 k=8192 b_layout=col", {}},
                {"fp8_block_matmul m=* n=128 k=256", {64}},
                {"flash_attention heads=2 kv_heads=1 seq_q=* seq_k=* head_dim=128 causal=true", {64, 64}}};
    checkKernel("a user kernel", api::Kernel::obtain(runtime, device, plainKernel()), device, memory, {300});
  }
  for (const Problem &each : problems) {
    api::Kernel kernel = api::Kernel::obtain(runtime, device, api::Description::parse(each.description));
    checkKernel(each.description, kernel, device, memory, each.sizes);
  }

  // From sizes to a kernel, which is launched.
  api::Plan plan = api::Plan::create(runtime);
  api::Description pattern = api::Description::parse("matmul m=* n=128 k=256");
  plan.add(pattern);
  jitk_prepare_options_t prepare = {};
  prepare.struct_size = sizeof prepare;
  prepare.device = device.get();
  plan.prepare(prepare);
  plan.wait();
  plan.seal();
  api::Dispatch dispatch = api::Dispatch::create(plan, device, pattern, {"m", "n"});
  const int64_t key[] = {64, 128};
  const std::vector<int64_t> sizes = {64};
  api::Kernel kernel = plan.kernel(device, pattern);
  Launch launch(kernel, memory, kBytes, sizes);
  launch();
  report("look-up by sizes and launch", watch([&] {
           jitk_kernel_t found = nullptr;
           good &= jitk_dispatch_kernel(dispatch.get(), key, 2, &found, nullptr) == JITK_STATUS_OK;
           launch(found);
         }));
  device.synchronize();
  device.free(memory);
}

} // namespace

int main(int argc, char **argv) {
  bool gpu = argc > 1 && std::strcmp(argv[1], "--gpu") == 0;
  if (!gpu) {
    void *library = ::dlopen(JITK_FAKE_CUDA, RTLD_NOW);
    auto *remember = reinterpret_cast<void (*)(int)>(::dlsym(library, "fake_cuda_remember"));
    remember(0); // it notes nothing, which would take a lock
    ::setenv("JITK_DRIVER_LIBRARY", JITK_FAKE_CUDA, 1);
  }
  ::dl_iterate_phdr(addSegments, nullptr);
  try {
    check(gpu);
  } catch (const std::exception &failure) {
    std::printf("failed: %s\n", failure.what());
    return 1;
  }
  return good ? 0 : 1;
}
