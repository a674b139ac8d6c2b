// What was measured, as JSON; perf/report makes a page and pictures of it.

#pragma once

#include "src/tools/timing/Contender.h"

#include "perf/kernels/Problems.h"

#include <string>
#include <vector>

namespace jitk::perf {

/// Times of a call in microseconds, all replays, in the order in which they were taken.
using Times = std::vector<double>;

/// What took turns with a kernel.
struct PeerTimes {
  std::string name; ///< "cuBLASLt, best of 8"
  Times times;
};

/// One problem.
struct Measurement {
  std::string problem;
  Work work;
  Times times;
  std::vector<PeerTimes> peers;
  std::string check;         ///< how the result was checked before: "whole matrix against cuBLASLt"
  std::string configuration; ///< "128x256"; empty where there is one way, or several by size
  std::string failure;       ///< why nothing was measured; empty if it was
  uint32_t registers = 0, spillBytes = 0, sharedBytes = 0, threads = 0;
  double compileMilliseconds = 0, assembleMilliseconds = 0;
};

struct Report {
  std::string commit, build; ///< of the programs and the libraries that were measured
  std::string device, driver, command, protocol;
  std::vector<Measurement> measurements;
  std::vector<std::string> missing; ///< peers that were asked for and are not there, and why

  std::string json() const;
  /// Of each peer, in the order in which they come, the geometric mean of its times over those of the kernels.
  std::vector<std::pair<std::string, double>> meanRatios() const;
};

using timing::median;
/// The peer's time over the kernel's: above 1 the kernel is faster.
double ratioOf(const Measurement &measurement, const PeerTimes &peer);

} // namespace jitk::perf
