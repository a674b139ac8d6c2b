// Vector clocks: which accesses a thread knows to have happened before.
//
// An actor is a thread of the cluster, or a stand-in for asynchronous work. Each actor counts epochs; a thread's clock
// says up to which epoch of each other actor its synchronization reaches. A second clock, `fenced`, says the same for
// accesses that a proxy fence has made visible to the async proxy. Snapshots are shared between threads that passed the
// same barrier, so that a barrier costs one vector and not one a thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace jitk::emulator {

using ActorIndex = uint16_t;
inline constexpr ActorIndex noActor = 0xffff;

/// Epoch known of each actor; null = none of anybody.
using Snapshot = std::shared_ptr<const std::vector<uint32_t>>;

inline uint32_t epochOf(const Snapshot &snapshot, ActorIndex actor) { return snapshot ? (*snapshot)[actor] : 0; }

/// The elementwise maximum. Returns one of the two if it is the result.
Snapshot join(const Snapshot &a, const Snapshot &b);

struct ThreadClock {
  Snapshot known;
  Snapshot fenced;
  uint32_t epoch = 1;       ///< the thread's own; accesses carry it
  uint32_t fencedEpoch = 0; ///< up to which of its own epochs a proxy fence followed
  ActorIndex self = 0;

  bool knows(ActorIndex actor, uint32_t at) const { return actor == self || at <= epochOf(known, actor); }
  bool knowsFenced(ActorIndex actor, uint32_t at) const {
    return actor == self ? at <= fencedEpoch : at <= epochOf(fenced, actor);
  }
  /// fence.proxy.async: everything known so far is visible to the async proxy.
  void fence() {
    fenced = known;
    fencedEpoch = epoch++;
  }
};

/// What several threads release into a barrier, for others to acquire.
class ClockJoin {
public:
  explicit ClockJoin(size_t numActors = 0) : numActors_(numActors) {}

  /// Adds the thread's clock; its next accesses belong to a new epoch.
  void release(ThreadClock &clock);
  /// Adds knowledge of one actor.
  void add(ActorIndex actor, uint32_t epoch);
  /// Adds all that was released into another, which then forgets it.
  void take(ClockJoin &other);
  /// Gives all that was released to a thread.
  void acquire(ThreadClock &clock);
  /// Forgets all.
  void clear();

private:
  void seal();

  size_t numActors_;
  std::vector<uint32_t> known_, fenced_; // being collected; empty = nothing since the last seal
  Snapshot lastKnown_, lastFenced_;      // the snapshots last folded in, so that equal ones are folded once
  Snapshot sealedKnown_, sealedFenced_;
  // The last acquisition, since the threads of a CTA repeat it.
  Snapshot fromKnown_, toKnown_, fromFenced_, toFenced_;
};

} // namespace jitk::emulator
