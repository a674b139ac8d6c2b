#include "src/runtime/ProcessGeneration.h"

#include <atomic>
#include <pthread.h>

namespace jitk {

static std::atomic<uint32_t> generation = 0;

static void advance() { generation.fetch_add(1, std::memory_order_relaxed); }

uint32_t processGeneration() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, advance);
  static_cast<void>(registered);
  return generation.load(std::memory_order_relaxed);
}

} // namespace jitk
