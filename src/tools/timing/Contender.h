// How a kernel is timed on a GPU: a graph of some calls, replayed between two events; the median of the replays. What
// is compared takes turns, and the card rests before each.

#pragma once

#include "src/tools/timing/Gpu.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace jitk::timing {

struct Protocol {
  int calls = 20;            ///< of a graph, at most: fewer where they take longer than `mostMicroseconds`
  int replays = 30;          ///< of each contender, over all of its turns
  int restMilliseconds = 30; ///< before each turn, in which the card cools down
  static constexpr double mostMicroseconds = 6000; ///< of a graph, so that its turn does not heat the card for the next
  static constexpr int rounds = 3;                 ///< of A B C C B A

  /// "a graph of 20 calls, fewer where they take more than 6 ms, 30 replays, median; ..."
  std::string text() const;
};

/// Times work that alternates with other work.
class Contender {
public:
  /// Records `enqueue`, which puts one call on a stream. What the calls use outlives the contender, as `gpu` does.
  Contender(const Gpu &gpu, const Protocol &protocol, const std::function<void(void *stream)> &enqueue);

  /// Rests, replays once without a look at the clock, then as often as a turn of the protocol has replays.
  void takeTurn();
  /// Microseconds of a call, one a replay, in the order in which they were taken.
  const std::vector<double> &times() const { return times_; }
  int calls() const { return calls_; } ///< of its graph

private:
  int fittingCalls(const std::function<void(void *)> &enqueue) const;

  const Gpu *gpu_;
  Protocol protocol_;
  int calls_;
  Gpu::Graph graph_;
  std::vector<double> times_;
};

/// Lets all take their turns: A B C C B A, as many times as the protocol has rounds.
void takeTurns(std::span<Contender> contenders);

/// The middle one, of an even number the upper of two; 0 of none.
double median(std::vector<double> times);

} // namespace jitk::timing
