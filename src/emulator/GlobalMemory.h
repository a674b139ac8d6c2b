// The emulator's global memory: one reserved range of addresses, in which each allocation has pages of its own with
// unmapped pages between, so that every access is checked against exactly one allocation without a lock.

#pragma once

#include "src/support/Status.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace jitk::emulator {

/// Gives mapped memory back to the system.
struct UnmapPages {
  size_t bytes = 0;
  void operator()(void *memory) const;
};

/// Thread-safe. Addresses are host addresses, so that a kernel's pointers are dereferenced as they are.
class GlobalMemory {
public:
  /// What an access did not find.
  enum class Fault : uint8_t { None, OutOfBounds, Freed };

  /// `reservedBytes` is the range of addresses, a multiple of the page.
  explicit GlobalMemory(bool trackInitialisation, uint64_t reservedBytes = uint64_t(1) << 38);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory &) = delete;
  GlobalMemory &operator=(const GlobalMemory &) = delete;

  /// Memory filled with 0xff, aligned as the device's allocator does and no more: 256 bytes.
  Result<uint64_t> allocate(size_t bytes);
  Status free(uint64_t address);

  /// Whether [address, address + bytes) lies in one live allocation.
  Fault check(uint64_t address, uint64_t bytes) const;
  /// Of an access that left an allocation, from where on: ", from byte 64 of the 64 at 0x7f0000000100"; empty where
  /// none is near.
  std::string neighbourOf(uint64_t address) const;
  /// Whether the address lies in the reserved range at all.
  bool owns(uint64_t address) const { return address - base_ < reservedBytes_; }
  /// Whether all bytes were written since their allocation; true where that is not tracked. The range must be checked.
  bool initialised(uint64_t address, uint64_t bytes) const;
  void markInitialised(uint64_t address, uint64_t bytes);

  /// Who accesses: one cluster of one launch; both count from 1.
  struct Accessor {
    uint32_t launch = 0, cluster = 0;
  };
  /// The cluster of the same launch that wrote one of the bytes, if that was another one. Of several clusters that
  /// wrote into one word the last is known. The range must be checked.
  std::optional<uint32_t> otherWriter(uint64_t address, uint64_t bytes, const Accessor &reader) const;
  /// The same for a write, which is noted.
  std::optional<uint32_t> noteWrite(uint64_t address, uint64_t bytes, const Accessor &writer);

private:
  static constexpr unsigned pageBits = 12;

  struct Allocation {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::atomic<bool> live{false};
    std::unique_ptr<uint8_t[]> written; // one flag a byte; null if untracked
    /// Of each word: 28 bits of the launch that wrote it last, 32 of the cluster, 4 of the bytes. Pages that nobody
    /// touches cost nothing. Null if there is no memory for it.
    std::unique_ptr<std::atomic<uint64_t>, UnmapPages> writers;
  };

  const Allocation *find(uint64_t address) const;
  /// First of so many pages that nobody has; 0 if there are none.
  uint64_t takePages(uint64_t numPages);
  void givePages(uint64_t firstPage, uint64_t numPages);
  /// Number of a record for an allocation; nothing if there are none left.
  std::optional<uint32_t> takeNumber();

  bool trackInitialisation_;
  uint64_t reservedBytes_;
  uint64_t base_ = 0;
  /// Number of the allocation that owns a page, plus one; a reserved table that costs memory only where it is used.
  std::atomic<uint32_t> *pages_ = nullptr;

  std::mutex mutex_; // of what follows
  uint64_t nextPage_ = 1;
  std::map<uint64_t, uint64_t> freeRanges_; // number of pages by first page; no two touch

  // Readers index it without the lock: blocks never move.
  static constexpr size_t blockSize = 4096;
  static constexpr size_t numBlocks = 4096;
  std::unique_ptr<std::atomic<Allocation *>[]> blocks_;
  uint32_t numAllocations_ = 0;
  std::deque<uint32_t> freedNumbers_; // oldest first
};

} // namespace jitk::emulator
