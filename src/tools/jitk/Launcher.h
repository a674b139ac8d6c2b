// Kernels with tensors to launch them on, and how long a launch takes.

#pragma once

#include "jitk/jitk.hpp"
#include "src/ops/TensorShape.h"
#include "src/reference/Instance.h"
#include "src/tools/timing/Contender.h"

#include <functional>
#include <string>
#include <vector>

namespace jitk::tool {

/// Random data of a description that was accepted, at sizes that were run before.
class ProblemTensors {
public:
  ProblemTensors(const api::Device &device, const std::string &line, const DynamicSizes &sizes,
                 const reference::GivenValues &values);

  const std::vector<uint64_t> &addresses() const { return addresses_; }
  /// Of the tensor of that name; 0 if there is none.
  uint64_t address(std::string_view name) const;

private:
  std::vector<std::string> names_;
  std::vector<api::Buffer> buffers_;
  std::vector<uint64_t> addresses_;
};

class Launcher {
public:
  Launcher(const api::Device &device, api::Kernel kernel, const std::string &line, const DynamicSizes &sizes,
           const reference::GivenValues &values);

  const ProblemTensors &tensors() const { return tensors_; }
  void enqueue(void *stream) const;

private:
  api::Kernel kernel_;
  ProblemTensors tensors_;
  std::vector<int64_t> dimensions_;
  std::vector<api::Scalar> scalars_;
  api::Buffer workspace_;
};

/// Puts one call on a stream.
using Enqueue = std::function<void(void *stream)>;

/// Microseconds of a call of each work, which take turns: on `gpu` as the protocol says; on an emulator, where that is
/// null, calls back to back by the host's clock.
std::vector<std::vector<double>> timeInTurns(const api::Device &device, const timing::Gpu *gpu,
                                             const std::vector<Enqueue> &works, const timing::Protocol &protocol);

} // namespace jitk::tool
