// The device that a run of the suite tests, and the runtime that all its tests share.

#pragma once

#include "jitk/jitk.hpp"

#include <cstdint>
#include <string>

namespace jitk::conformance {

/// What the command line said.
struct Lane {
  std::string device = "emulator:sm_90a";
  bool immediate = false;
  bool full = false;
  bool configurations = false;
  size_t shard = 0, numShards = 1;
  size_t skip = 0;    ///< of the problems of each op in the shard
  int launches = 1;   ///< of each problem, with equal bits
  uint64_t seed = 20; ///< of the order of an emulator's threads

  bool isEmulator() const { return device.starts_with("emulator:"); }
};

extern Lane lane;

/// On the emulator, the seed decides in which order threads run.
api::Device openDevice(const api::Runtime &runtime, uint64_t seed);

/// One runtime and one device for the suite.
struct Session {
  api::Runtime runtime;
  api::Device device;

  static const Session &get();

private:
  Session();
};

} // namespace jitk::conformance
