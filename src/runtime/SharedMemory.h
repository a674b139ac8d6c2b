// How much shared memory the CTAs of a GPU have.

#pragma once

#include <cstdint>

namespace jitk {

/// The most shared memory, in bytes, that one CTA of that compute capability can have.
constexpr uint32_t sharedMemoryLimit(uint32_t capability) {
  switch (capability) {
  case 80:
  case 87:
    return 163 * 1024;
  case 90:
  case 100:
  case 103:
    return 227 * 1024;
  default:
    return 99 * 1024;
  }
}

} // namespace jitk
