// Patience: how long a process waits for others before it does a kernel itself.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace jitk {

/// Thread-safe. Whoever has waited in vain waits a twentieth as long for some time after: what does not go on for one
/// kernel does not for the next, and a process that is stopped must not cost its deadline for each.
class Patience {
public:
  using Clock = std::chrono::steady_clock;

  explicit Patience(std::chrono::milliseconds whole) : whole_(whole) {}

  /// When all waiting for a kernel that is begun now ends.
  Clock::time_point deadline() const {
    const Clock::time_point now = Clock::now();
    return now + (now.time_since_epoch().count() < shortUntil_.load(std::memory_order_relaxed) ? whole_ / 20 : whole_);
  }

  void noteTimeout() {
    const Clock::time_point until = Clock::now() + std::max<Clock::duration>(10 * whole_, std::chrono::seconds(10));
    shortUntil_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  }

private:
  const std::chrono::milliseconds whole_;
  std::atomic<Clock::rep> shortUntil_ = Clock::time_point::min().time_since_epoch().count();
};

} // namespace jitk
