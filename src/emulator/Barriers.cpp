#include "src/emulator/Handlers.h"
#include "src/emulator/Rendezvous.h"

#include "llvm/Support/FormatVariadic.h"

namespace jitk::emulator {

namespace {

/// The number of the barrier that the instruction names.
uint64_t barrierId(const Thread &thread) {
  return thread.call.parameter(0) ? thread.call.operand32(0) : uint64_t(thread.call.immediates[0]);
}

/// The number of threads that it wants; none if all of the CTA.
std::optional<int64_t> barrierThreads(const Thread &thread) {
  const Call &call = thread.call;
  const unsigned counted = call.parameter(0) ? 1 : 2;
  if (call.instruction->numImmediates < counted) {
    return std::nullopt;
  }
  return call.immediates[counted - 1];
}

/// The barrier that the instruction names, with the number of threads that it wants; checks both. Notes the arrival of
/// `numThreads` threads from `first` on, of which `thread` is one.
Barrier &enterBarrier(Thread &thread, Thread *first, uint32_t numThreads) {
  const uint64_t id = barrierId(thread);
  const auto all = uint32_t(thread.cta->threads.size());
  const std::optional<int64_t> counted = barrierThreads(thread);
  // Warps arrive as a whole, the last one even if it is short.
  const auto wanted = uint32_t(counted ? std::min<int64_t>(*counted, all) : all);
  const bool wholeWarps = !counted || (*counted > 0 && *counted % 32 == 0);
  if (id >= thread.cta->barriers.size() || !wholeWarps || (counted && *counted > (all + 31) / 32 * 32)) {
    thread.report(FindingKind::Barrier, 0,
                  llvm::formatv("barrier {0} of {1} threads in a cta of {2}", id, wanted, all));
    thread.cluster().abort();
  }
  Barrier &barrier = thread.cta->barriers[id];
  if (barrier.arrived == 0) {
    barrier.wanted = wanted;
  } else if (barrier.wanted != wanted) {
    thread.report(FindingKind::Barrier, 0,
                  llvm::formatv("barrier {0} of {1} threads, where others wait for {2}", id, wanted, barrier.wanted));
    thread.cluster().abort();
  }
  barrier.arrived += numThreads;
  for (uint32_t i = 0; i < numThreads && thread.cluster().tracksRaces(); ++i) {
    barrier.clocks.release(first[i].clock);
  }
  return barrier;
}

/// Opens the barrier if all are there; true if it was.
bool openIfComplete(Thread &last, Barrier &barrier) {
  if (barrier.arrived < barrier.wanted) {
    return false;
  }
  Cluster &cluster = last.cluster();
  for (Thread *waiter : barrier.waiters) {
    if (cluster.tracksRaces()) {
      barrier.clocks.acquire(waiter->clock);
    }
    cluster.wake(*waiter);
  }
  barrier.arrived = 0;
  barrier.waiters.clear();
  barrier.clocks.clear();
  return true;
}

void arriveAsWarp(Warp &warp) {
  Thread &leader = warp.lanes[0];
  openIfComplete(leader, enterBarrier(leader, warp.lanes, warp.numLanes));
}

} // namespace

void executeBarrierCta(Thread &thread) {
  const uint64_t id = barrierId(thread);
  Warp &warp = *thread.warp;
  const bool asWarp = thread.call.aligned;
  if (asWarp && !gatherWarp(thread)) {
    return; // woken by the barrier
  }
  Thread *const first = asWarp ? warp.lanes : &thread;
  const uint32_t numThreads = asWarp ? warp.numLanes : 1;
  Barrier &barrier = enterBarrier(thread, first, numThreads);
  for (uint32_t i = 0; i < numThreads; ++i) {
    barrier.waiters.push_back(&first[i]);
  }
  if (openIfComplete(thread, barrier)) {
    return;
  }
  for (uint32_t i = 0; i < numThreads; ++i) {
    first[i].blocker = Blocker::Barrier;
    first[i].blockedOn = id;
  }
  thread.cluster().block(thread, Blocker::Barrier, id);
}

void executeBarrierArrive(Thread &thread) {
  if (thread.call.aligned) {
    meetWarp(thread, arriveAsWarp);
  } else {
    openIfComplete(thread, enterBarrier(thread, &thread, 1));
  }
}

/// The arrival of one lane.
static void arriveAtCluster(Thread &thread) {
  Cluster &cluster = thread.cluster();
  if (thread.clusterArrivals++ > thread.clusterPhase) {
    thread.report(FindingKind::Barrier, 0, "arrives again at the cluster barrier before it has waited there");
    cluster.abort();
  }
  if (cluster.tracksRaces() && !thread.call.parameter(0)) {
    cluster.clusterClocks.release(thread.clock);
  }
  if (++cluster.clusterArrived < cluster.ctas().size() * thread.cta->threads.size()) {
    return;
  }
  cluster.clusterArrived = 0;
  ++cluster.clusterPhase;
  cluster.clusterCompleted.take(cluster.clusterClocks);
  for (Thread *waiter : cluster.clusterWaiters) {
    cluster.wake(*waiter);
  }
  cluster.clusterWaiters.clear();
}

void executeClusterArrive(Thread &thread) {
  meetWarp(thread, [](Warp &warp) {
    for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
      arriveAtCluster(warp.lanes[lane]);
    }
  });
}

void executeClusterWait(Thread &thread) {
  Cluster &cluster = thread.cluster();
  meetWarp(thread, [](Warp &) {});
  if (thread.clusterArrivals == thread.clusterPhase) {
    thread.report(FindingKind::Barrier, 0, "waits at the cluster barrier before it has arrived there");
    cluster.abort();
  }
  if (thread.clusterPhase == cluster.clusterPhase) {
    cluster.clusterWaiters.push_back(&thread);
    cluster.block(thread, Blocker::ClusterBarrier);
  }
  ++thread.clusterPhase;
  if (cluster.tracksRaces()) {
    cluster.clusterCompleted.acquire(thread.clock);
  }
}

void executeFenceProxyAsync(Thread &thread) {
  constexpr int64_t globalMemory = 2; // races on which are not looked for
  if (thread.call.parameter(0) != globalMemory) {
    thread.clock.fence();
  }
}

} // namespace jitk::emulator
