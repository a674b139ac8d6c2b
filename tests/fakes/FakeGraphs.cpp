// Graphs and a clock for the fake libcuda.so.1: what programs that time kernels ask of a driver.
//
// A replay takes `callMicroseconds` for each launch that its graph has, and ten times that where another graph, or
// none, was replayed before it: as a card whose clocks have to come up again.

#include "tests/fakes/FakeCuda.h"

#include <cstddef>
#include <cstring>

using jitk::test::FakeCuda;

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Graph {
  uint64_t numLaunches;
};

uint64_t launchesAtCapture = 0;
const Graph *lastReplayed = nullptr;

/// Notes the call; returns the answer that the test wants of it.
int note(const char *symbol) {
  FakeCuda &fake = *fake_cuda();
  ++fake.numCalls[symbol];
  fake.calls.emplace_back(symbol);
  auto failure = fake.failures.find(symbol);
  return failure == fake.failures.end() ? 0 : failure->second;
}

} // namespace

FAKE_EXPORT int cuCtxSetCurrent(void *context) {
  *fake_cuda_contexts() = {context};
  return note(__func__);
}
FAKE_EXPORT int cuStreamBeginCapture_v2(void *, int) {
  launchesAtCapture = fake_cuda()->numLaunches;
  return note(__func__);
}
FAKE_EXPORT int cuStreamEndCapture(void *, void **graph) {
  *graph = new Graph{fake_cuda()->numLaunches - launchesAtCapture};
  return note(__func__);
}
FAKE_EXPORT int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
  *executable = new Graph(*static_cast<Graph *>(graph));
  ++fake_cuda()->numGraphs;
  return note(__func__);
}
FAKE_EXPORT int cuGraphDestroy(void *graph) {
  delete static_cast<Graph *>(graph);
  return note(__func__);
}
FAKE_EXPORT int cuGraphExecDestroy(void *graph) {
  lastReplayed = lastReplayed == graph ? nullptr : lastReplayed;
  delete static_cast<Graph *>(graph);
  --fake_cuda()->numGraphs;
  return note(__func__);
}
FAKE_EXPORT int cuGraphLaunch(void *executable, void *) {
  const auto *graph = static_cast<const Graph *>(executable);
  FakeCuda &fake = *fake_cuda();
  double cold = graph == lastReplayed ? 1 : 10;
  fake.microseconds += cold * double(graph->numLaunches) * fake.callMicroseconds;
  fake.replays.push_back(graph->numLaunches);
  lastReplayed = graph;
  return note(__func__);
}
FAKE_EXPORT int cuEventRecord(void *, void *) {
  FakeCuda &fake = *fake_cuda();
  fake.eventMicroseconds[0] = fake.eventMicroseconds[1];
  fake.eventMicroseconds[1] = fake.microseconds;
  return note(__func__);
}
FAKE_EXPORT int cuEventElapsedTime(float *milliseconds, void *, void *) {
  *milliseconds = float((fake_cuda()->eventMicroseconds[1] - fake_cuda()->eventMicroseconds[0]) / 1000);
  return note(__func__);
}
FAKE_EXPORT int cuMemcpyDtoDAsync_v2(uint64_t destination, uint64_t source, size_t bytes, void *) {
  std::memcpy(reinterpret_cast<void *>(destination), reinterpret_cast<const void *>(source), bytes);
  return note(__func__);
}
FAKE_EXPORT int cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = *total = size_t(1) << 37;
  return note(__func__);
}
