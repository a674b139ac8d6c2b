// LaunchRequest: what one launch gives.

#pragma once

#include "jitk/jitk.h"
#include "src/runtime/Device.h"

#include <cstdint>
#include <span>

namespace jitk {

/// Looked at only while `Kernel::launch` runs.
struct LaunchRequest {
  std::span<const uint64_t> tensors; ///< device addresses
  std::span<const int64_t> dimensions;
  std::span<const float> scalars; ///< of a kernel that takes fp32 alone; else `typedScalars`
  std::span<const jitk_scalar_t> typedScalars = {};
  uint64_t workspace = 0;
  uint64_t workspaceBytes = 0;
  StreamHandle stream = nullptr;
  bool programmatic = false; ///< the first step may begin before what precedes it in the stream has finished
};

} // namespace jitk
