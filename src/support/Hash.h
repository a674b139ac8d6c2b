// The one hash of the project: XXH3 with 128 bits.
//
// It names files and finds damage. It is not the identity of anything: wherever two things must be the same, their full
// bytes are compared. So a collision costs a miss, and nobody has to trust a hash that an adversary could break.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace jitk {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  /// 32 lower-case hexadecimal digits.
  std::string toHex() const;
  bool operator==(const Hash128 &) const = default;
};

Hash128 hashBytes(std::span<const uint8_t> bytes);
Hash128 hashBytes(std::string_view text);

} // namespace jitk
