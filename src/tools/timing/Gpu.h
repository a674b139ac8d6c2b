// What timing needs of the CUDA driver beyond jitk's API: a stream, graphs, events. libcuda is opened at run time.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace jitk::timing {

/// One GPU and a stream on it. All functions throw std::runtime_error, naming the call, where the driver fails.
class Gpu {
  struct Api;

public:
  /// Opens the driver and makes the device's primary context current on this thread.
  explicit Gpu(int ordinal);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  /// A recorded sequence of work.
  class Graph {
  public:
    Graph() = default;
    ~Graph();
    Graph(Graph &&other) noexcept;
    Graph &operator=(Graph other) noexcept;

  private:
    friend class Gpu;
    const Api *api_ = nullptr;
    void *executable_ = nullptr;
  };

  void *stream() const { return stream_; }
  /// What of a capture may not happen meanwhile: the driver's unsafe calls by any thread, or by this one.
  enum class CaptureMode : int { Global = 0, ThreadLocal = 1 };
  /// Records `calls` runs of `enqueue`, which puts work on the stream.
  Graph record(int calls, const std::function<void(void *stream)> &enqueue,
               CaptureMode mode = CaptureMode::ThreadLocal) const;
  /// Microseconds that one replay takes on the device.
  double replay(const Graph &graph) const;
  void synchronize() const;
  /// Enqueues a copy from one place of the device's memory to another on a stream.
  void copy(uint64_t to, uint64_t from, size_t bytes, void *stream) const;
  /// Fills memory with copies of its first `patternBytes` bytes.
  void repeat(uint64_t address, size_t patternBytes, size_t totalBytes) const;
  /// Of the device's memory, as the driver sees it now.
  size_t freeBytes() const;
  std::string driverVersion() const;

private:
  std::unique_ptr<Api> api_;
  void *stream_ = nullptr, *begin_ = nullptr, *end_ = nullptr;
};

} // namespace jitk::timing
