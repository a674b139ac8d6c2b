#include "src/emulator/Handlers.h"

#include "llvm/Support/FormatVariadic.h"

namespace jitk::emulator {

namespace {

/// The barrier that the instruction names, with the number of threads that it wants; checks both.
Barrier &enterBarrier(Thread &thread) {
  const Call &call = thread.call;
  const auto id = uint64_t(call.immediates[0]);
  const auto all = uint32_t(thread.cta->threads.size());
  const bool counted = call.instruction->numImmediates > 1;
  // Warps arrive as a whole, the last one even if it is short.
  const auto wanted = uint32_t(counted ? std::min<int64_t>(call.immediates[1], all) : all);
  const bool wholeWarps = !counted || (call.immediates[1] > 0 && call.immediates[1] % 32 == 0);
  if (id >= thread.cta->barriers.size() || !wholeWarps || (counted && call.immediates[1] > (all + 31) / 32 * 32)) {
    thread.report(FindingKind::Barrier, 0,
                  llvm::formatv("barrier {0} of {1} threads in a cta of {2}", id, wanted, all));
    thread.cluster().abort(thread);
  }
  Barrier &barrier = thread.cta->barriers[id];
  if (barrier.arrived == 0) {
    barrier.wanted = wanted;
  } else if (barrier.wanted != wanted) {
    thread.report(FindingKind::Barrier, 0,
                  llvm::formatv("barrier {0} of {1} threads, where others wait for {2}", id, wanted, barrier.wanted));
    thread.cluster().abort(thread);
  }
  ++barrier.arrived;
  if (thread.cluster().tracksRaces()) {
    barrier.clocks.release(thread.clock);
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
  return true;
}

} // namespace

void executeBarrierCta(Thread &thread) {
  Barrier &barrier = enterBarrier(thread);
  if (!openIfComplete(thread, barrier)) {
    barrier.waiters.push_back(&thread);
    thread.cluster().block(thread, Blocker::Barrier, uint64_t(thread.call.immediates[0]));
    return;
  }
  if (thread.cluster().tracksRaces()) {
    barrier.clocks.acquire(thread.clock);
  }
  barrier.clocks.clear();
}

void executeBarrierArrive(Thread &thread) {
  Barrier &barrier = enterBarrier(thread);
  if (openIfComplete(thread, barrier)) {
    barrier.clocks.clear();
  }
}

void executeClusterArrive(Thread &thread) {
  Cluster &cluster = thread.cluster();
  if (cluster.tracksRaces() && !thread.call.parameter(0)) {
    cluster.clusterClocks.release(thread.clock);
  }
  if (++cluster.clusterArrived < cluster.ctas().size() * thread.cta->threads.size()) {
    return;
  }
  cluster.clusterArrived = 0;
  ++cluster.clusterPhase;
  for (Thread *waiter : cluster.clusterWaiters) {
    cluster.wake(*waiter);
  }
  cluster.clusterWaiters.clear();
}

void executeClusterWait(Thread &thread) {
  Cluster &cluster = thread.cluster();
  if (thread.clusterPhase == cluster.clusterPhase) {
    cluster.clusterWaiters.push_back(&thread);
    cluster.block(thread, Blocker::ClusterBarrier);
  }
  ++thread.clusterPhase;
  if (cluster.tracksRaces()) {
    cluster.clusterClocks.acquire(thread.clock);
  }
}

void executeFenceProxyAsync(Thread &thread) { thread.clock.fence(); }

} // namespace jitk::emulator
