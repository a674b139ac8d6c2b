// LoweredPriority: lets a thread give way to the others of the machine while it works for a runtime.
//
// An engine's heartbeats, and the threads that feed its GPU, must not wait for compilations. The threads of workers may
// be shared with the engine, by way of oneTBB, so each gets back what it had.

#pragma once

#include <cstdint>

namespace jitk {

/// Lowers the calling thread's priority from construction to destruction, on that thread: it is scheduled as a batch
/// job (SCHED_BATCH), and `nice` is added to its nice value, which its child processes inherit. Does nothing if `nice`
/// is 0, and for threads of other policies than the usual one. Without the right to raise the nice value again
/// (CAP_SYS_NICE, RLIMIT_NICE) the value stays, and the thread is a batch job only.
class LoweredPriority {
public:
  explicit LoweredPriority(uint32_t nice);
  LoweredPriority(const LoweredPriority &) = delete;
  LoweredPriority &operator=(const LoweredPriority &) = delete;
  ~LoweredPriority();

private:
  bool isBatch_ = false; ///< made so here
  bool isNice_ = false;  ///< its value was raised here
  int oldNice_ = 0;
};

} // namespace jitk
