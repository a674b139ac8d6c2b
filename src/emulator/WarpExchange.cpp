#include "src/emulator/AtomicOperation.h"
#include "src/emulator/Handlers.h"
#include "src/emulator/Rendezvous.h"

namespace jitk::emulator {

using ir::ptx::AtomicOp;
using ir::ptx::ShuffleMode;
using ir::ptx::VoteMode;

namespace {

/// The lane a shuffle reads; the own one where there is none.
uint32_t sourceLane(ShuffleMode mode, uint32_t lane, uint32_t operand) {
  const uint32_t amount = operand & 31;
  switch (mode) {
  case ShuffleMode::Idx:
    return amount;
  case ShuffleMode::Bfly:
    return lane ^ amount;
  case ShuffleMode::Up:
    return amount > lane ? lane : lane - amount;
  case ShuffleMode::Down:
    return lane + amount > 31 ? lane : lane + amount;
  }
  return lane;
}

void shuffle(Warp &warp) {
  // All results before any is stored: a result may share its register with an operand.
  std::array<uint64_t, 32> values = {};
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    values[lane] = warp.lanes[lane].call.operands[0];
  }
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    const Call &call = warp.lanes[lane].call;
    const uint32_t source = sourceLane(ShuffleMode(call.parameter(0)), lane, call.operand32(1));
    if (source >= warp.numLanes) {
      warp.lanes[lane].report(FindingKind::Divergence, 0, "reads a lane that the warp does not have");
    }
    call.results[0] = values[source];
  }
}

void vote(Warp &warp) {
  uint32_t ballot = 0;
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    ballot |= uint32_t(warp.lanes[lane].call.operands[0] & 1) << lane;
  }
  const uint32_t all = warp.numLanes == 32 ? ~0u : (1u << warp.numLanes) - 1;
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    const Call &call = warp.lanes[lane].call;
    switch (VoteMode(call.parameter(0))) {
    case VoteMode::Ballot:
      call.results[0] = ballot;
      break;
    case VoteMode::Any:
      call.results[0] = ballot != 0;
      break;
    case VoteMode::All:
      call.results[0] = ballot == all;
      break;
    }
  }
}

void reduce(Warp &warp) {
  const auto op = AtomicOp(warp.lanes[0].call.parameter(0));
  uint64_t value = warp.lanes[0].call.operands[0];
  for (uint32_t lane = 1; lane < warp.numLanes; ++lane) {
    value = combine({.op = op}, value, warp.lanes[lane].call.operands[0]);
  }
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    warp.lanes[lane].call.results[0] = value;
  }
}

void elect(Warp &warp) {
  // The hardware promises one lane, the same each time, and not which. With a seed it is not the first one.
  const uint64_t seed = warp.cta->cluster->options().seed;
  const uint32_t leader = uint32_t(seed * 0x9e3779b97f4a7c15 >> 32) % warp.numLanes;
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    warp.lanes[lane].call.results[0] = lane == leader;
  }
}

/// Orders the memory accesses of all lanes.
void synchronize(Warp &warp) {
  if (!warp.cta->cluster->tracksRaces()) {
    return;
  }
  ClockJoin clocks(warp.cta->cluster->numActors());
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    clocks.release(warp.lanes[lane].clock);
  }
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    clocks.acquire(warp.lanes[lane].clock);
  }
}

} // namespace

void executeWarpSync(Thread &thread) { meetWarp(thread, synchronize); }
void executeShuffle(Thread &thread) { meetWarp(thread, shuffle); }
void executeVote(Thread &thread) { meetWarp(thread, vote); }
void executeRedux(Thread &thread) { meetWarp(thread, reduce); }
void executeElect(Thread &thread) { meetWarp(thread, elect); }

} // namespace jitk::emulator
