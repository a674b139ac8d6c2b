// Checked access to memory for handlers. Each function reports what is wrong through the thread and then gives null, or
// goes on where the access is harmless to the emulator itself.

#pragma once

#include "src/emulator/Cluster.h"
#include "src/emulator/Thread.h"

#include <cstdint>

namespace jitk::emulator {

/// A shared address with the CTA whose memory it names.
struct SharedPlace {
  Cta *cta = nullptr;
  uint32_t address = 0;

  explicit operator bool() const { return cta != nullptr; }
  uint8_t *data() const { return cta->shared.data(address); }
};

/// An address of another CTA of the cluster: its rank plus one above 24 bits of address.
constexpr uint32_t remoteShared(uint32_t address, uint32_t rank) { return (address & 0xffffff) | (rank + 1) << 24; }

/// Resolves a shared address and checks bounds and alignment.
SharedPlace locateShared(Thread &thread, uint32_t address, uint32_t bytes, uint32_t alignment);

/// Locates, checks and notes an access of the thread through the generic proxy; an update is atomic.
SharedPlace readShared(Thread &thread, uint32_t address, uint32_t bytes, uint32_t alignment);
SharedPlace writeShared(Thread &thread, uint32_t address, uint32_t bytes, uint32_t alignment);
SharedPlace updateShared(Thread &thread, uint32_t address, uint32_t bytes, uint32_t alignment);

/// Reports a conflict that the shadow found.
void reportConflict(Thread &thread, const Origin &origin, const SharedConflict &conflict, bool write);

/// The thread as an accessor of shared memory; valid while it lives.
struct ThreadAccessor {
  explicit ThreadAccessor(const Thread &thread)
      : clock(&thread.clock), accessor{std::span(&clock, 1), thread.clock.self, thread.clock.epoch} {}
  const ThreadClock *clock;
  Accessor accessor;
};

/// Where the launch may begin before the grids before it have ended: that the thread, or one that it comes after, has
/// waited for them. Stands where an access of global memory is issued, if only to be carried out later.
void checkGridWait(Thread &thread, uint64_t address);
inline void requireGridWait(Thread &thread, uint64_t address) {
  if (!thread.mayUseGlobal) {
    checkGridWait(thread, address);
  }
}

/// Checks a global access; null if it is refused. Of reads and writes that several clusters of the launch make of the
/// same bytes, the first finds the second, unless its cluster has heard of others by atomic operations or ordered
/// loads.
uint8_t *globalForRead(Thread &thread, const Origin &origin, uint64_t address, uint64_t bytes, uint64_t alignment);
uint8_t *globalForWrite(Thread &thread, const Origin &origin, uint64_t address, uint64_t bytes, uint64_t alignment);
/// The same for an operation that needs no order among its like.
uint8_t *globalForAtomic(Thread &thread, const Origin &origin, uint64_t address, uint64_t bytes, uint64_t alignment);

/// That what a warp of the CTA has written of a tensor map has been acquired by the thread, or by one that it comes
/// after.
void requireAcquiredMap(Thread &thread, uint64_t address);

/// Whether a 32-bit register stands for a result that an asynchronous instruction has yet to give; reports it.
bool checkPoison(Thread &thread, uint64_t value);

} // namespace jitk::emulator
