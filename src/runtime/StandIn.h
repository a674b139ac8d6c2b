// StandIn: a generic kernel that serves a problem until the problem's own kernel is ready.
//
// The generic kernel is of the same op and takes every dimension at launch. To the caller a stand-in looks as the
// problem's own kernel will: it takes the dimensions that the problem leaves dynamic, and the static ones are filled
// in.

#pragma once

#include "src/ops/SizeRules.h"
#include "src/runtime/Kernel.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace jitk {

/// The description with every dimension dynamic that means something, without divisor and bound.
Description generalize(const Description &description);

/// All functions are thread-safe. Launching neither locks nor allocates.
class StandIn {
public:
  /// `generic` is of `generalize(problem->description)`.
  StandIn(std::shared_ptr<const Kernel> generic, std::shared_ptr<const Problem> problem);

  /// From the next launch on, `own` serves: those that are in flight are the generic kernel's. Called once. Fails with
  /// Internal, and changes nothing, if `own` is not launched as this is.
  Status replace(std::shared_ptr<const Kernel> own);

  /// As `Kernel::launch`. Where the workspace that is given is too small for the problem's own kernel but not for the
  /// generic one, the latter goes on serving.
  Status launch(const LaunchRequest &request) const;
  /// What the kernel that serves now needs.
  Result<uint64_t> workspaceBytes(std::span<const int64_t> dimensions) const;

  /// The dimensions of a launch.
  const std::vector<std::string> &dimensions() const { return dimensions_; }
  const TensorContract &contract() const { return contract_; }
  /// The kernel that serves now; the generic one lives as long as this.
  const Kernel &current() const;
  const Problem &problem() const { return *problem_; }

private:
  using Sizes = std::array<int64_t, kMaximalDimensions>;
  Result<std::span<const int64_t>> genericSizes(std::span<const int64_t> dimensions, Sizes &sizes) const;

  const std::shared_ptr<const Kernel> generic_;
  const std::shared_ptr<const Problem> problem_;
  std::vector<std::string> dimensions_;
  TensorContract contract_;
  SizeRules sizeRules_;               ///< of dimensions_
  std::vector<int64_t> sizes_;        ///< of the generic kernel; a static one's, or kDynamic
  std::shared_ptr<const Kernel> own_; ///< written once, before ready_
  std::atomic<const Kernel *> ready_ = nullptr;
};

} // namespace jitk
