// Patience: how long a process waits for others before it does a kernel itself.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace jitk {

/// Thread-safe. Whoever has waited in vain does not wait for some time after, and whoever waits then gives up: what
/// does not go on for one kernel does not for the next, and a process that is stopped must not cost its deadline for
/// each.
class Patience {
public:
  using Clock = std::chrono::steady_clock;

  explicit Patience(std::chrono::milliseconds whole) : whole_(whole) {}

  /// When all waiting for a kernel that is begun now ends at the latest.
  Clock::time_point deadline() const { return Clock::now() + whole_; }

  /// Whether somebody has waited in vain a short time ago.
  bool isOver() const { return Clock::now().time_since_epoch().count() < overUntil_.load(std::memory_order_relaxed); }

  void noteTimeout() {
    const Clock::time_point until = Clock::now() + std::max<Clock::duration>(10 * whole_, std::chrono::seconds(10));
    overUntil_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  }

private:
  const std::chrono::milliseconds whole_;
  std::atomic<Clock::rep> overUntil_ = Clock::time_point::min().time_since_epoch().count();
};

} // namespace jitk
