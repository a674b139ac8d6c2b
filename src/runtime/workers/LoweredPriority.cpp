#include "src/runtime/workers/LoweredPriority.h"

#include <algorithm>
#include <sched.h>
#include <sys/resource.h>
#include <thread>

namespace jitk {

// For Linux a thread is what POSIX calls a process here: 0 is the calling thread.
static int niceOfThread() { return ::getpriority(PRIO_PROCESS, 0); }
static bool setNiceOfThread(int nice) { return ::setpriority(PRIO_PROCESS, 0, nice) == 0; }

static bool setPolicyOfThread(int policy) {
  const sched_param none = {};
  return ::sched_setscheduler(0, policy, &none) == 0;
}

static constexpr int kLargestNice = 19;

/// Whether a thread of this process that lowered its priority can have it back. Tried on a thread that is thrown away:
/// what the answer depends on (capabilities, a limit, a user namespace, filters) is the system's affair.
static bool canRestoreNice() {
  static const bool can = [] {
    bool restored = false;
    std::thread([&restored] {
      int nice = niceOfThread();
      restored = nice < kLargestNice && setNiceOfThread(nice + 1) && setNiceOfThread(nice);
    }).join();
    return restored;
  }();
  return can;
}

LoweredPriority::LoweredPriority(uint32_t nice) {
  if (nice == 0 || ::sched_getscheduler(0) != SCHED_OTHER) {
    return;
  }
  isBatch_ = setPolicyOfThread(SCHED_BATCH);
  if (canRestoreNice()) {
    oldNice_ = niceOfThread();
    isNice_ = setNiceOfThread(static_cast<int>(std::min<int64_t>(int64_t{oldNice_} + nice, kLargestNice)));
  }
}

LoweredPriority::~LoweredPriority() {
  if (isNice_) {
    (void)setNiceOfThread(oldNice_);
  }
  if (isBatch_) {
    (void)setPolicyOfThread(SCHED_OTHER);
  }
}

} // namespace jitk
