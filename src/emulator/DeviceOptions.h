// How an emulator device runs kernels.

#pragma once

#include "src/runtime/Target.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace jitk::emulator {

/// When an asynchronous instruction takes effect.
enum class AsyncMode : uint8_t {
  Deferred, ///< as late as synchronization allows; until then its targets hold poison
  Immediate ///< where it stands
};

/// What is looked for beyond what every access is checked for (bounds, alignment, poison).
struct Checks {
  bool races = true;                 ///< accesses to shared memory that no synchronization orders, missing proxy fences
  bool sharedInitialisation = true;  ///< reads of shared memory that nobody wrote
  bool globalInitialisation = false; ///< reads of global memory that nobody wrote
  bool target = true;                ///< instructions that the target does not have
};

struct DeviceOptions {
  Target target = {Target::Kind::Emulator, 90, true};
  AsyncMode mode = AsyncMode::Deferred;
  /// Order in which threads run and asynchronous work completes; 0 = in order of their index. The same seed gives the
  /// same run of a CTA.
  uint64_t seed = 0;
  uint32_t workers = 0; ///< host threads that run CTAs; 0 = one a core
  /// What kernels see that fit their grid to the device: few, so that small problems make their CTAs go round.
  uint32_t multiprocessors = 4;
  Checks checks;
  size_t maxFindings = 64;                      ///< kept of one launch
  uint64_t maxInstructions = uint64_t(1) << 28; ///< executed by one thread, before it is stopped
  /// Rounds of loops that one thread makes without an instruction of the table, before it is stopped: arithmetic alone
  /// ends sooner in any kernel, and all threads of a CTA come to the bound in seconds.
  uint64_t maxEmptyRounds = uint64_t(1) << 22;
  size_t stackBytes = size_t(1) << 20; ///< of a thread; what is not used costs addresses only
  /// Gets what kernels print, a call of printf at a time, while they run; from several threads at once. Null drops it.
  std::function<void(std::string_view text)> print;
};

} // namespace jitk::emulator
