// Entry: one compiled kernel with all that its launch needs, and its byte form.
//
//   offset  bytes  what
//        0      8  magic "JITKENT" and a zero
//        8      4  version of this form
//       12      4  zero
//       16      8  length of all bytes
//       24     16  XXH3-128 of all bytes from 40 on
//       40      -  key, recipe, facts, code; byte runs with a 32-bit length before them
//
// Nothing in it names a place, so that a file can be copied anywhere. Every flipped bit and every missing byte is found
// before any of it is used.

#pragma once

#include "src/store/Key.h"
#include "src/support/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jitk {

/// What is known of a kernel beside its code.
struct EntryFacts {
  uint32_t registers = 0;
  uint32_t spillBytes = 0;
  uint32_t sharedBytes = 0;
  double buildMs = 0, lowerMs = 0, llvmMs = 0, assembleMs = 0; ///< of its compilation
  bool operator==(const EntryFacts &) const = default;
};

struct Entry {
  static constexpr uint32_t kVersion = 2; ///< of the byte form

  Key key;
  std::vector<uint8_t> recipe; ///< as `Recipe::serialize` wrote it
  EntryFacts facts;
  std::vector<uint8_t> code; ///< what a device loads; never empty

  /// Bytes that holding it in memory takes, about.
  size_t footprint() const { return sizeof(Entry) + key.bytes().size() + recipe.size() + code.size(); }

  std::vector<uint8_t> serialize() const;
  /// Fails with DataLoss, saying what is wrong with the bytes.
  static Result<Entry> deserialize(std::span<const uint8_t> bytes);
};

} // namespace jitk
