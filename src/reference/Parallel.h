// Loops over whole tensors and problems, on all cores of the host.

#pragma once

#include "src/support/ParallelFor.h"

#include <algorithm>
#include <cstddef>

namespace jitk::reference {

/// How many threads may run at a time. Asked once: the C library reads a file of the system for the answer, which takes
/// longer than to decode a row of a tensor.
inline uint32_t numCores() {
  static const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  return cores;
}

/// Calls `body(index)` for each index below `count`, on all cores.
template <typename Body> void onAllCores(size_t count, const Body &body) {
  uint32_t cores = numCores();
  parallelFor(count, uint32_t(std::clamp<size_t>(count, 1, cores)), [&](uint32_t, uint64_t index) {
    body(size_t(index));
    return true;
  });
}

/// Elements of a tensor that one thread takes at a time.
inline constexpr size_t kBlockOfElements = size_t(1) << 16;

/// Calls `body(block, first, end)` for each block of `kBlockOfElements` of `count` elements, on all cores.
template <typename Body> void forEachBlock(size_t count, const Body &body) {
  onAllCores((count + kBlockOfElements - 1) / kBlockOfElements, [&](size_t block) {
    size_t first = block * kBlockOfElements;
    body(block, first, std::min(count, first + kBlockOfElements));
  });
}

} // namespace jitk::reference
