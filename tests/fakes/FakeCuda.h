// The controls of the fake libcuda: what it pretends to be, where it fails, and what it was asked.

#pragma once

#include <cstdint>
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
  bool hadContext;                      ///< whether the function's context was current
  std::vector<uint8_t> parameters = {}; ///< of a launch that gives them in one piece
};

/// One tensor map that was encoded; sizes innermost first.
struct FakeTensorMap {
  void *address;
  std::vector<uint64_t> sizes;
  std::vector<uint32_t> box;
};

/// One use of the driver's linker.
struct FakeLink {
  std::map<int, uintptr_t> options; ///< by CUjit_option
  int inputType = 0;
  std::string text, name; ///< of its input; with the text's end, if it was counted
  bool completed = false;
};

/// One for each copy of the library. Change and read it while nobody calls the driver.
struct FakeCuda {
  static constexpr int kMaximalDevices = 4;

  // What it pretends to be.
  int version = 12080;
  int numDevices = 2;
  int major[kMaximalDevices] = {9, 8, 9, 9};
  int minor[kMaximalDevices] = {0, 0, 0, 0};
  int multiprocessors[kMaximalDevices] = {132, 108, 132, 132};
  bool capturing = false; ///< some stream is being captured, in the global mode
  bool busy = false;      ///< what is launched does not finish until this is false, or somebody waits for it
  bool remember = true;   ///< false: `calls` and `launches` stay empty, so that a launch costs next to nothing
  bool walks = false;     ///< a launch goes through as much code and data as a real driver's

  double callMicroseconds = 50; ///< of each launch of a graph

  std::string linkInfo, linkError; ///< what the linker says
  std::vector<uint8_t> linkCode;   ///< what it makes

  /// The code that a function answers, by symbol; absent = success.
  std::map<std::string, int> failures;

  // What it was asked.
  std::vector<std::string> calls; ///< symbols, in order
  std::vector<FakeLaunch> launches;
  std::vector<FakeTensorMap> tensorMaps;
  std::vector<FakeLink> links;
  std::vector<std::pair<int, int>> attributes; ///< set on functions: attribute, value
  std::map<std::string, uint64_t> numCalls;    ///< by symbol; what a launch calls is left out if not remembered
  uint64_t numLaunches = 0;
  int numContexts = 0;                                ///< retained and not released
  int numModules = 0;                                 ///< modules and libraries loaded and not unloaded
  int mostModules = 0;                                ///< the most that there were at a time
  int numEvents = 0;                                  ///< created and not destroyed
  int numStreams = 0;                                 ///< created and not destroyed
  int numLinks = 0;                                   ///< created and not destroyed
  int numUnloadedInFlight = 0;                        ///< code unloaded while a launch of it had not finished
  int numGraphs = 0;                                  ///< instantiated and not destroyed
  std::vector<uint64_t> replays;                      ///< of graphs, in order: the launches that each has
  double microseconds = 0, eventMicroseconds[2] = {}; ///< the device's clock, and what the last two events saw of it
  bool captureInvalidated = false;                    ///< a call was made that a capture forbids
};

} // namespace jitk::test

// Found by dlsym in the opened library.
extern "C" {
jitk::test::FakeCuda *fake_cuda();
/// The calling thread's stack of contexts.
std::vector<void *> *fake_cuda_contexts();
/// How often a function was called; for programs in C. "" = all of them.
uint64_t fake_cuda_count(const char *symbol);
/// `mostModules`.
int fake_cuda_most_modules();
/// Sets `failures`, and what else is pretended; for programs in C and Python.
void fake_cuda_fail(const char *symbol, int code);
void fake_cuda_set_capturing(int capturing);
void fake_cuda_set_version(int version);
/// Sets `walks`.
void fake_cuda_walk(int walk);
/// Sets `remember`.
void fake_cuda_remember(int remember);
/// The context of a device, as cuDevicePrimaryCtxRetain gives it.
void *fake_cuda_context(int device);
/// Another context of the device, as an engine makes one by cuCtxCreate.
void *fake_cuda_engine_context(int device);
}
