// Key: what makes two kernels the same.
//
// A key is bytes: everything that can change the code, and nothing else (no path, no time, no environment). Two keys
// are equal if their bytes are; the hash only names the file.

#pragma once

#include "src/support/Hash.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitk {

/// What a key is made of.
struct KeyParts {
  std::string description; ///< canonical text
  std::string target;      ///< "sm_90a", "emulator:sm_90a"
  std::string buildId;     ///< of the compiler
  std::string options;     ///< of code generation, canonical text
  std::string assembler;   ///< name and version of what makes machine code
  bool operator==(const KeyParts &) const = default;
};

/// An immutable value.
class Key {
public:
  explicit Key(KeyParts parts);
  /// Reads the bytes of a key back. False for bytes that are none.
  static bool parse(std::span<const uint8_t> bytes, KeyParts &parts);

  const KeyParts &parts() const { return parts_; }
  std::span<const uint8_t> bytes() const { return bytes_; }
  /// Hash of everything but the assembler, 32 hexadecimal digits; then '-' and 8 digits of the assembler's. So all
  /// entries of one problem have names that begin alike, and a process without a compiler, which cannot name the
  /// assembler, finds them.
  const std::string &name() const { return name_; }
  std::string_view problemName() const { return std::string_view(name_).substr(0, 32); }
  /// 64 bits of the hash of all bytes.
  uint64_t hash() const { return hash_.low; }

  bool operator==(const Key &other) const { return bytes_ == other.bytes_; }

private:
  KeyParts parts_;
  std::vector<uint8_t> bytes_;
  Hash128 hash_;
  std::string name_;
};

} // namespace jitk
