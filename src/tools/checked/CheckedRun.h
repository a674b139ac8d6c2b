// Runs one problem on a device and checks every output against the reference.
//
// What `jitk run --check` shows and what the conformance suite asserts is this one function. It uses the public API and
// the references alone.

#pragma once

#include "jitk/jitk.hpp"
#include "src/ops/TensorShape.h"
#include "src/reference/Instance.h"

#include <cstdint>
#include <string>
#include <vector>

namespace jitk::checked {

/// A problem: a description in text form and the sizes of its dynamic dimensions.
struct Problem {
  std::string description;
  DynamicSizes sizes = {};
  uint64_t seed = 1;
  reference::GivenValues values = {}; ///< of inputs and scalars that are not drawn
  /// Changes the tensors before the launch, for data that random problems do not have; null = nothing.
  void (*edit)(std::vector<reference::HostTensor> &tensors) = nullptr;
  /// Its values are ones by which parts of a grid write the same place, which an emulator then says, and no more than
  /// that: the tensors are looked at all the same.
  bool mayRace = false;
};

struct Outcome {
  jitk_kernel_info_t info = {}; ///< strings live as long as `kernel`
  api::Kernel kernel;
  std::vector<reference::ErrorFigures> figures; ///< one for each output; empty without a check
  std::vector<std::string> damage;              ///< "guard band after c: byte 3 was overwritten"
  std::vector<std::vector<uint8_t>> tensors;    ///< after the launch, in the order of the op's tensors
  bool sampled = false;                         ///< not every row that has a value was compared

  bool passed() const;
};

/// Numbers as a kernel's scalars. Throws std::invalid_argument for one that is not whole, or too large to be exact,
/// where the kernel takes an integer.
std::vector<api::Scalar> toScalars(const api::Kernel &kernel, const std::vector<reference::Number> &numbers);

/// Allocates the tensors between guard bands of NaN, runs the kernel once, and compares. On an emulator each tensor has
/// an allocation of just its own bytes: whatever leaves it is a fault. Throws api::Exception where
/// the library refuses or the device fails, std::invalid_argument where the problem's sizes do not fit the description.
Outcome run(const api::Runtime &runtime, const api::Device &device, const Problem &problem, bool check = true);
/// The same with a kernel of the problem that the caller has got.
Outcome run(const api::Device &device, api::Kernel kernel, const Problem &problem, bool check = true);

/// Launches the kernel `launches` times, in turn on tensors of several seeds; each time what it only writes is
/// poisoned, what it updates is as it was, and the workspace holds other bytes. Returns where a launch left other bits
/// than the first one on the same tensors, such as "launch 17 left another c than launch 2, from byte 64 on"; empty if
/// none did. Throws as `run` does.
std::string differenceBetweenLaunches(const api::Runtime &runtime, const api::Device &device, const Problem &problem,
                                      int launches);

} // namespace jitk::checked
