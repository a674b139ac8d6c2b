// A libcuda.so.1 without a GPU: host memory, recorded launches, and any answer that a test wants.
//
// Built twice: as a driver of CUDA 12, and, with JITK_FAKE_OLD_DRIVER, as one that has neither libraries nor launch
// attributes nor tensor maps.

#include "tests/fakes/FakeCuda.h"

#include "backends/nvidia/driver/Api.h"

#include <cstdlib>
#include <cstring>

using namespace jitk::nvidia::api;
using jitk::test::FakeCuda;
using jitk::test::FakeLaunch;

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT FakeCuda *fake_cuda() {
  static FakeCuda fake;
  return &fake;
}

/// Notes the call; returns the answer that the test wants of it.
static CUresult note(const char *symbol) {
  FakeCuda &fake = *fake_cuda();
  fake.calls.emplace_back(symbol);
  auto failure = fake.failures.find(symbol);
  return failure == fake.failures.end() ? CUDA_SUCCESS : failure->second;
}

// Returns early with the wanted answer.
#define NOTE()                                                                                                         \
  if (CUresult answer = note(__func__); answer != CUDA_SUCCESS) {                                                      \
    return answer;                                                                                                     \
  }

static bool hasContext() { return !fake_cuda()->contexts.empty(); }

// Handles are the addresses of these names.
static char contextObject, moduleObject;
static std::string lastSymbol;

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
  switch (error) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    *name = "CUDA_ERROR_OUT_OF_MEMORY";
    return CUDA_SUCCESS;
  case CUDA_ERROR_INVALID_IMAGE:
    *name = "CUDA_ERROR_INVALID_IMAGE";
    return CUDA_SUCCESS;
  default:
    *name = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
  }
}

FAKE_EXPORT CUresult cuGetErrorString(CUresult error, const char **text) {
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
  bool major = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
  *value = major ? fake_cuda()->major[device] : fake_cuda()->minor[device];
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  NOTE();
  ++fake_cuda()->numContexts;
  *context = reinterpret_cast<CUcontext>(&contextObject);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  NOTE();
  --fake_cuda()->numContexts;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
  NOTE();
  *context = hasContext() ? static_cast<CUcontext>(fake_cuda()->contexts.back()) : nullptr;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  NOTE();
  fake_cuda()->contexts.push_back(context);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  NOTE();
  if (!hasContext()) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *context = static_cast<CUcontext>(fake_cuda()->contexts.back());
  fake_cuda()->contexts.pop_back();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxSynchronize() {
  NOTE();
  return hasContext() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

FAKE_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  NOTE();
  if (bytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  NOTE();
  std::free(reinterpret_cast<void *>(address));
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t bytes) {
  NOTE();
  std::memcpy(reinterpret_cast<void *>(destination), source, bytes);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemcpyDtoH_v2(void *destination, CUdeviceptr source, size_t bytes) {
  NOTE();
  std::memcpy(destination, reinterpret_cast<const void *>(source), bytes);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t bytes) {
  NOTE();
  std::memset(reinterpret_cast<void *>(destination), value, bytes);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *) {
  NOTE();
  ++fake_cuda()->numModules;
  *module = reinterpret_cast<CUmodule>(&moduleObject);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleUnload(CUmodule) {
  NOTE();
  --fake_cuda()->numModules;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  NOTE();
  lastSymbol = name;
  *function = reinterpret_cast<CUfunction>(&lastSymbol);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuFuncSetAttribute(CUfunction, FunctionAttribute attribute, int value) {
  NOTE();
  fake_cuda()->attributes.emplace_back(attribute, value);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                                    CUstream stream, void **, void **) {
  NOTE();
  fake_cuda()->launches.push_back({*reinterpret_cast<std::string *>(function),
                                   {gridX, gridY, gridZ},
                                   {blockX, blockY, blockZ},
                                   sharedBytes,
                                   {1, 1, 1},
                                   false,
                                   stream,
                                   hasContext()});
  return CUDA_SUCCESS;
}

#ifndef JITK_FAKE_OLD_DRIVER

FAKE_EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *, void *, void **, unsigned, void *, void **,
                                       unsigned) {
  NOTE();
  ++fake_cuda()->numModules;
  *library = reinterpret_cast<CUlibrary>(&moduleObject);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLibraryUnload(CUlibrary) {
  NOTE();
  --fake_cuda()->numModules;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary, const char *name) {
  NOTE();
  lastSymbol = name;
  *kernel = reinterpret_cast<CUkernel>(&lastSymbol);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  NOTE();
  *function = reinterpret_cast<CUfunction>(kernel);
  return hasContext() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

FAKE_EXPORT CUresult cuFuncLoad(CUfunction) {
  NOTE();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLaunchKernelEx(const LaunchConfig *config, CUfunction function, void **, void **) {
  NOTE();
  FakeLaunch launch = {*reinterpret_cast<std::string *>(function),
                       {config->gridDimX, config->gridDimY, config->gridDimZ},
                       {config->blockDimX, config->blockDimY, config->blockDimZ},
                       config->sharedMemBytes,
                       {1, 1, 1},
                       false,
                       config->hStream,
                       hasContext()};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const LaunchAttribute &attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      launch.cluster[0] = attribute.value.clusterDim.x;
      launch.cluster[1] = attribute.value.clusterDim.y;
      launch.cluster[2] = attribute.value.clusterDim.z;
    }
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
      launch.programmatic = attribute.value.programmaticStreamSerializationAllowed != 0;
    }
  }
  fake_cuda()->launches.push_back(launch);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuTensorMapEncodeTiled(void *map, int, uint32_t, void *address, const uint64_t *, const uint64_t *,
                                            const uint32_t *, const uint32_t *, int, int, int, int) {
  NOTE();
  std::memset(map, 0, 128);
  std::memcpy(map, &address, sizeof address);
  return CUDA_SUCCESS;
}

#endif
