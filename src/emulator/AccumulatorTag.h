// Tags: what the accumulator registers of a wgmma in flight hold. A tag is a negative quiet NaN whose payload names the
// wgmma and the register, so that arithmetic on it stays NaN, a chained wgmma recognises its predecessor, and the wait
// finds the value that belongs there.

#pragma once

#include "src/emulator/Thread.h"

#include <cstdint>

namespace jitk::emulator {

inline constexpr uint32_t tagPattern = 0xffc00000;
inline constexpr uint32_t tagRegisterBits = 7;
/// Slots 0 and 0x7fff are left out: the first is the host's default NaN, the second the pattern of unwritten memory.
inline constexpr uint32_t numTagSlots = 0x7ffe;

constexpr uint32_t tagSlot(uint32_t sequence) { return (sequence - 1) % numTagSlots + 1; }

constexpr uint32_t makeTag(uint32_t sequence, uint32_t registerIndex) {
  return tagPattern | tagSlot(sequence) << tagRegisterBits | registerIndex;
}

constexpr bool looksLikeTag(uint64_t value) {
  return value >= (tagPattern | 1u << tagRegisterBits) && value < 0xffffff80u;
}

constexpr uint32_t slotOfTag(uint32_t tag) { return (tag & ~tagPattern) >> tagRegisterBits; }
constexpr uint32_t registerOfTag(uint32_t tag) { return tag & ((1u << tagRegisterBits) - 1); }

/// The wgmma whose register a value stands for; null if the value is no tag of this warpgroup.
inline PendingWgmma *findTagged(Warpgroup &group, uint32_t value) {
  if (!looksLikeTag(value)) {
    return nullptr;
  }
  // The latest are asked for most.
  for (auto pending = group.pending.rbegin(); pending != group.pending.rend(); ++pending) {
    if (tagSlot(pending->sequence) == slotOfTag(value)) {
      return registerOfTag(value) < pending->numRegisters ? &*pending : nullptr;
    }
  }
  return nullptr;
}

} // namespace jitk::emulator
