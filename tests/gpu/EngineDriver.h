// The few functions of the driver that an engine calls itself, beside jitk.

#pragma once

#include <cstdint>
#include <dlfcn.h>
#include <doctest/doctest.h>

namespace jitk::gpu {

/// Of libcuda.so.1, which something of jitk must have initialized.
struct EngineDriver {
  using Context = void *;
  using Stream = void *;
  using Event = void *;
  using Graph = void *;
  /// CU_STREAM_DEFAULT: one that waits for the legacy default stream, and that it waits for; CU_STREAM_NON_BLOCKING.
  enum StreamKind : unsigned { kBlocking = 0, kNonBlocking = 1 };
  static constexpr int kNotReady = 600; ///< CUDA_ERROR_NOT_READY

  EngineDriver() {
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    load(deviceCount, "cuDeviceGetCount");
    load(create, "cuCtxCreate_v2");
    load(destroy, "cuCtxDestroy_v2");
    load(getCurrent, "cuCtxGetCurrent");
    load(setCurrent, "cuCtxSetCurrent");
    load(retainPrimary, "cuDevicePrimaryCtxRetain");
    load(releasePrimary, "cuDevicePrimaryCtxRelease_v2");
    load(createStream, "cuStreamCreate");
    load(destroyStream, "cuStreamDestroy_v2");
    load(synchronizeStream, "cuStreamSynchronize");
    load(beginCapture, "cuStreamBeginCapture_v2");
    load(endCapture, "cuStreamEndCapture");
    load(destroyGraph, "cuGraphDestroy");
    load(createEvent, "cuEventCreate");
    load(destroyEvent, "cuEventDestroy_v2");
    load(recordEvent, "cuEventRecord");
    load(queryEvent, "cuEventQuery");
    load(allocateHost, "cuMemHostAlloc");
    load(freeHost, "cuMemFreeHost");
  }

  void *library = nullptr;
  int (*deviceCount)(int *) = nullptr;
  int (*create)(Context *, unsigned flags, int device) = nullptr;
  int (*destroy)(Context) = nullptr;
  int (*getCurrent)(Context *) = nullptr;
  int (*setCurrent)(Context) = nullptr;
  int (*retainPrimary)(Context *, int device) = nullptr;
  int (*releasePrimary)(int device) = nullptr;
  int (*createStream)(Stream *, unsigned flags) = nullptr;
  int (*destroyStream)(Stream) = nullptr;
  int (*synchronizeStream)(Stream) = nullptr;
  int (*beginCapture)(Stream, int mode) = nullptr;
  int (*endCapture)(Stream, Graph *) = nullptr;
  int (*destroyGraph)(Graph) = nullptr;
  int (*createEvent)(Event *, unsigned flags) = nullptr;
  int (*destroyEvent)(Event) = nullptr;
  int (*recordEvent)(Event, Stream) = nullptr;
  int (*queryEvent)(Event) = nullptr;
  int (*allocateHost)(void **, size_t bytes, unsigned flags) = nullptr;
  int (*freeHost)(void *) = nullptr;

  Context current() const {
    Context context = nullptr;
    CHECK(getCurrent(&context) == 0);
    return context;
  }

private:
  template <typename Function> void load(Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(library, name));
    bool found = function != nullptr;
    REQUIRE_MESSAGE(found, name);
  }
};

} // namespace jitk::gpu
