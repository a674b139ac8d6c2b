// The shared memory of one CTA, with a shadow that says for every byte whether it was written and whether an
// asynchronous copy will write it, and for every word who wrote and who read it last, and when.
//
// Accesses are checked against the accessor's vector clock: two accesses of which one writes must be ordered by
// synchronization that the clocks have seen. The shadow keeps every reader since the last write, but of writers the
// last one a word: where threads write different bytes of one word, it may miss a race. It never reports one that is
// none.

#pragma once

#include "src/emulator/Clock.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace jitk::emulator {

/// Bytes of a CTA's block: 18 address bits.
inline constexpr uint32_t sharedBlockBytes = 1u << 18;
/// Where dynamic shared memory begins: the first kilobyte is the system's.
inline constexpr uint32_t sharedBase = 1024;

inline constexpr uint32_t mbarrierBytes = 8;

enum class Proxy : uint8_t { Generic, Async };

/// Why an access is wrong.
struct SharedConflict {
  enum class Kind : uint8_t { Uninitialised, Pending, Race, InFlight, MissingFence };
  Kind kind;
  uint32_t address;           ///< first byte concerned
  ActorIndex other = noActor; ///< who made the access it collides with
  bool otherWrote = false;
};

/// Whose knowledge an access is checked against.
struct Accessor {
  std::span<const ThreadClock *const> clocks; ///< all of them must know the earlier access
  ActorIndex actor = 0;                       ///< recorded as the accessor
  uint32_t epoch = 0;
};

/// The actors that stand for asynchronous reads of a CTA's shared memory.
struct AsyncReaders {
  /// [first, end): those of wgmma, four in a row for a warpgroup, one a warp, of which all must be known.
  ActorIndex firstMatrix = noActor, endMatrix = noActor;
  ActorIndex bulk = noActor; ///< bulk stores

  bool isMatrix(ActorIndex actor) const { return actor >= firstMatrix && actor < endMatrix; }
  bool contains(ActorIndex actor) const { return isMatrix(actor) || actor == bulk; }
};

/// Used by one host thread at a time.
class SharedMemory {
public:
  SharedMemory();

  /// Makes `bytes` of dynamic shared memory, all uninitialised.
  void reset(uint32_t bytes, bool trackAccesses, const AsyncReaders &asyncReaders);

  bool contains(uint32_t address, uint32_t bytes) const {
    return address >= sharedBase && address <= end_ && bytes <= end_ - address;
  }
  uint32_t end() const { return end_; }
  uint8_t *data(uint32_t address) { return bytes_.get() + address; }

  /// Checks a read or write and notes it. The range must be contained.
  std::optional<SharedConflict> read(const Accessor &accessor, Proxy proxy, uint32_t address, uint32_t bytes);
  std::optional<SharedConflict> write(const Accessor &accessor, Proxy proxy, uint32_t address, uint32_t bytes);
  /// The same for an atomic operation of the generic proxy, which reads and writes: atomic operations need no order
  /// among themselves.
  std::optional<SharedConflict> update(const Accessor &accessor, uint32_t address, uint32_t bytes);

  /// The bytes are about to be written asynchronously: poisons them. Follows `write`.
  void markPending(uint32_t address, uint32_t bytes);
  /// They are written now, by `actor` in `epoch`.
  void markWritten(uint32_t address, uint32_t bytes, Proxy proxy, ActorIndex actor, uint32_t epoch);
  /// The bytes hold nothing any more, and what was written there needs no proxy fence.
  void forget(uint32_t address, uint32_t bytes);

  /// Notes that an mbarrier lies at an address, or none any more.
  void setMbarrier(uint32_t address, bool present) { mbarriers_[address / mbarrierBytes] = present; }
  /// The first mbarrier in a range.
  std::optional<uint32_t> findMbarrier(uint32_t address, uint32_t bytes) const;

private:
  enum State : uint8_t { Uninitialised = 0, Valid = 1, Pending = 2 };

  struct Access {
    uint32_t epoch = 0;
    ActorIndex actor = noActor;
    uint8_t mask = 0; ///< bytes of the word
    Proxy proxy : 1 = Proxy::Generic;
    bool isAtomic : 1 = false;
  };

  /// Lists are named by their index in `lists_`, plus one; 0 = none.
  struct Word {
    Access write;
    std::array<Access, 2> reads; ///< since the last write
    uint32_t otherReads = 0;     ///< list of more of them
    uint32_t otherWrites = 0;    ///< list of older writes: of bytes that `write` left alone, and of atomic operations
  };

  std::optional<SharedConflict> checkStates(uint32_t address, uint32_t bytes) const;
  bool known(const Accessor &accessor, ActorIndex actor, uint32_t epoch) const;
  bool knownFenced(const Accessor &accessor, ActorIndex actor, uint32_t epoch) const;
  /// How an access of the word collides with the write; the masks overlap.
  std::optional<SharedConflict> checkWrite(const Access &write, const Accessor &accessor, Proxy proxy,
                                           uint32_t address) const;
  std::optional<SharedConflict> checkWrites(const Word &word, const Accessor &accessor, Proxy proxy, uint32_t address,
                                            uint8_t mask, bool isAtomic) const;
  /// How a write of the word collides with the reads since the last one.
  std::optional<SharedConflict> checkReads(const Word &word, const Accessor &accessor, Proxy proxy, uint32_t address,
                                           uint8_t mask) const;
  void noteRead(Word &word, const Accessor &accessor, uint8_t mask);
  void noteWrite(Word &word, const Access &write);
  void noteUpdate(Word &word, const Accessor &accessor, uint8_t mask);
  static void noteInList(std::vector<Access> &list, const Access &access);
  void forgetReads(Word &word, uint8_t mask);
  std::vector<Access> &listOf(uint32_t &name);

  std::unique_ptr<uint8_t[]> bytes_;
  std::unique_ptr<uint8_t[]> states_;
  std::unique_ptr<Word[]> words_;
  std::vector<std::vector<Access>> lists_; // each by actor; kept from one run to the next
  uint32_t numLists_ = 0;                  // in use
  std::bitset<sharedBlockBytes / mbarrierBytes> mbarriers_;
  uint32_t end_ = sharedBase;
  bool trackAccesses_ = true;
  AsyncReaders asyncReaders_;
};

} // namespace jitk::emulator
