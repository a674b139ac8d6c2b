// A kernel with tensors to launch it on, and how long a launch takes.

#pragma once

#include "jitk/jitk.hpp"
#include "src/ops/TensorShape.h"
#include "src/reference/Instance.h"

#include <string>
#include <vector>

namespace jitk::tool {

class Launcher {
public:
  /// Random data for a description that was accepted, at sizes that were run before.
  Launcher(const api::Device &device, api::Kernel kernel, const std::string &line, const DynamicSizes &sizes,
           const reference::GivenValues &values);

  /// Microseconds of one of `launches` launches back to back, by the host's clock.
  double time(int launches) const;

private:
  api::Device device_;
  api::Kernel kernel_;
  std::vector<api::Buffer> buffers_;
  std::vector<uint64_t> addresses_;
  std::vector<int64_t> dimensions_;
  std::vector<api::Scalar> scalars_;
  api::Buffer workspace_;
};

/// Of an odd number of times the middle one.
double medianOf(std::vector<double> times);

} // namespace jitk::tool
