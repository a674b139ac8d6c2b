// Tensor maps: what the emulator puts into the 128 opaque bytes that a kernel receives.

#pragma once

#include "src/support/Status.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace jitk::emulator {

inline constexpr size_t tensorMapBytes = 128;

/// The fields of a tensor map, innermost dimension first. Enumerations have the values of the CUDA driver.
struct TensorMap {
  uint64_t address = 0;
  uint32_t elementType = 0;
  uint32_t rank = 0;
  std::array<uint64_t, 5> sizes = {};
  std::array<uint64_t, 5> strides = {}; ///< in bytes, of dimension i + 1
  std::array<uint32_t, 5> box = {};
  std::array<uint32_t, 5> elementStrides = {1, 1, 1, 1, 1};
  uint32_t swizzle = 0;    ///< 0 none, 1 = 32, 2 = 64, 3 = 128 bytes
  uint32_t interleave = 0; ///< 0 none
  uint32_t fill = 0;       ///< out of bounds: 0 = zero, 1 = NaN

  uint32_t elementBytes() const;
  uint32_t boxBytes() const;
  /// Bytes of the swizzle pattern's rows; 0 = none.
  uint32_t swizzleBytes() const { return swizzle == 0 ? 0 : 16u << swizzle; }

  /// What no hardware accepts, as the driver's encoder would refuse it.
  Status validate() const;

  /// The 128-byte form; `decode` gives nothing for bytes that are no tensor map.
  void encode(void *bytes) const;
  static std::optional<TensorMap> decode(const void *bytes);
};

} // namespace jitk::emulator
