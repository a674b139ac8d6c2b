// Small store entries for tests.

#pragma once

#include "src/store/Entry.h"

namespace jitk::test {

inline Key sampleKey(const std::string &description = "sample n=1", const std::string &assembler = "stub 1") {
  return Key({description, "sm_90a", "build-1", "", assembler});
}

/// An entry whose code is `codeBytes` long, with values that tell one entry from another.
inline Entry sampleEntry(const Key &key, size_t codeBytes = 64) {
  Entry entry{key, {1, 2, 3}, {}, std::vector<uint8_t>(codeBytes, static_cast<uint8_t>(key.hash()))};
  entry.facts = {
      .registers = 40, .spillBytes = 0, .sharedBytes = 1024, .buildMs = 1, .lowerMs = 2, .llvmMs = 3, .assembleMs = 4};
  return entry;
}

/// The same, made from a program: the code is the program's.
inline Entry sampleEntryOf(const std::string &program, const Key &key, size_t codeBytes = 64) {
  Entry entry = sampleEntry(key, codeBytes);
  entry.program = program;
  entry.code.assign(codeBytes, static_cast<uint8_t>(entry.programKey().hash()));
  return entry;
}

} // namespace jitk::test
