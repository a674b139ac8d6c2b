// Workers on a oneTBB task arena, so that an engine which uses oneTBB too shares its threads with them.

#include "src/runtime/workers/HostLimits.h"
#include "src/runtime/workers/Workers.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

namespace jitk {
namespace {

class TbbWorkers final : public Workers {
public:
  // No place is kept for a thread of the caller: jobs run on workers only.
  explicit TbbWorkers(uint32_t count)
      : count_(count), parallelism_(tbb::global_control::max_allowed_parallelism, allowedParallelism(count)),
        arena_(static_cast<int>(count), /*reserved_for_masters=*/0) {}

  ~TbbWorkers() override {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return unfinished_ == 0; });
  }

  void submit(std::function<void()> job) override {
    {
      std::lock_guard lock(mutex_);
      ++unfinished_;
    }
    auto held = std::make_shared<std::function<void()>>(std::move(job));
    arena_.enqueue([this, held] {
      (*held)();
      *held = nullptr; // what the job holds dies before it counts as finished
      std::lock_guard lock(mutex_);
      if (--unfinished_ == 0) {
        idle_.notify_all();
      }
    });
  }

  uint32_t count() const override { return count_; }

private:
  // oneTBB counts the thread that waits among the cores, and so has one worker too few for threads that do not wait;
  // and it prints a warning if asked for more than it allows. An engine that set a lower limit keeps it.
  static size_t allowedParallelism(uint32_t count) {
    size_t allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    return std::max<size_t>(allowed, count + 1);
  }

  const uint32_t count_;
  tbb::global_control parallelism_;
  std::mutex mutex_;
  std::condition_variable idle_;
  size_t unfinished_ = 0; ///< guarded by mutex_
  tbb::task_arena arena_;
};

} // namespace

std::unique_ptr<Workers> createWorkers(uint32_t count) {
  return std::make_unique<TbbWorkers>(count == 0 ? defaultJobs() : count);
}

} // namespace jitk
