// A CUDA graph of what is enqueued on a stream, by the driver's own functions: what an engine has anyway.

#ifndef JITK_EXAMPLE_GRAPH_H
#define JITK_EXAMPLE_GRAPH_H

#include <dlfcn.h>
#include <functional>
#include <stdexcept>
#include <string>

namespace example {

/// Captures once, launches any number of times. On device 0, in its primary context.
class Graph {
public:
  explicit Graph(const std::function<void(void *stream)> &enqueue) : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
    void *context = nullptr, *graph = nullptr;
    call<int(void **, int)>("cuDevicePrimaryCtxRetain", &context, 0);
    call<int(void *)>("cuCtxSetCurrent", context);
    call<int(void **, unsigned)>("cuStreamCreate", &stream_, 1U);
    call<int(void *, int)>("cuStreamBeginCapture_v2", stream_, 0); // global: any forbidden call of the process fails it
    enqueue(stream_);
    call<int(void *, void **)>("cuStreamEndCapture", stream_, &graph);
    call<int(void **, void *, unsigned long long)>("cuGraphInstantiateWithFlags", &executable_, graph, 0ULL);
    call<int(void *)>("cuGraphDestroy", graph);
  }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;
  ~Graph() {
    find<int(void *)>("cuGraphExecDestroy")(executable_);
    find<int(void *)>("cuStreamDestroy_v2")(stream_);
  }

  /// Runs it and waits.
  void launch() {
    call<int(void *, void *)>("cuGraphLaunch", executable_, stream_);
    call<int(void *)>("cuStreamSynchronize", stream_);
  }

private:
  template <typename Function> Function *find(const char *name) const {
    void *symbol = library_ ? dlsym(library_, name) : nullptr;
    if (!symbol) {
      throw std::runtime_error(std::string("no function ") + name);
    }
    return reinterpret_cast<Function *>(symbol);
  }
  template <typename Function, typename... Arguments> void call(const char *name, Arguments... arguments) const {
    if (int error = find<Function>(name)(arguments...)) {
      throw std::runtime_error(std::string(name) + " failed: " + std::to_string(error));
    }
  }

  void *library_, *stream_ = nullptr, *executable_ = nullptr;
};

} // namespace example

#endif // JITK_EXAMPLE_GRAPH_H
