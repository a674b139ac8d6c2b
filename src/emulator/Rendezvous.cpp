#include "src/emulator/Rendezvous.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace jitk::emulator {

namespace {

constexpr uint32_t threadsOfGroup = 128;

bool sameInstruction(const Call &a, const Call &b) {
  if (a.instruction != b.instruction) {
    return false;
  }
  // One place of the source has one array of immediates, however often the compiler repeats it.
  return a.aligned ? a.immediates == b.immediates
                   : std::equal(a.immediates, a.immediates + a.instruction->numImmediates, b.immediates);
}

/// Ends the run if the thread's instruction is not that of a thread which waits for it.
void requireSame(Thread &thread, const Thread &waiting) {
  if (!sameInstruction(thread.call, waiting.call)) {
    thread.report(FindingKind::Divergence, 0,
                  llvm::formatv("warp {0} lane {1} is at {2}{3}{4}", waiting.warp->index, waiting.lane,
                                waiting.call.instruction->form, waiting.call.location() ? " at " : "",
                                waiting.call.location() ? waiting.call.location() : ""));
    thread.cluster().abort();
  }
}

} // namespace

void wakeWarp(Warp &warp) {
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    if (warp.lanes[lane].blocker == Blocker::Warp) {
      warp.cta->cluster->wake(warp.lanes[lane]);
    }
  }
}

bool gatherWarp(Thread &thread) {
  Warp &warp = *thread.warp;
  if (warp.arrived == 0) {
    warp.firstArrived = thread.lane;
  } else {
    requireSame(thread, warp.lanes[warp.firstArrived]);
  }
  warp.arrived |= 1u << thread.lane;
  if (uint32_t(std::popcount(warp.arrived)) < warp.numLanes) {
    thread.cluster().block(thread, Blocker::Warp);
    return false;
  }
  warp.arrived = 0;
  return true;
}

void meetWarp(Thread &thread, void (*body)(Warp &warp)) {
  if (gatherWarp(thread)) {
    body(*thread.warp);
    wakeWarp(*thread.warp);
  }
}

void meetWarpgroup(Thread &thread, void (*body)(Warpgroup &group)) {
  Warpgroup &group = *thread.warp->group;
  Cta &cta = *thread.cta;
  Thread *const first = &cta.threads[size_t(group.index) * threadsOfGroup];
  if (cta.threads.size() < size_t(group.index + 1) * threadsOfGroup) {
    thread.report(FindingKind::Unsupported, 0, "the warpgroup has fewer than 4 warps");
    thread.cluster().abort();
  }
  if (group.arrived != 0) {
    const Thread *waiting = std::find_if(first, first + threadsOfGroup,
                                         [](const Thread &other) { return other.blocker == Blocker::Warpgroup; });
    requireSame(thread, *waiting);
  }
  if (thread.warp->arrived != 0) {
    requireSame(thread, thread.warp->lanes[thread.warp->firstArrived]);
  }
  if (++group.arrived < threadsOfGroup) {
    thread.cluster().block(thread, Blocker::Warpgroup);
    return;
  }
  group.arrived = 0;
  body(group);
  for (Thread *other = first; other != first + threadsOfGroup; ++other) {
    if (other->blocker == Blocker::Warpgroup) {
      thread.cluster().wake(*other);
    }
  }
}

} // namespace jitk::emulator
