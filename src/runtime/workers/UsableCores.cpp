#include "src/runtime/workers/Workers.h"

#include <algorithm>
#include <sched.h>
#include <thread>

namespace jitk {

uint32_t usableCores() {
  // Not hardware_concurrency alone: an engine binds its ranks to a part of the cores.
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return static_cast<uint32_t>(std::max(1, CPU_COUNT(&allowed)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

} // namespace jitk
