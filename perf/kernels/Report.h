// What was measured, as JSON; perf/report makes a page and pictures of it.

#pragma once

#include "perf/kernels/Problems.h"

#include <string>
#include <vector>

namespace jitk::perf {

/// One problem: times of a call in microseconds, all replays, in the order in which they were taken.
struct Measurement {
  std::string problem;
  Work work;
  std::vector<double> times, peerTimes; ///< peerTimes is empty without a peer
  std::string peer;                     ///< "cuBLASLt, best of 8"
  std::string check;                    ///< how the result was checked before: "whole matrix against cuBLASLt"
  std::string failure;                  ///< why nothing was measured; empty if it was
  uint32_t registers = 0, spillBytes = 0, sharedBytes = 0, threads = 0;
  double compileMilliseconds = 0, assembleMilliseconds = 0;
};

struct Report {
  std::string commit, build; ///< of the programs and the libraries that were measured
  std::string device, driver, command, protocol;
  std::vector<Measurement> measurements;

  std::string json() const;
  /// Geometric mean of the peers' times over those of the kernels; 0 without peers.
  double meanRatio() const;
};

double median(std::vector<double> values);

} // namespace jitk::perf
