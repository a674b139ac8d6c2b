#include "src/tools/timing/Gpu.h"

#include <algorithm>
#include <dlfcn.h>
#include <stdexcept>
#include <utility>

namespace jitk::timing {

using Code = int;

struct Gpu::Api {
  void *library = nullptr;
  Code (*init)(unsigned) = nullptr;
  Code (*driverGetVersion)(int *) = nullptr;
  Code (*primaryCtxRetain)(void **, int) = nullptr;
  Code (*ctxSetCurrent)(void *) = nullptr;
  Code (*streamCreate)(void **, unsigned) = nullptr;
  Code (*streamDestroy)(void *) = nullptr;
  Code (*streamSynchronize)(void *) = nullptr;
  Code (*streamBeginCapture)(void *, int) = nullptr;
  Code (*streamEndCapture)(void *, void **) = nullptr;
  Code (*graphInstantiate)(void **, void *, unsigned long long) = nullptr;
  Code (*graphLaunch)(void *, void *) = nullptr;
  Code (*graphDestroy)(void *) = nullptr;
  Code (*graphExecDestroy)(void *) = nullptr;
  Code (*eventCreate)(void **, unsigned) = nullptr;
  Code (*eventDestroy)(void *) = nullptr;
  Code (*eventRecord)(void *, void *) = nullptr;
  Code (*eventElapsed)(float *, void *, void *) = nullptr;
  Code (*memcpyDtoDAsync)(uint64_t, uint64_t, size_t, void *) = nullptr;
  Code (*memGetInfo)(size_t *, size_t *) = nullptr;

  Api() : library(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (!library) {
      throw std::runtime_error(std::string("the CUDA driver cannot be opened: ") + dlerror());
    }
    load(init, "cuInit");
    load(driverGetVersion, "cuDriverGetVersion");
    load(primaryCtxRetain, "cuDevicePrimaryCtxRetain");
    load(ctxSetCurrent, "cuCtxSetCurrent");
    load(streamCreate, "cuStreamCreate");
    load(streamDestroy, "cuStreamDestroy_v2");
    load(streamSynchronize, "cuStreamSynchronize");
    load(streamBeginCapture, "cuStreamBeginCapture_v2");
    load(streamEndCapture, "cuStreamEndCapture");
    load(graphInstantiate, "cuGraphInstantiateWithFlags");
    load(graphLaunch, "cuGraphLaunch");
    load(graphDestroy, "cuGraphDestroy");
    load(graphExecDestroy, "cuGraphExecDestroy");
    load(eventCreate, "cuEventCreate");
    load(eventDestroy, "cuEventDestroy_v2");
    load(eventRecord, "cuEventRecord");
    load(eventElapsed, "cuEventElapsedTime");
    load(memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
    load(memGetInfo, "cuMemGetInfo_v2");
  }

  template <typename T> void load(T &function, const char *name) {
    function = reinterpret_cast<T>(dlsym(library, name));
    if (!function) {
      throw std::runtime_error(std::string("the CUDA driver lacks ") + name);
    }
  }
};

static void check(Code code, const char *call) {
  if (code != 0) {
    throw std::runtime_error(std::string(call) + " failed with code " + std::to_string(code));
  }
}

Gpu::Gpu(int ordinal) : api_(std::make_unique<Api>()) {
  constexpr unsigned kNonBlocking = 1;
  void *context = nullptr;
  check(api_->init(0), "cuInit");
  // Kept for the life of the process, as the device's memory is.
  check(api_->primaryCtxRetain(&context, ordinal), "cuDevicePrimaryCtxRetain");
  check(api_->ctxSetCurrent(context), "cuCtxSetCurrent");
  check(api_->streamCreate(&stream_, kNonBlocking), "cuStreamCreate");
  check(api_->eventCreate(&begin_, 0), "cuEventCreate");
  check(api_->eventCreate(&end_, 0), "cuEventCreate");
}

Gpu::~Gpu() {
  api_->eventDestroy(begin_);
  api_->eventDestroy(end_);
  api_->streamDestroy(stream_);
}

Gpu::Graph::~Graph() {
  if (executable_) {
    api_->graphExecDestroy(executable_);
  }
}
Gpu::Graph::Graph(Graph &&other) noexcept : api_(other.api_), executable_(std::exchange(other.executable_, nullptr)) {}
Gpu::Graph &Gpu::Graph::operator=(Graph other) noexcept {
  std::swap(api_, other.api_);
  std::swap(executable_, other.executable_);
  return *this;
}

Gpu::Graph Gpu::record(int calls, const std::function<void(void *)> &enqueue, CaptureMode mode) const {
  void *graph = nullptr;
  check(api_->streamBeginCapture(stream_, static_cast<int>(mode)), "cuStreamBeginCapture");
  for (int call = 0; call < calls; ++call) {
    enqueue(stream_);
  }
  check(api_->streamEndCapture(stream_, &graph), "cuStreamEndCapture");
  Graph result;
  result.api_ = api_.get();
  Code code = api_->graphInstantiate(&result.executable_, graph, 0);
  api_->graphDestroy(graph);
  check(code, "cuGraphInstantiate");
  return result;
}

double Gpu::replay(const Graph &graph) const {
  check(api_->eventRecord(begin_, stream_), "cuEventRecord");
  check(api_->graphLaunch(graph.executable_, stream_), "cuGraphLaunch");
  check(api_->eventRecord(end_, stream_), "cuEventRecord");
  synchronize();
  float milliseconds = 0;
  check(api_->eventElapsed(&milliseconds, begin_, end_), "cuEventElapsedTime");
  return 1000.0 * milliseconds;
}

void Gpu::synchronize() const { check(api_->streamSynchronize(stream_), "cuStreamSynchronize"); }

void Gpu::repeat(uint64_t address, size_t patternBytes, size_t totalBytes) const {
  for (size_t done = patternBytes; done < totalBytes; done += patternBytes) {
    check(api_->memcpyDtoDAsync(address + done, address, std::min(patternBytes, totalBytes - done), stream_),
          "cuMemcpyDtoDAsync");
  }
  synchronize();
}

size_t Gpu::freeBytes() const {
  size_t free = 0, total = 0;
  check(api_->memGetInfo(&free, &total), "cuMemGetInfo");
  return free;
}

std::string Gpu::driverVersion() const {
  int version = 0;
  check(api_->driverGetVersion(&version), "cuDriverGetVersion");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace jitk::timing
