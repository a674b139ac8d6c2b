// The controls of the fake libcuda: what it pretends to be, where it fails, and what it was asked.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace jitk::test {

struct FakeLaunch {
  std::string symbol;
  unsigned grid[3], block[3], sharedBytes;
  unsigned cluster[3]; ///< 1, 1, 1 without the attribute
  bool programmatic;
  void *stream;
  bool hadContext; ///< whether a context was current
};

/// One for each copy of the library. For one thread.
struct FakeCuda {
  // What it pretends to be.
  int version = 12080;
  int numDevices = 2;
  int major[2] = {9, 8};
  int minor[2] = {0, 0};

  /// The code that a function answers, by symbol; absent = success.
  std::map<std::string, int> failures;

  // What it was asked.
  std::vector<std::string> calls; ///< symbols, in order
  std::vector<FakeLaunch> launches;
  std::vector<std::pair<int, int>> attributes; ///< set on functions: attribute, value
  int numContexts = 0;                         ///< retained and not released
  int numModules = 0;                          ///< modules and libraries loaded and not unloaded
  std::vector<void *> contexts;                ///< the thread's stack of contexts
};

} // namespace jitk::test

/// Found by dlsym in the opened library.
extern "C" jitk::test::FakeCuda *fake_cuda();
