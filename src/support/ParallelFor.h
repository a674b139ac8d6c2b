// One piece of work for each of many indices, on several threads of the host.

#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace jitk {

/// Calls `body(worker, index)` for each index below `count`, on `workers` threads (at least one), this one included;
/// returns when all are done. Indices are begun in order. Once a body gives false no further index is begun. A body may
/// not throw.
template <typename Body> void parallelFor(uint64_t count, uint32_t workers, const Body &body) {
  std::atomic<uint64_t> next{0};
  const auto work = [&](uint32_t worker) {
    for (uint64_t index = next++; index < count; index = next++) {
      if (!body(worker, index)) {
        next = count;
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t worker = 1; worker < workers; ++worker) {
    threads.emplace_back(work, worker);
  }
  work(0);
  for (std::thread &thread : threads) {
    thread.join();
  }
}

} // namespace jitk
