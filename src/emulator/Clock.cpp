#include "src/emulator/Clock.h"

#include <algorithm>

namespace jitk::emulator {

namespace {

void fold(std::vector<uint32_t> &into, const std::vector<uint32_t> &from) {
  for (size_t actor = 0; actor < from.size(); ++actor) {
    into[actor] = std::max(into[actor], from[actor]);
  }
}

bool covers(const std::vector<uint32_t> &a, const std::vector<uint32_t> &b) {
  for (size_t actor = 0; actor < a.size(); ++actor) {
    if (a[actor] < b[actor]) {
      return false;
    }
  }
  return true;
}

void raise(std::vector<uint32_t> &values, size_t numActors, ActorIndex actor, uint32_t epoch) {
  values.resize(numActors);
  values[actor] = std::max(values[actor], epoch);
}

} // namespace

Snapshot join(const Snapshot &a, const Snapshot &b) {
  if (a == b || !b || (a && covers(*a, *b))) {
    return a;
  }
  if (!a || covers(*b, *a)) {
    return b;
  }
  auto joined = std::make_shared<std::vector<uint32_t>>(*a);
  fold(*joined, *b);
  return joined;
}

void ClockJoin::release(ThreadClock &clock) {
  if (clock.known && clock.known != lastKnown_) {
    known_.resize(numActors_);
    fold(known_, *clock.known);
    lastKnown_ = clock.known;
  }
  if (clock.fenced && clock.fenced != lastFenced_) {
    fenced_.resize(numActors_);
    fold(fenced_, *clock.fenced);
    lastFenced_ = clock.fenced;
  }
  raise(known_, numActors_, clock.self, clock.epoch);
  if (clock.fencedEpoch) {
    raise(fenced_, numActors_, clock.self, clock.fencedEpoch);
  }
  ++clock.epoch;
}

void ClockJoin::add(ActorIndex actor, uint32_t epoch) { raise(known_, numActors_, actor, epoch); }

void ClockJoin::seal() {
  if (!known_.empty()) {
    sealedKnown_ = join(sealedKnown_, std::make_shared<const std::vector<uint32_t>>(std::move(known_)));
    known_.clear();
  }
  if (!fenced_.empty()) {
    sealedFenced_ = join(sealedFenced_, std::make_shared<const std::vector<uint32_t>>(std::move(fenced_)));
    fenced_.clear();
  }
  lastKnown_.reset();
  lastFenced_.reset();
}

void ClockJoin::take(ClockJoin &other) {
  seal();
  other.seal();
  sealedKnown_ = join(sealedKnown_, other.sealedKnown_);
  sealedFenced_ = join(sealedFenced_, other.sealedFenced_);
  fromKnown_ = toKnown_ = fromFenced_ = toFenced_ = nullptr;
  other.clear();
}

void ClockJoin::acquire(ThreadClock &clock) {
  if (!known_.empty() || !fenced_.empty()) {
    seal();
    fromKnown_ = toKnown_ = fromFenced_ = toFenced_ = nullptr;
  }
  if (!toKnown_ || fromKnown_ != clock.known) {
    fromKnown_ = clock.known;
    toKnown_ = join(sealedKnown_, clock.known);
  }
  clock.known = toKnown_;
  if (!sealedFenced_) {
    return;
  }
  if (!toFenced_ || fromFenced_ != clock.fenced) {
    fromFenced_ = clock.fenced;
    toFenced_ = join(sealedFenced_, clock.fenced);
  }
  clock.fenced = toFenced_;
}

void ClockJoin::clear() { *this = ClockJoin(numActors_); }

} // namespace jitk::emulator
