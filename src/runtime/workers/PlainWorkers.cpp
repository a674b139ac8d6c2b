// Workers on plain threads: for ThreadSanitizer, which reports correct oneTBB programs.

#include "src/runtime/workers/HostLimits.h"
#include "src/runtime/workers/LoweredPriority.h"
#include "src/runtime/workers/Workers.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace jitk {
namespace {

class PlainWorkers final : public Workers {
public:
  PlainWorkers(uint32_t count, uint32_t nice) : nice_(nice) {
    for (uint32_t i = 0; i < count; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }

  ~PlainWorkers() override {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    for (std::thread &thread : threads_) {
      thread.join();
    }
  }

  void submit(std::function<void()> job) override {
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

  uint32_t count() const override { return static_cast<uint32_t>(threads_.size()); }

private:
  void work() {
    LoweredPriority lowered(nice_); // for good: nobody shares these threads
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
      if (jobs_.empty()) {
        return;
      }
      std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      job = nullptr; // what it holds dies without the lock
      lock.lock();
    }
  }

  const uint32_t nice_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_; ///< guarded by mutex_
  bool closing_ = false;                   ///< guarded by mutex_
  std::vector<std::thread> threads_;
};

} // namespace

std::unique_ptr<Workers> createWorkers(uint32_t count, uint32_t nice) {
  return std::make_unique<PlainWorkers>(count == 0 ? defaultJobs() : count, nice);
}

} // namespace jitk
