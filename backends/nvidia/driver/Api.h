// The part of the CUDA driver's binary interface that jitk uses, declared here so that no CUDA header is needed.
//
// Names, values and layouts are those of cuda.h of CUDA 12; they are part of a stable binary interface. Where a
// function has versions, the entry names the one that cuda.h binds to.

#pragma once

#include "src/runtime/DirectLaunch.h"

#include <cstddef>
#include <cstdint>

namespace jitk::nvidia::api {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUlibrary = struct CUlib_st *;
using CUkernel = struct CUkern_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_STUB_LIBRARY = 34,
  CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_INVALID_SOURCE = 300,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_SYSTEM_NOT_READY = 802,
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
  CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_CAPTURED_EVENT = 907,
};

enum DeviceAttribute : int {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
};

enum FunctionAttribute : int {
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
};

enum CaptureMode : int {
  CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

enum EventFlag : unsigned { CU_EVENT_DISABLE_TIMING = 2 };

enum StreamFlag : unsigned { CU_STREAM_DEFAULT = 0 };

enum LaunchAttributeId : int {
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
};

struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

using LaunchConfig = DirectLaunchConfig;

} // namespace jitk::nvidia::api

// One line a function: name here, symbol, parameters. All return CUresult. The driver must have every REQUIRED one;
// OPTIONAL ones are null where the driver is older.
#define JITK_CUDA_FUNCTIONS(REQUIRED, OPTIONAL)                                                                        \
  REQUIRED(init, cuInit, (unsigned flags))                                                                             \
  REQUIRED(driverGetVersion, cuDriverGetVersion, (int *version))                                                       \
  REQUIRED(getErrorName, cuGetErrorName, (CUresult error, const char **name))                                          \
  REQUIRED(getErrorString, cuGetErrorString, (CUresult error, const char **text))                                      \
  REQUIRED(deviceGetCount, cuDeviceGetCount, (int *count))                                                             \
  REQUIRED(deviceGet, cuDeviceGet, (CUdevice * device, int ordinal))                                                   \
  REQUIRED(deviceGetName, cuDeviceGetName, (char *name, int length, CUdevice device))                                  \
  REQUIRED(deviceGetAttribute, cuDeviceGetAttribute, (int *value, DeviceAttribute attribute, CUdevice device))         \
  REQUIRED(primaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                         \
  REQUIRED(primaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                         \
  REQUIRED(ctxGetDevice, cuCtxGetDevice, (CUdevice * device))                                                          \
  REQUIRED(ctxGetCurrent, cuCtxGetCurrent, (CUcontext * context))                                                      \
  REQUIRED(ctxPushCurrent, cuCtxPushCurrent_v2, (CUcontext context))                                                   \
  REQUIRED(ctxPopCurrent, cuCtxPopCurrent_v2, (CUcontext * context))                                                   \
  REQUIRED(ctxSynchronize, cuCtxSynchronize, ())                                                                       \
  REQUIRED(threadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (CaptureMode * mode))                   \
  REQUIRED(eventCreate, cuEventCreate, (CUevent * event, unsigned flags))                                              \
  REQUIRED(eventDestroy, cuEventDestroy_v2, (CUevent event))                                                           \
  REQUIRED(eventQuery, cuEventQuery, (CUevent event))                                                                  \
  REQUIRED(memAlloc, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                             \
  REQUIRED(memFree, cuMemFree_v2, (CUdeviceptr address))                                                               \
  REQUIRED(memcpyHtoD, cuMemcpyHtoDAsync_v2,                                                                           \
           (CUdeviceptr destination, const void *source, size_t bytes, CUstream stream))                               \
  REQUIRED(memcpyDtoH, cuMemcpyDtoHAsync_v2, (void *destination, CUdeviceptr source, size_t bytes, CUstream stream))   \
  REQUIRED(memsetD8, cuMemsetD8Async, (CUdeviceptr destination, unsigned char value, size_t bytes, CUstream stream))   \
  REQUIRED(streamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))                                          \
  REQUIRED(streamDestroy, cuStreamDestroy_v2, (CUstream stream))                                                       \
  REQUIRED(streamSynchronize, cuStreamSynchronize, (CUstream stream))                                                  \
  REQUIRED(moduleLoadData, cuModuleLoadData, (CUmodule * module, const void *image))                                   \
  REQUIRED(moduleUnload, cuModuleUnload, (CUmodule module))                                                            \
  REQUIRED(moduleGetFunction, cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))         \
  REQUIRED(funcSetAttribute, cuFuncSetAttribute, (CUfunction function, FunctionAttribute attribute, int value))        \
  REQUIRED(launchKernel, cuLaunchKernel,                                                                               \
           (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,     \
            unsigned blockZ, unsigned sharedBytes, CUstream stream, void **arguments, void **extra))                   \
  OPTIONAL(launchKernelEx, cuLaunchKernelEx,                                                                           \
           (const LaunchConfig *config, void *function, void **arguments, void **extra))                               \
  OPTIONAL(ctxRecordEvent, cuCtxRecordEvent, (CUcontext context, CUevent event))                                       \
  OPTIONAL(libraryLoadData, cuLibraryLoadData,                                                                         \
           (CUlibrary * library, const void *code, void *jitOptions, void **jitValues, unsigned numJitOptions,         \
            void *libraryOptions, void **libraryValues, unsigned numLibraryOptions))                                   \
  OPTIONAL(libraryUnload, cuLibraryUnload, (CUlibrary library))                                                        \
  OPTIONAL(libraryGetKernel, cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char *name))             \
  OPTIONAL(kernelGetFunction, cuKernelGetFunction, (CUfunction * function, CUkernel kernel))                           \
  OPTIONAL(funcLoad, cuFuncLoad, (CUfunction function))                                                                \
  OPTIONAL(tensorMapEncodeTiled, cuTensorMapEncodeTiled,                                                               \
           (void *map, int dataType, uint32_t rank, void *address, const uint64_t *sizes, const uint64_t *strides,     \
            const uint32_t *box, const uint32_t *elementStrides, int interleave, int swizzle, int promotion,           \
            int fill))
