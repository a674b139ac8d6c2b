// The machine that cost models of kernels have in mind, an H100 or H200 SXM; its multiprocessors, and the sizes of a
// problem that models count with, are what all choices assume.

#pragma once

#include "src/ops/AssumedSizes.h"
#include "src/runtime/SharedMemory.h"

namespace jitk::kernels {

inline constexpr double kL2BytesPerClock = 64;       ///< of one multiprocessor
inline constexpr double kMemoryBytesPerClock = 2400; ///< of all, at what copies reach
inline constexpr int64_t kSharedBytes = sharedMemoryLimit(90);
inline constexpr int64_t kReserved = 2048; ///< of them: barriers, captures, and what alignment loses

} // namespace jitk::kernels
