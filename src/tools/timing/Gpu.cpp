#include "src/tools/timing/Gpu.h"

#include "src/tools/timing/DynamicLibrary.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace jitk::timing {

using Code = int;

struct Gpu::Api {
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

  Api() {
    DynamicLibrary driver = openDriver();
    driver.load(init, "cuInit");
    driver.load(driverGetVersion, "cuDriverGetVersion");
    driver.load(primaryCtxRetain, "cuDevicePrimaryCtxRetain");
    driver.load(ctxSetCurrent, "cuCtxSetCurrent");
    driver.load(streamCreate, "cuStreamCreate");
    driver.load(streamDestroy, "cuStreamDestroy_v2");
    driver.load(streamSynchronize, "cuStreamSynchronize");
    driver.load(streamBeginCapture, "cuStreamBeginCapture_v2");
    driver.load(streamEndCapture, "cuStreamEndCapture");
    driver.load(graphInstantiate, "cuGraphInstantiateWithFlags");
    driver.load(graphLaunch, "cuGraphLaunch");
    driver.load(graphDestroy, "cuGraphDestroy");
    driver.load(graphExecDestroy, "cuGraphExecDestroy");
    driver.load(eventCreate, "cuEventCreate");
    driver.load(eventDestroy, "cuEventDestroy_v2");
    driver.load(eventRecord, "cuEventRecord");
    driver.load(eventElapsed, "cuEventElapsedTime");
    driver.load(memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
    driver.load(memGetInfo, "cuMemGetInfo_v2");
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

void Gpu::copy(uint64_t to, uint64_t from, size_t bytes, void *stream) const {
  check(api_->memcpyDtoDAsync(to, from, bytes, stream), "cuMemcpyDtoDAsync");
}

void Gpu::repeat(uint64_t address, size_t patternBytes, size_t totalBytes) const {
  for (size_t done = patternBytes; done < totalBytes; done += patternBytes) {
    copy(address + done, address, std::min(patternBytes, totalBytes - done), stream_);
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
