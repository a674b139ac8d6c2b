// DirectLaunch: the call that enqueues a function, for who has prepared all that it takes.

#pragma once

#include <cstddef>

namespace jitk {

/// As the driver's CUlaunchConfig.
struct DirectLaunchConfig {
  unsigned grid[3], block[3];
  unsigned sharedBytes;
  void *stream;
  void *attributes;
  unsigned numAttributes;
};
static_assert(sizeof(DirectLaunchConfig) == 56);

/// The parameters of a launch in one piece, as they lie in the function's memory, for cuLaunchKernelEx's `extra`. The
/// driver copies them at once, where of an array of pointers it copies each.
class DirectLaunchParameters {
public:
  /// Both are looked at while the launch is enqueued.
  DirectLaunchParameters(void *buffer, const size_t *bytes)
      : extra_{reinterpret_cast<void *>(1), buffer, reinterpret_cast<void *>(2), const_cast<size_t *>(bytes), nullptr} {
  }
  void **extra() { return extra_; }

private:
  void *extra_[5]; ///< CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
};

/// cuLaunchKernelEx, or a function that is called like it, and what to call it with. It may be called in any context:
/// where the function can be launched in its own alone, the call is refused. A refusal, any answer but zero, enqueues
/// nothing and says nothing: `DeviceFunction::launch`, which then is to be called, launches or says why not.
struct DirectLaunch {
  int (*enqueue)(const DirectLaunchConfig *config, void *function, void **arguments, void **extra) = nullptr;
  void *function = nullptr;
  void *programmatic = nullptr; ///< the attribute of a launch that may begin before what precedes it has finished
};

} // namespace jitk
