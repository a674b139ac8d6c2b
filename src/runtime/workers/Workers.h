// Workers: the threads on which kernels are prepared.
//
// A runtime owns them. They exist so that compilation never runs on a thread of the engine, and so that oneTBB, which
// ThreadSanitizer cannot see through, can be replaced by plain threads there (JITK_PLAIN_WORKERS).

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace jitk {

/// Thread-safe. Destruction waits for all jobs submitted.
class Workers {
public:
  virtual ~Workers() = default;
  /// Runs `job` once on some worker. Jobs start in no particular order. A job must not throw, and may submit others.
  virtual void submit(std::function<void()> job) = 0;
  /// How many jobs run at once at most.
  virtual uint32_t count() const = 0;
};

/// Creates `count` workers; 0 means `defaultJobs`. Jobs run with a priority lowered by `nice`: see `LoweredPriority`.
std::unique_ptr<Workers> createWorkers(uint32_t count, uint32_t nice = 0);

} // namespace jitk
