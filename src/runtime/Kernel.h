// Kernel: a loaded kernel, bound so far ahead that a launch only fills in addresses and sizes.

#pragma once

#include "src/ops/SizeRules.h"
#include "src/runtime/BoundGrid.h"
#include "src/runtime/Device.h"
#include "src/runtime/EntrySource.h"
#include "src/runtime/LaunchRequest.h"
#include "src/runtime/PlainLaunch.h"
#include "src/runtime/Problem.h"
#include "src/runtime/Recipe.h"
#include "src/runtime/TensorContract.h"
#include "src/support/Status.h"

#include <memory>
#include <span>
#include <vector>

namespace jitk {

/// Address alignment of a workspace.
inline constexpr uint64_t kWorkspaceAlignment = 256;

/// Immutable; all functions are thread-safe. Keeps its device and its code.
class Kernel {
public:
  /// Loads the code on the device and finds its functions. `problem` gives the launch its bounds. Fails with
  /// InvalidArgument if the code is for another target, DataLoss if its recipe cannot be read.
  static Result<std::shared_ptr<const Kernel>> load(std::shared_ptr<Device> device,
                                                    std::shared_ptr<const Problem> problem, Obtained obtained);

  /// Enqueues all steps. Neither locks nor allocates; does nothing for an empty problem. Fails with InvalidArgument,
  /// naming the argument, before anything is enqueued.
  Status launch(const LaunchRequest &request) const;
  /// The way of the usual launch, for who need not go through `launch`.
  const PlainLaunch &plain() const { return plain_; }
  Result<uint64_t> workspaceBytes(std::span<const int64_t> dimensions) const;

  const std::shared_ptr<Device> &device() const { return device_; }
  const Problem &problem() const { return *problem_; }
  const Entry &entry() const { return *obtained_.entry; }
  /// How it was got, without the loading.
  const Obtained &obtained() const { return obtained_; }
  double loadMilliseconds() const { return loadMilliseconds_; }
  const Recipe &recipe() const { return recipe_; }
  const TensorContract &contract() const { return contract_; }

private:
  struct BoundArgument {
    Argument::Kind kind;
    uint32_t index;
    int64_t constant;          ///< value if `dynamic` is null
    const Expression *dynamic; ///< in `recipe_`
    ScalarType scalar;
  };
  struct BoundStep {
    DeviceFunction *function; ///< owned by `module_`
    LaunchParameters fixed;   ///< all but the grid and the arguments
    BoundGrid grid;
    std::vector<BoundArgument> arguments;
  };
  using Grid = std::array<uint32_t, 3>;
  struct Storage;

  Kernel() = default;
  Status bind();
  Status launchInFull(const LaunchRequest &request) const;
  Status checkTensors(std::span<const uint64_t> tensors) const;
  Status checkScalars(const LaunchRequest &request) const;
  Status checkWorkspace(const LaunchRequest &request) const;
  Status evaluateGrid(const BoundStep &step, std::span<const int64_t> dimensions, Grid &grid) const;
  Status encodeTensorMaps(const BoundStep &step, const LaunchRequest &request, Storage &storage) const;
  Status packArguments(const BoundStep &step, const LaunchRequest &request, Storage &storage) const;

  PlainLaunch plain_; ///< first, for it is all that a usual launch looks at
  std::shared_ptr<Device> device_;
  std::shared_ptr<const Problem> problem_;
  Obtained obtained_;
  double loadMilliseconds_ = 0;
  Recipe recipe_;
  std::shared_ptr<DeviceModule> module_;
  SizeRules sizeRules_;
  TensorContract contract_;
  std::vector<BoundStep> steps_;
};

} // namespace jitk
