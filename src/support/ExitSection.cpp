#include "src/support/ExitSection.h"

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <pthread.h>
#include <thread>

namespace jitk {

// None of these has a destructor: they serve to the very end.
static std::atomic<bool> exiting = false;
static std::atomic<int64_t> numInside = 0; ///< sections of all threads
static std::atomic<uint64_t> numEnded = 0; ///< outermost sections that ended, ever
static thread_local int64_t numOfThread = 0;

static void closeSections(int, void *) {
  exiting = true;
  // Sections of this thread, which called exit in one, do not end before it. No lock and no condition: whatever state
  // the other threads are in, this comes to an end.
  auto deadline = std::chrono::steady_clock::now() + kExitPatience;
  while (numInside > numOfThread && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// The threads of the parent are not there.
static void forgetOthers() { numInside = numOfThread; }

/// Has an exit wait before it destroys anything that was made until now: handlers run in the opposite order. Not
/// std::atexit, which the shared libraries have without effect (NoStaticDestructors.cpp).
static void arm() { (void)::on_exit(closeSections, nullptr); }

ExitSection::ExitSection() {
  [[maybe_unused]] static const bool first = [] {
    arm();
    return ::pthread_atfork(nullptr, nullptr, forgetOthers) == 0;
  }();
  ++numInside;
  entered_ = !exiting || numOfThread > 0;
  if (entered_) {
    ++numOfThread;
  } else {
    --numInside;
  }
}

ExitSection::~ExitSection() {
  if (!entered_) {
    return;
  }
  // Libraries make what they destroy at their first uses. Each of those is covered once the number of sections
  // reaches the next power of two.
  if (--numOfThread == 0 && std::has_single_bit(++numEnded)) {
    arm();
  }
  --numInside;
}

Status ExitSection::status() const {
  return entered_ ? okStatus() : Status(StatusCode::Cancelled, "the process is about to end");
}

} // namespace jitk
