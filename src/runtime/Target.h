// What code is generated for.

#pragma once

#include "src/support/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace jitk {

/// A GPU architecture, run by the GPU or by the emulator. A value type.
struct Target {
  enum class Kind : uint8_t { Cuda, Emulator };
  Kind kind = Kind::Cuda;
  uint32_t capability = 90;  ///< 80, 89, 90, 100, 120
  bool archSpecific = false; ///< the `a` form: sm_90a

  /// What code is generated for: "sm_80", "sm_89", "sm_90a", ...
  static std::span<const std::string_view> architectures();
  /// Reads "sm_90a", "sm_80", "emulator:sm_90a". Fails with InvalidArgument for what is no target, Unsupported for an
  /// architecture that is none of `architectures`.
  static Result<Target> parse(std::string_view text);
  std::string toString() const;
  /// "sm_90a", whoever runs it.
  std::string architecture() const;
  bool operator==(const Target &) const = default;
};

} // namespace jitk
