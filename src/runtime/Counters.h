// Counters: what a runtime did since it was created.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jitk {

/// Thread-safe; each is exact, and all of them together no snapshot of one moment.
struct Counters {
  using Count = std::atomic<uint64_t>;
  static constexpr size_t kNumTiers = 9; ///< as many as `Tier` has values

  std::array<Count, kNumTiers> kernels = {}; ///< got, by `Tier`
  Count compilations = 0;                    ///< begun
  Count failures = 0;                        ///< of them, that gave no kernel
  Count microseconds = 0;                    ///< that compilations took, all together
  Count lockTimeouts = 0;                    ///< waits for another process that were given up
  Count loads = 0;
  Count loadedBytes = 0;

  static void add(Count &count, uint64_t amount = 1) { count.fetch_add(amount, std::memory_order_relaxed); }
};

} // namespace jitk
