#include "src/emulator/Mbarriers.h"

#include "src/emulator/Async.h"
#include "src/emulator/Handlers.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace jitk::emulator {

namespace {

constexpr uint32_t maxCount = (1u << 20) - 1;
constexpr int64_t maxTransactionBytes = (int64_t(1) << 20) - 1;

/// Ends the phase if nothing is missing: the waiters go on, and what was released is theirs.
void completePhase(Cta &cta, Mbarrier &mbarrier) {
  if (mbarrier.pending != 0 || mbarrier.transactionBytes != 0) {
    return;
  }
  if (cta.cluster->tracksRaces()) {
    mbarrier.clocks.add(mbarrier.actor, mbarrier.phase + 1);
    mbarrier.completed.take(mbarrier.clocks);
  }
  ++mbarrier.phase;
  mbarrier.pending = mbarrier.count;
  std::vector<Thread *> waiters;
  waiters.swap(mbarrier.waiters);
  for (Thread *waiter : waiters) {
    cta.cluster->wake(*waiter);
  }
}

/// Whether somebody counts on the mbarrier: it is waited for, written to, or between two phases.
bool inUse(const Mbarrier &mbarrier) {
  return !mbarrier.waiters.empty() || !mbarrier.copies.empty() || !mbarrier.copyArrivals.empty() ||
         mbarrier.pending != mbarrier.count || mbarrier.transactionBytes != 0;
}

void remove(Cta &cta, uint32_t address) {
  cta.mbarriers.erase(address);
  cta.shared.setMbarrier(address, false);
}

/// Whether the initialisation is over for the thread.
bool isInitialisedFor(const Thread &thread, const Mbarrier &mbarrier) {
  return !thread.cluster().tracksRaces() || thread.clock.knows(mbarrier.initialiser, mbarrier.initEpoch) ||
         thread.clusterPhase > mbarrier.publishedAt;
}

SharedPlace locateMbarrier(Thread &thread) {
  return locateShared(thread, thread.call.operand32(0), mbarrierBytes, mbarrierBytes);
}

} // namespace

Mbarrier *findMbarrier(Thread &thread, const SharedPlace &place) {
  auto found = place.cta->mbarriers.find(place.address);
  if (found == place.cta->mbarriers.end()) {
    thread.report(FindingKind::Mbarrier, place.address, "no mbarrier was initialised here");
    return nullptr;
  }
  Mbarrier &mbarrier = found->second;
  if (!isInitialisedFor(thread, mbarrier)) {
    thread.report(FindingKind::Race, place.address,
                  llvm::formatv("uses an mbarrier whose initialisation by {0} no synchronization orders before it",
                                thread.cluster().describeActor(mbarrier.initialiser)));
  }
  return &mbarrier;
}

bool isVisibleToAsyncProxy(const Thread &thread, const Mbarrier &mbarrier) {
  return !thread.cluster().tracksRaces() || mbarrier.publishedAt != UINT32_MAX ||
         thread.clock.knowsFenced(mbarrier.initialiser, mbarrier.initEpoch);
}

void overwriteMbarriers(Thread &thread, const SharedPlace &place, uint32_t bytes) {
  SharedMemory &shared = place.cta->shared;
  while (std::optional<uint32_t> address = shared.findMbarrier(place.address, bytes)) {
    Mbarrier &mbarrier = place.cta->mbarriers.at(*address);
    if (inUse(mbarrier)) {
      thread.report(FindingKind::Mbarrier, *address, "writes over an mbarrier that is in use");
    }
    // Who waits there waits for ever, and is reported so.
    if (!mbarrier.waiters.empty() || !mbarrier.copies.empty()) {
      return;
    }
    remove(*place.cta, *address);
  }
}

void arrive(Thread &thread, const SharedPlace &place, Mbarrier &mbarrier, uint32_t count) {
  if (count == 0 || count > mbarrier.pending) {
    thread.report(FindingKind::Mbarrier, place.address,
                  llvm::formatv("{0} arrivals where {1} of {2} are missing", count, mbarrier.pending, mbarrier.count));
    return;
  }
  if (thread.cluster().tracksRaces()) {
    mbarrier.clocks.release(thread.clock);
  }
  mbarrier.pending -= count;
  completePhase(*place.cta, mbarrier);
}

void completeTransaction(Thread &thread, const SharedPlace &place, Mbarrier &mbarrier, uint32_t bytes) {
  mbarrier.transactionBytes -= bytes;
  if (mbarrier.transactionBytes < -maxTransactionBytes) {
    thread.report(FindingKind::Mbarrier, place.address, "transaction count below its range");
  }
  completePhase(*place.cta, mbarrier);
}

void executeMbarrierInit(Thread &thread) {
  const uint32_t count = thread.call.operand32(1);
  const SharedPlace place = locateMbarrier(thread);
  if (!place) {
    return;
  }
  if (count == 0 || count > maxCount) {
    thread.report(FindingKind::Mbarrier, place.address,
                  llvm::formatv("count must be 1 to {0}: got {1}", maxCount, count));
    return;
  }
  Cta &cta = *place.cta;
  if (cta.mbarriers.contains(place.address)) {
    thread.report(FindingKind::Mbarrier, place.address, "initialises an mbarrier that no mbarrier.inval has ended");
    return;
  }
  const ThreadAccessor self(thread);
  if (auto conflict = cta.shared.write(self.accessor, Proxy::Generic, place.address, mbarrierBytes)) {
    reportConflict(thread, thread.origin(), *conflict, /*write=*/true);
  }
  cta.shared.setMbarrier(place.address, true);
  Mbarrier &mbarrier = cta.mbarriers[place.address];
  mbarrier.count = mbarrier.pending = count;
  mbarrier.actor = ActorIndex(cta.firstMbarrierActor + cta.nextMbarrierActor++ % numMbarrierActors);
  mbarrier.initialiser = thread.clock.self;
  mbarrier.initEpoch = thread.clock.epoch;
  mbarrier.clocks = mbarrier.completed = ClockJoin(cta.cluster->numActors());
}

void executeFenceMbarrierInit(Thread &thread) {
  for (auto &[address, mbarrier] : thread.cta->mbarriers) {
    if (mbarrier.initialiser == thread.clock.self) {
      mbarrier.publishedAt = std::min(mbarrier.publishedAt, thread.clusterArrivals);
    }
  }
}

void executeMbarrierInval(Thread &thread) {
  const SharedPlace place = locateMbarrier(thread);
  Mbarrier *mbarrier = place ? findMbarrier(thread, place) : nullptr;
  if (!mbarrier) {
    return;
  }
  if (inUse(*mbarrier)) {
    thread.report(FindingKind::Mbarrier, place.address, "invalidates an mbarrier that is in use");
    return;
  }
  const ThreadAccessor self(thread);
  if (auto conflict = place.cta->shared.write(self.accessor, Proxy::Generic, place.address, mbarrierBytes)) {
    reportConflict(thread, thread.origin(), *conflict, /*write=*/true);
  }
  place.cta->shared.forget(place.address, mbarrierBytes);
  remove(*place.cta, place.address);
}

void executeMbarrierArrive(Thread &thread) {
  const SharedPlace place = locateMbarrier(thread);
  if (Mbarrier *mbarrier = place ? findMbarrier(thread, place) : nullptr) {
    arrive(thread, place, *mbarrier, thread.call.operand32(1));
  }
}

void executeMbarrierExpectTx(Thread &thread) {
  const SharedPlace place = locateMbarrier(thread);
  Mbarrier *mbarrier = place ? findMbarrier(thread, place) : nullptr;
  if (!mbarrier) {
    return;
  }
  mbarrier->transactionBytes += thread.call.operand32(1);
  if (mbarrier->transactionBytes > maxTransactionBytes) {
    thread.report(FindingKind::Mbarrier, place.address,
                  llvm::formatv("transaction count must stay below 2^20: got {0}", mbarrier->transactionBytes));
  }
  if (thread.call.parameter(0)) {
    arrive(thread, place, *mbarrier, 1);
  }
}

void executeMbarrierWait(Thread &thread) {
  const SharedPlace place = locateMbarrier(thread);
  Mbarrier *mbarrier = place ? findMbarrier(thread, place) : nullptr;
  if (!mbarrier) {
    thread.cluster().abort();
  }
  if (place.cta != thread.cta) {
    thread.report(FindingKind::Mbarrier, place.address, "waits for an mbarrier of another cta");
    thread.cluster().abort();
  }
  const uint32_t parity = thread.call.operand32(1) & 1;
  if (parity != thread.call.operand32(1)) {
    thread.report(FindingKind::Mbarrier, place.address,
                  llvm::formatv("parity must be 0 or 1: got {0}", thread.call.operand32(1)));
  }
  // A thread that is slow to go on may find the next phase complete too, and then waits for the one after.
  while ((mbarrier->phase & 1) == parity) {
    mbarrier->waiters.push_back(&thread);
    thread.cluster().block(thread, Blocker::Mbarrier, place.address);
  }
  if (thread.cluster().tracksRaces()) {
    mbarrier->completed.acquire(thread.clock);
  }
}

} // namespace jitk::emulator
