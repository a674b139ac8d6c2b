#include "src/emulator/Memory.h"

#include "src/emulator/AccumulatorTag.h"
#include "src/emulator/Mbarriers.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace jitk::emulator {

/// Whether the thread knows that the CTA has begun.
static bool hasBegun(const Thread &thread, const Cta &cta) {
  return thread.clusterPhase > 0 ||
         std::ranges::any_of(cta.threads, [&](const Thread &other) { return thread.clock.knows(other.clock.self, 1); });
}

/// Checks that the CTA has begun, and notes the access, which must come before its end.
static void reachInto(Thread &thread, Cta &cta, uint32_t address) {
  if (cta.running == 0 || !hasBegun(thread, cta)) {
    thread.report(FindingKind::Race, address,
                  llvm::formatv("reaches into the cluster's cta {0}, which {1}", cta.rank,
                                cta.running == 0 ? "has ended" : "no synchronization says has begun"));
  }
  cta.remoteAccesses[thread.clock.self] = {thread.clock.epoch, address, &thread, thread.origin()};
}

SharedPlace locateShared(Thread &thread, uint32_t address, uint32_t bytes, uint32_t alignment) {
  Cta *cta = thread.cta;
  uint32_t local = address;
  if (address >> 24 != 0) {
    const uint32_t rank = (address >> 24) - 1;
    std::vector<Cta> &ctas = thread.cluster().ctas();
    if (rank >= ctas.size()) {
      thread.report(FindingKind::OutOfBounds, address, llvm::formatv("no cta of rank {0} in the cluster", rank));
      return {};
    }
    cta = &ctas[rank];
    local = address & 0xffffff;
  }
  if (!cta->shared.contains(local, bytes)) {
    thread.report(FindingKind::OutOfBounds, address,
                  llvm::formatv("{0} bytes outside the {1} bytes of shared memory from {2:x}", bytes,
                                cta->shared.end() - sharedBase, sharedBase));
    return {};
  }
  if (local % alignment != 0) {
    thread.report(FindingKind::Misaligned, address, llvm::formatv("not a multiple of {0}", alignment));
    return {};
  }
  if (cta != thread.cta && thread.cluster().tracksRaces()) {
    reachInto(thread, *cta, address);
  }
  return {cta, local};
}

void reportConflict(Thread &thread, const Origin &origin, const SharedConflict &conflict, bool write) {
  const std::string other =
      conflict.other == noActor ? std::string("an earlier copy") : thread.cluster().describeActor(conflict.other);
  switch (conflict.kind) {
  case SharedConflict::Kind::Uninitialised:
    if (thread.cluster().options().checks.sharedInitialisation) {
      thread.report(FindingKind::Uninitialised, origin, conflict.address, "nobody wrote the shared memory read");
    }
    return;
  case SharedConflict::Kind::Pending:
    thread.report(FindingKind::Pending, origin, conflict.address,
                  write ? "writes shared memory that an asynchronous copy has yet to write"
                        : "reads shared memory that an asynchronous copy has yet to write");
    return;
  case SharedConflict::Kind::Race:
    thread.report(FindingKind::Race, origin, conflict.address,
                  llvm::formatv("{0} after a {1} by {2} that no synchronization orders before it",
                                write ? "write" : "read", conflict.otherWrote ? "write" : "read", other));
    return;
  case SharedConflict::Kind::InFlight:
    thread.report(FindingKind::InFlightOverwrite, origin, conflict.address,
                  llvm::formatv("writes shared memory that {0} still reads", other));
    return;
  case SharedConflict::Kind::MissingFence:
    thread.report(FindingKind::MissingProxyFence, origin, conflict.address,
                  llvm::formatv("accesses shared memory {0} by {1} without fence.proxy.async between",
                                conflict.otherWrote ? "written" : "read", other));
    return;
  }
}

SharedPlace readShared(Thread &thread, uint32_t address, uint32_t bytes, uint32_t alignment) {
  SharedPlace place = locateShared(thread, address, bytes, alignment);
  if (place) {
    const ThreadAccessor self(thread);
    if (auto conflict = place.cta->shared.read(self.accessor, Proxy::Generic, place.address, bytes)) {
      reportConflict(thread, thread.origin(), *conflict, /*write=*/false);
    }
  }
  return place;
}

SharedPlace writeShared(Thread &thread, uint32_t address, uint32_t bytes, uint32_t alignment) {
  SharedPlace place = locateShared(thread, address, bytes, alignment);
  if (place) {
    overwriteMbarriers(thread, place, bytes);
    const ThreadAccessor self(thread);
    if (auto conflict = place.cta->shared.write(self.accessor, Proxy::Generic, place.address, bytes)) {
      reportConflict(thread, thread.origin(), *conflict, /*write=*/true);
    }
  }
  return place;
}

SharedPlace updateShared(Thread &thread, uint32_t address, uint32_t bytes, uint32_t alignment) {
  SharedPlace place = locateShared(thread, address, bytes, alignment);
  if (place) {
    overwriteMbarriers(thread, place, bytes);
    const ThreadAccessor self(thread);
    if (auto conflict = place.cta->shared.update(self.accessor, place.address, bytes)) {
      reportConflict(thread, thread.origin(), *conflict, /*write=*/true);
    }
  }
  return place;
}

/// Bounds and alignment of a global access; reports.
static bool checkGlobal(Thread &thread, const Origin &origin, uint64_t address, uint64_t bytes, uint64_t alignment) {
  switch (thread.cluster().launch().memory->check(address, bytes)) {
  case GlobalMemory::Fault::None:
    break;
  case GlobalMemory::Fault::OutOfBounds:
    thread.report(FindingKind::OutOfBounds, origin, address,
                  llvm::formatv("{0} bytes outside every allocation{1}", bytes,
                                thread.cluster().launch().memory->neighbourOf(address)));
    return false;
  case GlobalMemory::Fault::Freed:
    thread.report(FindingKind::OutOfBounds, origin, address, llvm::formatv("{0} bytes of a freed allocation", bytes));
    return false;
  }
  if (address % alignment != 0) {
    thread.report(FindingKind::Misaligned, origin, address, llvm::formatv("not a multiple of {0}", alignment));
    return false;
  }
  return true;
}

void checkGridWait(Thread &thread, uint64_t address) {
  thread.mayUseGlobal = std::ranges::any_of(
      thread.cta->gridWaits, [&](const auto &wait) { return thread.clock.knows(wait.first, wait.second); });
  if (!thread.mayUseGlobal) {
    thread.report(FindingKind::Race, address,
                  "uses global memory before griddepcontrol.wait: the grids before may still run");
  }
}

/// Whether what several clusters do to the same bytes is looked for, and this one has no reason to know of others.
static bool tracksClusters(const Cluster &cluster) { return cluster.tracksRaces() && !cluster.hearsOfOthers; }

static void reportOtherCluster(Thread &thread, const Origin &origin, uint64_t address, uint32_t other, bool write) {
  thread.report(FindingKind::GridRace, origin, address,
                llvm::formatv("{0} global memory that cluster {1} of the grid has written: nothing orders the two",
                              write ? "writes" : "reads", other - 1));
}

uint8_t *globalForAtomic(Thread &thread, const Origin &origin, uint64_t address, uint64_t bytes, uint64_t alignment) {
  if (!checkGlobal(thread, origin, address, bytes, alignment)) {
    return nullptr;
  }
  if (!thread.cluster().launch().memory->initialised(address, bytes)) {
    thread.report(FindingKind::Uninitialised, origin, address, "nobody wrote the global memory read");
  }
  return reinterpret_cast<uint8_t *>(address);
}

uint8_t *globalForRead(Thread &thread, const Origin &origin, uint64_t address, uint64_t bytes, uint64_t alignment) {
  uint8_t *memory = globalForAtomic(thread, origin, address, bytes, alignment);
  Cluster &cluster = thread.cluster();
  if (memory && tracksClusters(cluster)) {
    if (auto other = cluster.launch().memory->otherWriter(address, bytes, cluster.globalAccessor())) {
      reportOtherCluster(thread, origin, address, *other, /*write=*/false);
    }
  }
  return memory;
}

uint8_t *globalForWrite(Thread &thread, const Origin &origin, uint64_t address, uint64_t bytes, uint64_t alignment) {
  if (!checkGlobal(thread, origin, address, bytes, alignment)) {
    return nullptr;
  }
  Cluster &cluster = thread.cluster();
  cluster.launch().memory->markInitialised(address, bytes);
  if (cluster.tracksRaces()) {
    auto other = cluster.launch().memory->noteWrite(address, bytes, cluster.globalAccessor());
    if (other && tracksClusters(cluster)) {
      reportOtherCluster(thread, origin, address, *other, /*write=*/true);
    }
  }
  return reinterpret_cast<uint8_t *>(address);
}

bool checkPoison(Thread &thread, uint64_t value) {
  if (!looksLikeTag(value) || !findTagged(*thread.warp->group, uint32_t(value))) {
    return false;
  }
  thread.report(FindingKind::Poison, 0, "uses an accumulator of a wgmma that no wait has released");
  return true;
}

} // namespace jitk::emulator
