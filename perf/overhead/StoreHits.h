// How long it takes to get a kernel that was compiled before, without loading it on a device.

#pragma once

#include "perf/overhead/Samples.h"

#include <cstdint>
#include <string>

namespace jitk::perf {

/// Microseconds. "Obtain" is from the request to the checked entry on a worker; "prepare" is what the caller of
/// jitk_plan_prepare and jitk_plan_wait sees.
struct StoreHits {
  std::string description, target;
  uint64_t codeBytes = 0;
  double first = 0; ///< obtain of the first runtime of the process: it opens what later ones find open
  Samples diskObtain, diskPrepare, memoryObtain, memoryPrepare;
  Samples coldObtain; ///< from the disk itself: the kernel was told to forget the store's files
};

/// Compiles the kernel into a store of its own in a child process, then gets it in `count` fresh runtimes of this one.
/// Call it before the process has threads. Throws api::Exception or std::runtime_error.
StoreHits measureStoreHits(const std::string &description, const std::string &target, int count);

} // namespace jitk::perf
