#include "src/emulator/SharedMemory.h"

#include <algorithm>
#include <cstring>

namespace jitk::emulator {

namespace {

/// The bytes of word `word` that [address, end) covers, one bit a byte.
uint8_t maskInWord(uint32_t word, uint32_t address, uint32_t end) {
  const uint32_t low = std::max(address, word * 4) - word * 4;
  const uint32_t high = std::min(end, word * 4 + 4) - word * 4;
  return uint8_t(((1u << high) - 1) & ~((1u << low) - 1));
}

} // namespace

SharedMemory::SharedMemory()
    : bytes_(new uint8_t[sharedBlockBytes]), states_(new uint8_t[sharedBlockBytes]),
      words_(new Word[sharedBlockBytes / 4]) {}

void SharedMemory::reset(uint32_t bytes, bool trackAccesses, const AsyncReaders &asyncReaders) {
  end_ = sharedBase + bytes;
  trackAccesses_ = trackAccesses;
  asyncReaders_ = asyncReaders;
  std::memset(bytes_.get(), 0xff, end_);
  std::memset(states_.get(), Uninitialised, end_);
  mbarriers_.reset();
  if (trackAccesses_) {
    Word empty = {0, {0, 0}, noActor, {noActor, noActor}, 0, 0, Proxy::Generic, false};
    std::fill_n(words_.get() + sharedBase / 4, (bytes + 3) / 4, empty);
  }
}

bool SharedMemory::known(const Accessor &accessor, ActorIndex actor, uint32_t epoch) const {
  const ActorIndex last = asyncReaders_.isMatrix(actor) ? ActorIndex(actor + 3) : actor;
  for (const ThreadClock *clock : accessor.clocks) {
    for (uint32_t each = actor; each <= last; ++each) {
      if (!clock->knows(ActorIndex(each), epoch)) {
        return false;
      }
    }
  }
  return true;
}

bool SharedMemory::knownFenced(const Accessor &accessor, ActorIndex actor, uint32_t epoch) const {
  return std::ranges::all_of(accessor.clocks,
                             [&](const ThreadClock *clock) { return clock->knowsFenced(actor, epoch); });
}

std::optional<SharedConflict> SharedMemory::checkStates(uint32_t address, uint32_t bytes) const {
  for (uint32_t byte = address; byte < address + bytes; ++byte) {
    if (states_[byte] == Uninitialised) {
      return SharedConflict{SharedConflict::Kind::Uninitialised, byte};
    }
    if (states_[byte] == Pending) {
      return SharedConflict{SharedConflict::Kind::Pending, byte};
    }
  }
  return std::nullopt;
}

void SharedMemory::noteRead(Word &word, const Accessor &accessor, uint8_t mask) {
  const ActorIndex actor = accessor.actor;
  word.readMask |= mask;
  // The first slot keeps the oldest reader that may still matter, the second the latest.
  const bool firstFree =
      word.readers[0] == noActor || word.readers[0] == actor || known(accessor, word.readers[0], word.readEpochs[0]);
  const size_t slot = firstFree ? 0 : 1;
  word.readers[slot] = actor;
  word.readEpochs[slot] = accessor.epoch;
}

std::optional<SharedConflict> SharedMemory::read(const Accessor &accessor, Proxy proxy, uint32_t address,
                                                 uint32_t bytes) {
  std::optional<SharedConflict> conflict = checkStates(address, bytes);
  if (!trackAccesses_) {
    return conflict;
  }
  const uint32_t end = address + bytes;
  // Neighbouring words mostly have one writer: what was found of the last one holds.
  ActorIndex sameWriter = noActor;
  uint32_t sameEpoch = 0;
  for (uint32_t index = address / 4; index * 4 < end; ++index) {
    Word &word = words_[index];
    const uint8_t mask = maskInWord(index, address, end);
    if (word.writer != noActor && (word.writeMask & mask) && !conflict &&
        (word.writer != sameWriter || word.writeEpoch != sameEpoch)) {
      if (!known(accessor, word.writer, word.writeEpoch)) {
        conflict = SharedConflict{SharedConflict::Kind::Race, index * 4, word.writer, true};
      } else if (proxy == Proxy::Async && word.writeProxy == Proxy::Generic &&
                 !knownFenced(accessor, word.writer, word.writeEpoch)) {
        conflict = SharedConflict{SharedConflict::Kind::MissingFence, index * 4, word.writer, true};
      }
      sameWriter = word.writer;
      sameEpoch = word.writeEpoch;
    }
    noteRead(word, accessor, mask);
  }
  return conflict;
}

std::optional<SharedConflict> SharedMemory::write(const Accessor &accessor, Proxy proxy, uint32_t address,
                                                  uint32_t bytes) {
  std::optional<SharedConflict> conflict;
  const uint32_t end = address + bytes;
  if (const void *pending = std::memchr(states_.get() + address, Pending, bytes)) {
    const auto byte = uint32_t(static_cast<const uint8_t *>(pending) - states_.get());
    conflict = SharedConflict{SharedConflict::Kind::Pending, byte};
  }
  std::memset(states_.get() + address, Valid, bytes);
  if (!trackAccesses_) {
    return conflict;
  }
  for (uint32_t index = address / 4; index * 4 < end; ++index) {
    Word &word = words_[index];
    const uint8_t mask = maskInWord(index, address, end);
    const bool again = word.writer == accessor.actor && word.writeEpoch == accessor.epoch;
    if (!again && word.writer != noActor && (word.writeMask & mask) && !conflict) {
      if (!known(accessor, word.writer, word.writeEpoch)) {
        conflict = SharedConflict{SharedConflict::Kind::Race, index * 4, word.writer, true};
      } else if (proxy == Proxy::Async && word.writeProxy == Proxy::Generic &&
                 !knownFenced(accessor, word.writer, word.writeEpoch)) {
        conflict = SharedConflict{SharedConflict::Kind::MissingFence, index * 4, word.writer, true};
      }
    }
    for (size_t slot = 0; slot < 2 && (word.readMask & mask) && !conflict; ++slot) {
      if (word.readers[slot] != noActor && !known(accessor, word.readers[slot], word.readEpochs[slot])) {
        const bool inFlight = asyncReaders_.contains(word.readers[slot]);
        conflict = SharedConflict{inFlight ? SharedConflict::Kind::InFlight : SharedConflict::Kind::Race, index * 4,
                                  word.readers[slot], false};
      }
    }
    word.writeMask = again ? uint8_t(word.writeMask | mask) : mask;
    word.writer = accessor.actor;
    word.writeEpoch = accessor.epoch;
    word.writeProxy = proxy;
    word.writeIsAtomic = false;
    word.readers = {noActor, noActor};
    word.readMask = 0;
  }
  return conflict;
}

std::optional<SharedConflict> SharedMemory::update(const Accessor &accessor, uint32_t address, uint32_t bytes) {
  std::optional<SharedConflict> conflict = checkStates(address, bytes);
  std::memset(states_.get() + address, Valid, bytes);
  if (!trackAccesses_) {
    return conflict;
  }
  const uint32_t end = address + bytes;
  for (uint32_t index = address / 4; index * 4 < end; ++index) {
    Word &word = words_[index];
    const uint8_t mask = maskInWord(index, address, end);
    if (!word.writeIsAtomic && word.writer != noActor && (word.writeMask & mask) && !conflict &&
        !known(accessor, word.writer, word.writeEpoch)) {
      conflict = SharedConflict{SharedConflict::Kind::Race, index * 4, word.writer, true};
    }
    for (size_t slot = 0; slot < 2 && (word.readMask & mask) && !conflict; ++slot) {
      if (word.readers[slot] != noActor && !known(accessor, word.readers[slot], word.readEpochs[slot])) {
        const bool inFlight = asyncReaders_.contains(word.readers[slot]);
        conflict = SharedConflict{inFlight ? SharedConflict::Kind::InFlight : SharedConflict::Kind::Race, index * 4,
                                  word.readers[slot], false};
      }
    }
    word = {accessor.epoch, {0, 0}, accessor.actor, {noActor, noActor}, mask, 0, Proxy::Generic, true};
  }
  return conflict;
}

void SharedMemory::markPending(uint32_t address, uint32_t bytes) {
  std::memset(states_.get() + address, Pending, bytes);
  std::memset(bytes_.get() + address, 0xff, bytes);
}

void SharedMemory::markWritten(uint32_t address, uint32_t bytes, Proxy proxy, ActorIndex actor, uint32_t epoch) {
  std::memset(states_.get() + address, Valid, bytes);
  const uint32_t end = address + bytes;
  for (uint32_t index = address / 4; trackAccesses_ && index * 4 < end; ++index) {
    Word &word = words_[index];
    const uint8_t mask = maskInWord(index, address, end);
    const bool again = word.writer == actor && word.writeEpoch == epoch;
    word.writeMask = again ? uint8_t(word.writeMask | mask) : mask;
    word.writer = actor;
    word.writeEpoch = epoch;
    word.writeProxy = proxy;
    word.writeIsAtomic = false;
  }
}

void SharedMemory::forget(uint32_t address, uint32_t bytes) {
  std::memset(states_.get() + address, Uninitialised, bytes);
  for (uint32_t index = address / 4; trackAccesses_ && index * 4 < address + bytes; ++index) {
    words_[index].writeProxy = Proxy::Async;
  }
}

std::optional<uint32_t> SharedMemory::findMbarrier(uint32_t address, uint32_t bytes) const {
  for (uint32_t slot = address / mbarrierBytes; slot * mbarrierBytes < address + bytes; ++slot) {
    if (mbarriers_[slot]) {
      return slot * mbarrierBytes;
    }
  }
  return std::nullopt;
}

} // namespace jitk::emulator
