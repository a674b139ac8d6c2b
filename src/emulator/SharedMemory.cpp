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
  numLists_ = 0;
  if (trackAccesses_) {
    std::fill_n(words_.get() + sharedBase / 4, (bytes + 3) / 4, Word());
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

std::vector<SharedMemory::Access> &SharedMemory::listOf(uint32_t &name) {
  if (name == 0) {
    if (numLists_ == lists_.size()) {
      lists_.emplace_back();
    }
    lists_[numLists_].clear();
    name = ++numLists_;
  }
  return lists_[name - 1];
}

/// Takes bytes off the accesses of a list, and off the list those that have none left.
static void takeBytes(auto &list, uint8_t mask) {
  for (auto &access : list) {
    access.mask &= uint8_t(~mask);
  }
  std::erase_if(list, [](const auto &access) { return access.mask == 0; });
}

void SharedMemory::noteRead(Word &word, const Accessor &accessor, uint8_t mask) {
  const Access read = {.epoch = accessor.epoch, .actor = accessor.actor, .mask = mask};
  for (Access &slot : word.reads) {
    if (slot.actor != read.actor) {
      continue;
    }
    if (slot.epoch == read.epoch) {
      slot.mask |= mask;
      return;
    }
    if ((slot.mask & ~mask) == 0) {
      slot = read;
      return;
    }
  }
  for (Access &slot : word.reads) {
    // Who comes after this read comes after those that it knows.
    if (slot.actor == noActor || ((slot.mask & ~mask) == 0 && known(accessor, slot.actor, slot.epoch))) {
      slot = read;
      return;
    }
  }
  noteInList(listOf(word.otherReads), read);
}

void SharedMemory::noteInList(std::vector<Access> &list, const Access &access) {
  auto place = std::ranges::lower_bound(list, access.actor, {}, &Access::actor);
  for (; place != list.end() && place->actor == access.actor; ++place) {
    const bool sameKind = place->proxy == access.proxy && place->isAtomic == access.isAtomic;
    if (sameKind && place->epoch == access.epoch) {
      place->mask |= access.mask;
      return;
    }
    if (sameKind && (place->mask & ~access.mask) == 0) {
      *place = access;
      return;
    }
  }
  list.insert(place, access);
}

void SharedMemory::noteWrite(Word &word, const Access &write) {
  Access &last = word.write;
  const bool again = last.actor == write.actor && last.epoch == write.epoch && last.proxy == write.proxy;
  if (again && !last.isAtomic) {
    last.mask |= write.mask;
  } else {
    last.mask &= uint8_t(~write.mask);
    if (last.mask != 0) {
      noteInList(listOf(word.otherWrites), last);
    }
    last = write;
  }
  if (word.otherWrites != 0) {
    takeBytes(listOf(word.otherWrites), write.mask);
  }
}

void SharedMemory::noteUpdate(Word &word, const Accessor &accessor, uint8_t mask) {
  // Of atomic operations that nothing orders, a later access must come after each.
  const auto replaces = [&](const Access &write) {
    return write.actor == accessor.actor || known(accessor, write.actor, write.epoch);
  };
  Access &last = word.write;
  if (last.mask & ~mask || !replaces(last)) {
    if (!last.isAtomic || replaces(last)) {
      last.mask &= uint8_t(~mask);
    }
    if (last.mask != 0) {
      noteInList(listOf(word.otherWrites), last);
    }
  }
  last = {.epoch = accessor.epoch, .actor = accessor.actor, .mask = mask, .isAtomic = true};
  if (word.otherWrites != 0) {
    std::vector<Access> &list = listOf(word.otherWrites);
    for (Access &write : list) {
      if (!write.isAtomic || replaces(write)) {
        write.mask &= uint8_t(~mask);
      }
    }
    std::erase_if(list, [](const Access &write) { return write.mask == 0; });
  }
}

void SharedMemory::forgetReads(Word &word, uint8_t mask) {
  for (Access &read : word.reads) {
    read.mask &= uint8_t(~mask);
    if (read.mask == 0) {
      read.actor = noActor;
    }
  }
  if (word.otherReads != 0) {
    takeBytes(listOf(word.otherReads), mask);
  }
}

std::optional<SharedConflict> SharedMemory::checkWrite(const Access &write, const Accessor &accessor, Proxy proxy,
                                                       uint32_t address) const {
  if (!known(accessor, write.actor, write.epoch)) {
    return SharedConflict{SharedConflict::Kind::Race, address, write.actor, true};
  }
  if (proxy == Proxy::Async && write.proxy == Proxy::Generic && !knownFenced(accessor, write.actor, write.epoch)) {
    return SharedConflict{SharedConflict::Kind::MissingFence, address, write.actor, true};
  }
  return std::nullopt;
}

std::optional<SharedConflict> SharedMemory::checkWrites(const Word &word, const Accessor &accessor, Proxy proxy,
                                                        uint32_t address, uint8_t mask, bool isAtomic) const {
  const auto check = [&](const Access &write) -> std::optional<SharedConflict> {
    const bool ordered = (write.mask & mask) == 0 || (isAtomic && write.isAtomic);
    return ordered ? std::nullopt : checkWrite(write, accessor, proxy, address);
  };
  std::optional<SharedConflict> conflict = check(word.write);
  if (word.otherWrites != 0) {
    for (const Access &write : lists_[word.otherWrites - 1]) {
      conflict = conflict ? conflict : check(write);
    }
  }
  return conflict;
}

std::optional<SharedConflict> SharedMemory::checkReads(const Word &word, const Accessor &accessor, Proxy proxy,
                                                       uint32_t address, uint8_t mask) const {
  using Kind = SharedConflict::Kind;
  const auto check = [&](const Access &read) -> std::optional<SharedConflict> {
    if ((read.mask & mask) == 0) {
      return std::nullopt;
    }
    const bool byAsyncProxy = asyncReaders_.contains(read.actor);
    if (!known(accessor, read.actor, read.epoch)) {
      return SharedConflict{byAsyncProxy ? Kind::InFlight : Kind::Race, address, read.actor, false};
    }
    // A load can be on its way when an arrival that follows it counts, and the async proxy's writes do not queue
    // behind it.
    if (proxy == Proxy::Async && !byAsyncProxy && !knownFenced(accessor, read.actor, read.epoch)) {
      return SharedConflict{Kind::MissingFence, address, read.actor, false};
    }
    return std::nullopt;
  };
  std::optional<SharedConflict> conflict;
  for (const Access &read : word.reads) {
    conflict = conflict ? conflict : check(read);
  }
  if (word.otherReads != 0) {
    for (const Access &read : lists_[word.otherReads - 1]) {
      conflict = conflict ? conflict : check(read);
    }
  }
  return conflict;
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
    const bool same = word.write.actor == sameWriter && word.write.epoch == sameEpoch && word.otherWrites == 0;
    if (!conflict && !same) {
      conflict = checkWrites(word, accessor, proxy, index * 4, mask, /*isAtomic=*/false);
      if (word.write.mask & mask) {
        sameWriter = word.write.actor;
        sameEpoch = word.write.epoch;
      }
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
    const bool again = word.write.actor == accessor.actor && word.write.epoch == accessor.epoch;
    if (!conflict && !(again && word.otherWrites == 0)) {
      conflict = checkWrites(word, accessor, proxy, index * 4, mask, /*isAtomic=*/false);
    }
    if (!conflict) {
      conflict = checkReads(word, accessor, proxy, index * 4, mask);
    }
    noteWrite(word, {.epoch = accessor.epoch, .actor = accessor.actor, .mask = mask, .proxy = proxy});
    forgetReads(word, mask);
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
    if (!conflict) {
      conflict = checkWrites(word, accessor, Proxy::Generic, index * 4, mask, /*isAtomic=*/true);
    }
    if (!conflict) {
      conflict = checkReads(word, accessor, Proxy::Generic, index * 4, mask);
    }
    noteUpdate(word, accessor, mask);
    forgetReads(word, mask);
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
    noteWrite(word, {.epoch = epoch, .actor = actor, .mask = maskInWord(index, address, end), .proxy = proxy});
  }
}

void SharedMemory::forget(uint32_t address, uint32_t bytes) {
  std::memset(states_.get() + address, Uninitialised, bytes);
  for (uint32_t index = address / 4; trackAccesses_ && index * 4 < address + bytes; ++index) {
    words_[index].write.proxy = Proxy::Async;
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
