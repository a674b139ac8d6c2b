// Workers on a oneTBB task arena, so that an engine which uses oneTBB too shares its threads with them.

#include "src/runtime/workers/HostLimits.h"
#include "src/runtime/workers/LoweredPriority.h"
#include "src/runtime/workers/Workers.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <unistd.h>

namespace jitk {
namespace {

// --- a process that ends on a worker
//
// Callbacks of the engine run on workers, and may call `exit`. That destroys oneTBB's state, too, which crashes on a
// thread of oneTBB's own. So such a process ends as late as can be, but before that: handlers that were registered and
// statics that were made later than this library was loaded are done with by then.

thread_local bool isWorker = false;
int exitStatus = 0;

void endOnWorker(int status, void *) {
  if (isWorker) {
    (void)std::fflush(nullptr);
    ::_exit(status);
  }
}

/// Where this library was opened at run time, oneTBB's destructors are in the list of exit handlers: right after this.
[[gnu::constructor]] void atLoad() { (void)::on_exit(endOnWorker, nullptr); }

/// Where it was loaded with the program, they are run library by library, after those of what needs them.
[[gnu::destructor]] void atUnload() { endOnWorker(exitStatus, nullptr); }

void keepStatus(int status, void *) { exitStatus = status; }

// --- how many threads there may be

/// What all workers of the process need together. oneTBB has one limit for the process, of several the lowest; it
/// takes the thread that waits for one of them, which ours do not have; and it prints a warning if an arena is to
/// have more than the limit allows. An engine that set a lower one keeps it.
class Parallelism {
public:
  /// Makes room for `count` more; returns how many of them oneTBB lets run.
  uint32_t add(uint32_t count) {
    std::lock_guard lock(mutex_);
    numWorkers_ += count;
    return static_cast<uint32_t>(std::clamp<size_t>(renew() - 1, 1, count));
  }

  void remove(uint32_t count) {
    std::lock_guard lock(mutex_);
    numWorkers_ -= count;
    (void)renew();
  }

private:
  static size_t active() { return tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism); }

  size_t renew() {
    limit_.reset();
    if (numWorkers_ > 0) {
      limit_.emplace(tbb::global_control::max_allowed_parallelism, std::max(active(), numWorkers_ + 1));
    }
    return active();
  }

  std::mutex mutex_;
  size_t numWorkers_ = 0;                    ///< guarded by mutex_
  std::optional<tbb::global_control> limit_; ///< guarded by mutex_
};

Parallelism &parallelism() {
  static Parallelism ofProcess;
  return ofProcess;
}

class TbbWorkers final : public Workers {
public:
  // No place is kept for a thread of the caller: jobs run on workers only.
  TbbWorkers(uint32_t count, uint32_t nice)
      : wanted_(count), count_(parallelism().add(count)), nice_(nice),
        arena_(static_cast<int>(count_), /*reserved_for_masters=*/0) {
    [[maybe_unused]] static const int registered = ::on_exit(keepStatus, nullptr);
    arena_.initialize();
  }

  ~TbbWorkers() override {
    {
      std::unique_lock lock(mutex_);
      idle_.wait(lock, [this] { return unfinished_ == 0; });
    }
    arena_.terminate();
    parallelism().remove(wanted_);
  }

  void submit(std::function<void()> job) override {
    {
      std::lock_guard lock(mutex_);
      ++unfinished_;
    }
    auto held = std::make_shared<std::function<void()>>(std::move(job));
    arena_.enqueue([this, held] {
      isWorker = true;
      {
        LoweredPriority lowered(nice_);
        (*held)();
        *held = nullptr; // what the job holds dies before it counts as finished
      }
      std::lock_guard lock(mutex_);
      if (--unfinished_ == 0) {
        idle_.notify_all();
      }
    });
  }

  uint32_t count() const override { return count_; }

private:
  const uint32_t wanted_;
  const uint32_t count_;
  const uint32_t nice_;
  std::mutex mutex_;
  std::condition_variable idle_;
  size_t unfinished_ = 0; ///< guarded by mutex_
  tbb::task_arena arena_;
};

} // namespace

std::unique_ptr<Workers> createWorkers(uint32_t count, uint32_t nice) {
  return std::make_unique<TbbWorkers>(count == 0 ? defaultJobs() : count, nice);
}

} // namespace jitk
