// DirectLaunch: the call that enqueues a function, for who has prepared all that it takes.

#pragma once

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

/// cuLaunchKernelEx, or a function that is called like it, and what to call it with. It may be called in any context:
/// where the function can be launched in its own alone, the call is refused. A refusal, any answer but zero, enqueues
/// nothing and says nothing: `DeviceFunction::launch`, which then is to be called, launches or says why not.
struct DirectLaunch {
  int (*enqueue)(const DirectLaunchConfig *config, void *function, void **arguments, void **extra) = nullptr;
  void *function = nullptr;
  void *programmatic = nullptr; ///< the attribute of a launch that may begin before what precedes it has finished
};

} // namespace jitk
