// Entry: one compiled kernel with all that its launch needs, and its byte form.
//
//   offset  bytes  what
//        0      8  magic "JITKENT" and a zero
//        8      4  version of this form
//       12      4  zero
//       16      8  length of all bytes
//       24     16  XXH3-128 of all bytes from 40 on
//       40      -  key, recipe, facts, program, code; byte runs with a 32-bit length before them
//
// Problems that are built from the same program have the same code. A store can keep it once: in the entry of one of
// them; those of the others are references, which have no code and name the program.
//
// Nothing in it names a place, so that a file can be copied anywhere. Every flipped bit and every missing byte is found
// before any of it is used.

#pragma once

#include "src/store/Key.h"
#include "src/support/Status.h"

#include <cstdint>
#include <memory>
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
  static constexpr uint32_t kVersion = 3; ///< of the byte form

  Key key;
  std::vector<uint8_t> recipe; ///< as `Recipe::serialize` wrote it
  EntryFacts facts;
  std::vector<uint8_t> code; ///< what a device loads; empty in a reference alone, which only stores see
  std::string program = {};  ///< names what the code is made from; empty if that is not known

  bool isReference() const { return code.empty(); }
  /// What names the program among those of other targets, compilers and assemblers. The program must be known.
  Key programKey() const { return programKey(key, program); }
  static Key programKey(const Key &ofEntry, const std::string &program);
  Entry reference() const { return {key, recipe, facts, {}, program}; }
  /// The entry that a reference stands for, with the code of `source`; null if that is of another program.
  static std::shared_ptr<const Entry> resolve(const Entry &reference, const std::shared_ptr<const Entry> &source);

  /// Bytes that holding it in memory takes, about.
  size_t footprint() const { return sizeof(Entry) + key.bytes().size() + recipe.size() + code.size(); }

  std::vector<uint8_t> serialize() const;
  /// Fails with DataLoss, saying what is wrong with the bytes.
  static Result<Entry> deserialize(std::span<const uint8_t> bytes);
};

} // namespace jitk
