// A libcuda.so.1 without a GPU: host memory, recorded launches, and any answer that a test wants. For any number of
// threads.
//
// Built twice: as a driver of CUDA 12, and, with JITK_FAKE_OLD_DRIVER, as one that has neither libraries nor launch
// attributes nor tensor maps nor events of a whole context.

#include "tests/fakes/FakeCuda.h"

#include "backends/nvidia/driver/Api.h"
#include "tests/fakes/CacheWalk.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

using namespace jitk::nvidia::api;
using jitk::test::FakeCuda;
using jitk::test::FakeLaunch;
using jitk::test::FakeLink;

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

/// What handles of functions point to.
struct Function {
  std::string symbol;
  void *context;
  struct Code *code;
};

/// What handles of modules and libraries point to.
struct Code {
  std::vector<std::unique_ptr<Function>> functions;
  std::atomic<int> inFlight = 0;
};

std::mutex mutex;                                                ///< guards all of FakeCuda but `numLaunches`
char contextObjects[2 * FakeCuda::kMaximalDevices], eventObject; ///< primary contexts, then one of an engine for each
std::vector<Code *> loaded;                                      ///< guarded by mutex
/// What the host has written; it is there when somebody has waited for its stream.
struct Transfer {
  CUstream stream;
  CUdeviceptr destination;
  std::vector<unsigned char> bytes;
};
std::vector<Transfer> unfinished; ///< guarded by mutex
thread_local std::vector<void *> contexts;
thread_local int captureMode = 0; ///< of this thread: 0 global, 1 thread-local, 2 relaxed

} // namespace

FAKE_EXPORT FakeCuda *fake_cuda() {
  static FakeCuda fake;
  return &fake;
}
FAKE_EXPORT std::vector<void *> *fake_cuda_contexts() { return &contexts; }
FAKE_EXPORT void *fake_cuda_context(int device) { return &contextObjects[device]; }
FAKE_EXPORT void *fake_cuda_engine_context(int device) { return &contextObjects[FakeCuda::kMaximalDevices + device]; }

FAKE_EXPORT uint64_t fake_cuda_count(const char *symbol) {
  std::lock_guard lock(mutex);
  uint64_t count = 0;
  for (const auto &[name, calls] : fake_cuda()->numCalls) {
    count += *symbol == 0 || name == symbol ? calls : 0;
  }
  return count;
}
FAKE_EXPORT int fake_cuda_most_modules() {
  std::lock_guard lock(mutex);
  return fake_cuda()->mostModules;
}
FAKE_EXPORT void fake_cuda_fail(const char *symbol, int code) { fake_cuda()->failures[symbol] = code; }
FAKE_EXPORT void fake_cuda_set_capturing(int capturing) { fake_cuda()->capturing = capturing != 0; }
FAKE_EXPORT void fake_cuda_set_version(int version) { fake_cuda()->version = version; }
FAKE_EXPORT void fake_cuda_remember(int remember) { fake_cuda()->remember = remember != 0; }
FAKE_EXPORT void fake_cuda_walk(int walk) { fake_cuda()->walks = walk != 0; }

/// Notes the call; returns the answer that the test wants of it.
static CUresult note(const char *symbol) {
  std::lock_guard lock(mutex);
  FakeCuda &fake = *fake_cuda();
  ++fake.numCalls[symbol];
  if (fake.remember) {
    fake.calls.emplace_back(symbol);
  }
  auto failure = fake.failures.find(symbol);
  return failure == fake.failures.end() ? CUDA_SUCCESS : failure->second;
}

// Returns early with the wanted answer.
#define NOTE()                                                                                                         \
  if (CUresult answer = note(__func__); answer != CUDA_SUCCESS) {                                                      \
    return answer;                                                                                                     \
  }

/// Whether a capture forbids this thread to make calls that may wait or allocate; such a call spoils the capture.
static bool forbidden(bool evenIfRelaxed = false) {
  FakeCuda &fake = *fake_cuda();
  bool refused = fake.capturing && (evenIfRelaxed || captureMode != 2);
  fake.captureInvalidated |= refused && captureMode != 2;
  return refused;
}

#define UNSAFE_UNDER_CAPTURE()                                                                                         \
  if (forbidden()) {                                                                                                   \
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;                                                                      \
  }

static void *currentContext() { return contexts.empty() ? nullptr : contexts.back(); }

FAKE_EXPORT CUresult cuInit(unsigned) {
  NOTE();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDriverGetVersion(int *version) {
  NOTE();
  *version = fake_cuda()->version;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGetErrorName(CUresult error, const char **name) {
  NOTE();
  static const std::map<CUresult, const char *> kNames = {
      {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
      {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
      {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
  };
  auto found = kNames.find(error);
  *name = found == kNames.end() ? nullptr : found->second;
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuGetErrorString(CUresult error, const char **text) {
  NOTE();
  *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : nullptr;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuDeviceGetCount(int *count) {
  NOTE();
  *count = fake_cuda()->numDevices;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  NOTE();
  *device = ordinal;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  NOTE();
  std::strncpy(name, "Fake GPU", static_cast<size_t>(length));
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGetAttribute(int *value, DeviceAttribute attribute, CUdevice device) {
  NOTE();
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = fake_cuda()->multiprocessors[device];
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = fake_cuda()->major[device];
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = fake_cuda()->minor[device];
    break;
  }
  return CUDA_SUCCESS;
}

// --- contexts

FAKE_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  NOTE();
  std::lock_guard lock(mutex);
  ++fake_cuda()->numContexts;
  *context = reinterpret_cast<CUcontext>(&contextObjects[device]);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  NOTE();
  std::lock_guard lock(mutex);
  --fake_cuda()->numContexts;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
  if (fake_cuda()->remember) {
    NOTE();
  }
  *context = static_cast<CUcontext>(currentContext());
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
  NOTE();
  if (!currentContext()) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  auto index = static_cast<char *>(currentContext()) - contextObjects;
  *device = static_cast<CUdevice>(index % FakeCuda::kMaximalDevices);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  NOTE();
  contexts.push_back(context);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  NOTE();
  if (contexts.empty()) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *context = static_cast<CUcontext>(contexts.back());
  contexts.pop_back();
  return CUDA_SUCCESS;
}

// --- the linker

enum : int { kInfoBuffer = 3, kInfoBytes = 4, kErrorBuffer = 5, kErrorBytes = 6 }; // of CUjit_option

/// Writes a log into the buffer that the caller gave, as far as it reaches.
static void writeLog(const FakeLink &link, int buffer, int bytes, const std::string &log) {
  if (link.options.contains(buffer) && link.options.contains(bytes)) {
    std::snprintf(reinterpret_cast<char *>(link.options.at(buffer)), link.options.at(bytes), "%s", log.c_str());
  }
}

/// The link that a handle means: one more than its place in the list.
static FakeLink &linkOf(void *handle) { return fake_cuda()->links[reinterpret_cast<uintptr_t>(handle) - 1]; }

/// Notes a call on a link; whatever the answer is, the logs are written by then.
static CUresult noteLink(const char *symbol, void *handle) {
  CUresult answer = note(symbol);
  std::lock_guard lock(mutex);
  writeLog(linkOf(handle), kInfoBuffer, kInfoBytes, fake_cuda()->linkInfo);
  writeLog(linkOf(handle), kErrorBuffer, kErrorBytes, answer == CUDA_SUCCESS ? "" : fake_cuda()->linkError);
  return answer;
}

FAKE_EXPORT CUresult cuLinkCreate_v2(unsigned numOptions, int *options, void **values, void **handle) {
  NOTE();
  if (currentContext() == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  std::lock_guard lock(mutex);
  FakeLink &link = fake_cuda()->links.emplace_back();
  for (unsigned i = 0; i < numOptions; ++i) {
    link.options[options[i]] = reinterpret_cast<uintptr_t>(values[i]);
  }
  ++fake_cuda()->numLinks;
  *handle = reinterpret_cast<void *>(fake_cuda()->links.size());
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLinkAddData_v2(void *handle, int type, void *data, size_t size, const char *name, unsigned,
                                      int *, void **) {
  FakeLink &link = linkOf(handle);
  link.inputType = type;
  link.text.assign(static_cast<const char *>(data), size);
  link.name = name;
  return noteLink(__func__, handle);
}

FAKE_EXPORT CUresult cuLinkComplete(void *handle, void **code, size_t *size) {
  *code = fake_cuda()->linkCode.data();
  *size = fake_cuda()->linkCode.size();
  linkOf(handle).completed = true;
  return noteLink(__func__, handle);
}

FAKE_EXPORT CUresult cuLinkDestroy(void *) {
  NOTE();
  std::lock_guard lock(mutex);
  --fake_cuda()->numLinks;
  return CUDA_SUCCESS;
}

/// Those of a stream, or of all. The mutex is held.
static void finishTransfers(std::optional<CUstream> stream = std::nullopt) {
  std::erase_if(unfinished, [&](const Transfer &transfer) {
    bool finishes = !stream || transfer.stream == *stream;
    if (finishes) {
      std::memcpy(reinterpret_cast<void *>(transfer.destination), transfer.bytes.data(), transfer.bytes.size());
    }
    return finishes;
  });
}

// --- streams

FAKE_EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned) {
  NOTE();
  std::lock_guard lock(mutex);
  UNSAFE_UNDER_CAPTURE();
  ++fake_cuda()->numStreams;
  *stream = reinterpret_cast<CUstream>(new char);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  NOTE();
  std::lock_guard lock(mutex);
  --fake_cuda()->numStreams;
  delete reinterpret_cast<char *>(stream);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  NOTE();
  std::lock_guard lock(mutex);
  UNSAFE_UNDER_CAPTURE();
  finishTransfers(stream);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxSynchronize() {
  NOTE();
  if (!currentContext()) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  std::lock_guard lock(mutex);
  if (forbidden(/*evenIfRelaxed=*/true)) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  finishTransfers();
  for (Code *code : loaded) {
    code->inFlight = 0;
  }
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CaptureMode *mode) {
  NOTE();
  int old = captureMode;
  captureMode = *mode;
  *mode = static_cast<CaptureMode>(old);
  return CUDA_SUCCESS;
}

// --- events

FAKE_EXPORT CUresult cuEventCreate(CUevent *event, unsigned) {
  NOTE();
  std::lock_guard lock(mutex);
  ++fake_cuda()->numEvents;
  *event = reinterpret_cast<CUevent>(&eventObject);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventDestroy_v2(CUevent) {
  NOTE();
  std::lock_guard lock(mutex);
  --fake_cuda()->numEvents;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventQuery(CUevent) {
  NOTE();
  std::lock_guard lock(mutex);
  UNSAFE_UNDER_CAPTURE();
  return fake_cuda()->busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

// --- memory

FAKE_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  NOTE();
  if (bytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::lock_guard lock(mutex);
  UNSAFE_UNDER_CAPTURE();
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  NOTE();
  std::lock_guard lock(mutex);
  UNSAFE_UNDER_CAPTURE();
  finishTransfers();
  std::free(reinterpret_cast<void *>(address));
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t bytes, CUstream stream) {
  NOTE();
  auto *from = static_cast<const unsigned char *>(source);
  std::lock_guard lock(mutex);
  unfinished.push_back({stream, destination, std::vector<unsigned char>(from, from + bytes)});
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  NOTE();
  std::lock_guard lock(mutex);
  finishTransfers(stream);
  std::memcpy(destination, reinterpret_cast<const void *>(source), bytes);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t bytes, CUstream stream) {
  NOTE();
  std::lock_guard lock(mutex);
  unfinished.push_back({stream, destination, std::vector<unsigned char>(bytes, value)});
  return CUDA_SUCCESS;
}

// --- code

static CUresult load(Code *&code) {
  std::lock_guard lock(mutex);
  UNSAFE_UNDER_CAPTURE();
  FakeCuda &fake = *fake_cuda();
  fake.mostModules = std::max(fake.mostModules, ++fake.numModules);
  code = loaded.emplace_back(new Code);
  return CUDA_SUCCESS;
}

static CUresult unload(Code *code) {
  std::lock_guard lock(mutex);
  UNSAFE_UNDER_CAPTURE();
  FakeCuda &fake = *fake_cuda();
  fake.numUnloadedInFlight += fake.busy && code->inFlight > 0;
  --fake.numModules;
  std::erase(loaded, code);
  delete code;
  return CUDA_SUCCESS;
}

static CUresult getFunction(Code *code, const char *symbol, CUfunction *function) {
  if (!currentContext()) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  std::lock_guard lock(mutex);
  code->functions.push_back(std::make_unique<Function>(Function{symbol, currentContext(), code}));
  *function = reinterpret_cast<CUfunction>(code->functions.back().get());
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *) {
  NOTE();
  Code *code = nullptr;
  CUresult result = load(code);
  *module = reinterpret_cast<CUmodule>(code);
  return result;
}

FAKE_EXPORT CUresult cuModuleUnload(CUmodule module) {
  NOTE();
  return unload(reinterpret_cast<Code *>(module));
}

/// Every module has one function without a name.
FAKE_EXPORT CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module) {
  NOTE();
  return count == 0 ? CUDA_SUCCESS : getFunction(reinterpret_cast<Code *>(module), "", functions);
}

FAKE_EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  NOTE();
  return getFunction(reinterpret_cast<Code *>(module), name, function);
}

FAKE_EXPORT CUresult cuFuncSetAttribute(CUfunction, FunctionAttribute attribute, int value) {
  NOTE();
  std::lock_guard lock(mutex);
  fake_cuda()->attributes.emplace_back(attribute, value);
  return CUDA_SUCCESS;
}

// --- launching

/// Counts a launch; true if it is to be described too.
static bool countLaunch(const Function &function) {
  FakeCuda &fake = *fake_cuda();
  std::atomic_ref(fake.numLaunches).fetch_add(1, std::memory_order_relaxed);
  if (fake.busy) {
    function.code->inFlight.fetch_add(1, std::memory_order_relaxed);
  }
  if (fake.walks) {
    jitk::test::walkThroughCaches();
  }
  return fake.remember;
}

FAKE_EXPORT CUresult cuLaunchKernel(CUfunction handle, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                    unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **,
                                    void **) {
  const Function &function = *reinterpret_cast<Function *>(handle);
  if (!countLaunch(function)) {
    return CUDA_SUCCESS;
  }
  NOTE();
  std::lock_guard lock(mutex);
  fake_cuda()->launches.push_back({function.symbol,
                                   {gridX, gridY, gridZ},
                                   {blockX, blockY, blockZ},
                                   sharedBytes,
                                   {1, 1, 1},
                                   false,
                                   stream,
                                   currentContext() == function.context});
  return CUDA_SUCCESS;
}

#ifndef JITK_FAKE_OLD_DRIVER

FAKE_EXPORT CUresult cuCtxRecordEvent(CUcontext, CUevent) {
  NOTE();
  std::lock_guard lock(mutex);
  return forbidden(/*evenIfRelaxed=*/true) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *, void *, void **, unsigned, void *, void **,
                                       unsigned) {
  NOTE();
  Code *code = nullptr;
  CUresult result = load(code);
  *library = reinterpret_cast<CUlibrary>(code);
  return result;
}

FAKE_EXPORT CUresult cuLibraryUnload(CUlibrary library) {
  NOTE();
  return unload(reinterpret_cast<Code *>(library));
}

FAKE_EXPORT CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  NOTE();
  std::lock_guard lock(mutex);
  Code *code = reinterpret_cast<Code *>(library);
  code->functions.push_back(std::make_unique<Function>(Function{name, nullptr, code}));
  *kernel = reinterpret_cast<CUkernel>(code->functions.back().get());
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  NOTE();
  const Function &found = *reinterpret_cast<Function *>(kernel);
  return getFunction(found.code, std::string(found.symbol).c_str(), function);
}

FAKE_EXPORT CUresult cuFuncLoad(CUfunction) {
  NOTE();
  std::lock_guard lock(mutex);
  UNSAFE_UNDER_CAPTURE();
  return CUDA_SUCCESS;
}

/// Streams that a context has without their being made are those of the current one, as a driver of CUDA 13 has it.
static CUresult refusalInContext(const Function &function, const void *stream) {
  bool isOfCurrent = reinterpret_cast<uintptr_t>(stream) <= 2; // null, legacy, per thread
  return !isOfCurrent || currentContext() == function.context ? CUDA_SUCCESS
         : currentContext()                                   ? CUDA_ERROR_INVALID_HANDLE
                                                              : CUDA_ERROR_INVALID_CONTEXT;
}

FAKE_EXPORT CUresult cuLaunchKernelEx(const LaunchConfig *config, void *handle, void **, void **extra) {
  const Function &function = *static_cast<Function *>(handle);
  CUresult refusal = refusalInContext(function, config->stream);
  if (refusal == CUDA_SUCCESS ? !countLaunch(function) : !fake_cuda()->remember) {
    return refusal;
  }
  NOTE();
  if (refusal != CUDA_SUCCESS) {
    return refusal;
  }
  FakeLaunch launch = {function.symbol,
                       {config->grid[0], config->grid[1], config->grid[2]},
                       {config->block[0], config->block[1], config->block[2]},
                       config->sharedBytes,
                       {1, 1, 1},
                       false,
                       config->stream,
                       currentContext() == function.context};
  for (unsigned i = 0; i < config->numAttributes; ++i) {
    const LaunchAttribute &attribute = static_cast<const LaunchAttribute *>(config->attributes)[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      launch.cluster[0] = attribute.value.clusterDim.x;
      launch.cluster[1] = attribute.value.clusterDim.y;
      launch.cluster[2] = attribute.value.clusterDim.z;
    }
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
      launch.programmatic = attribute.value.programmaticStreamSerializationAllowed != 0;
    }
  }
  enum : uintptr_t { End = 0, BufferPointer = 1, BufferSize = 2 };
  auto key = [&](size_t at) { return reinterpret_cast<uintptr_t>(extra[at]); };
  if (extra && (key(0) != BufferPointer || key(2) != BufferSize || key(4) != End)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (extra) {
    const auto *bytes = static_cast<const uint8_t *>(extra[1]);
    launch.parameters.assign(bytes, bytes + *static_cast<const size_t *>(extra[3]));
  }
  std::lock_guard lock(mutex);
  fake_cuda()->launches.push_back(launch);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuTensorMapEncodeTiled(void *map, int, uint32_t rank, void *address, const uint64_t *sizes,
                                            const uint64_t *, const uint32_t *box, const uint32_t *, int, int,
                                            int promotion, int) {
  if (fake_cuda()->remember) {
    NOTE();
    std::lock_guard lock(mutex);
    fake_cuda()->tensorMaps.push_back({address, {sizes, sizes + rank}, {box, box + rank}});
  }
  if (currentContext() == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  std::memset(map, 0, 128);
  std::memcpy(map, &address, sizeof address);
  std::memcpy(static_cast<char *>(map) + sizeof address, &promotion, sizeof promotion);
  return CUDA_SUCCESS;
}

#endif
