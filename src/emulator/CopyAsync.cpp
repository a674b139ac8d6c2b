#include "src/emulator/Async.h"
#include "src/emulator/Handlers.h"
#include "src/emulator/Mbarriers.h"
#include "src/emulator/Memory.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace jitk::emulator {

namespace {

void performCopy(Thread &thread, PendingCopy &copy) {
  if (std::exchange(copy.done, true)) {
    return;
  }
  SharedMemory &shared = thread.cta->shared;
  uint8_t *target = shared.data(copy.target);
  std::memset(target, 0, copy.bytes);
  if (copy.sourceBytes > 0) {
    if (const uint8_t *source = globalForRead(thread, copy.origin, copy.source, copy.sourceBytes, copy.bytes)) {
      std::memcpy(target, source, copy.sourceBytes);
    }
  }
  shared.markWritten(copy.target, copy.bytes, Proxy::Generic, thread.clock.self, thread.clock.epoch);
}

/// Performs the first `count` copies; groups lose what they had of them.
void performCopies(Thread &thread, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    performCopy(thread, thread.copies[i]);
  }
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + count);
  for (uint32_t &end : thread.copyGroups) {
    end -= std::min(end, count);
  }
}

} // namespace

void completeCopies(Thread &thread, uint32_t keepGroups) {
  std::vector<uint32_t> &groups = thread.copyGroups;
  if (groups.size() <= keepGroups) {
    return;
  }
  const size_t done = groups.size() - keepGroups;
  performCopies(thread, groups[done - 1]);
  groups.erase(groups.begin(), groups.begin() + ptrdiff_t(done));
}

void completeArrivingCopies(const CopyArrival &arrival) {
  Thread &thread = *arrival.thread;
  // Those of later arrivals stay in flight; a wait may have completed earlier ones.
  const uint32_t later = thread.copiesIssued - arrival.copiesIssued;
  performCopies(thread, uint32_t(thread.copies.size()) - std::min(later, uint32_t(thread.copies.size())));
}

void completeAllCopies(Thread &thread) {
  performCopies(thread, uint32_t(thread.copies.size()));
  thread.copyGroups.clear();
}

void executeCpAsync(Thread &thread) {
  const Call &call = thread.call;
  const auto bytes = uint32_t(call.parameter(0));
  PendingCopy copy = {call.operand32(0), call.operands[1], bytes, call.operand32(2), thread.origin()};
  if (copy.sourceBytes > bytes) {
    thread.report(FindingKind::OutOfBounds, copy.source,
                  llvm::formatv("copies {0} bytes of at most {1}", copy.sourceBytes, bytes));
    copy.sourceBytes = bytes;
  }
  if (copy.sourceBytes > 0) {
    requireGridWait(thread, copy.source);
  }
  const SharedPlace place = writeShared(thread, copy.target, bytes, bytes);
  if (!place) {
    return;
  }
  if (thread.cluster().deferred()) {
    place.cta->shared.markPending(place.address, bytes);
  } else {
    performCopy(thread, copy);
  }
  thread.copies.push_back(copy);
  ++thread.copiesIssued;
}

void executeCpAsyncCommit(Thread &thread) { thread.copyGroups.push_back(uint32_t(thread.copies.size())); }

void executeCpAsyncWait(Thread &thread) { completeCopies(thread, uint32_t(thread.call.immediates[0])); }

void executeCpAsyncArrive(Thread &thread) {
  const SharedPlace place = locateShared(thread, thread.call.operand32(0), 8, 8);
  Mbarrier *mbarrier = place ? findMbarrier(thread, place) : nullptr;
  if (!mbarrier) {
    return;
  }
  const bool counted = thread.call.parameter(0);
  mbarrier->pending += counted ? 0 : 1;
  for (PendingCopy &copy : thread.copies) {
    copy.arrivesOnMbarrier = true;
  }
  const CopyArrival arrival = {&thread, thread.copiesIssued};
  if (std::ranges::all_of(thread.copies, &PendingCopy::done)) {
    completeArrivingCopies(arrival);
    arrive(thread, place, *mbarrier, 1);
  } else {
    mbarrier->copyArrivals.push_back(arrival);
  }
}

} // namespace jitk::emulator
