#include "src/runtime/ProcessGeneration.h"

#include <pthread.h>

namespace jitk {

std::atomic<uint32_t> numForks = 0;

static void countFork() { numForks.fetch_add(1, std::memory_order_relaxed); }

// While the library is loaded, so that no launch has to ask whether it was done.
[[maybe_unused]] static const int registered = ::pthread_atfork(nullptr, nullptr, countFork);

} // namespace jitk
