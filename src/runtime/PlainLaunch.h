// PlainLaunch: the usual launch, bound into a few cache lines.
//
// Between two launches the driver goes through so much code and data that the first-level caches and the branch
// predictors have forgotten the caller. What a launch then costs is the number of cache lines that it touches and of
// branches that it takes. So what a launch of a plain kernel looks at lies side by side here, is checked without
// branches, and most arguments are pointers to what the caller gave. Whatever is not as usual is declined, and
// `Kernel::launchInFull`, of which this is the fast twin, looks at it and says what is wrong.

#pragma once

#include "src/ops/SizeRules.h"
#include "src/runtime/Device.h"
#include "src/runtime/LaunchRequest.h"
#include "src/runtime/Recipe.h"
#include "src/support/Status.h"

#include <array>
#include <cstring>

namespace jitk {

/// Immutable; thread-safe. Looks at the kernel's recipe, which outlives it.
class PlainLaunch {
public:
  /// Declines everything.
  PlainLaunch() = default;
  /// Of a kernel whose one step is given by `function` and `fixed`. Declines everything if the kernel is not plain: it
  /// has several steps, a tensor map, a workspace, an argument that must be worked out, rules between sizes, or more of
  /// anything than there is room for.
  PlainLaunch(const Recipe &recipe, const SizeRules &rules, DeviceFunction &function, const LaunchParameters &fixed);

  struct Outcome {
    bool taken; ///< false: declined; nothing was done
    Status status;
  };
  /// Enqueues the kernel.
  Outcome launch(const LaunchRequest &request) const;

private:
  static constexpr size_t kTensors = 16, kDimensions = 12, kScalars = 8, kArguments = 28, kConstants = 8;

  /// Sizes that can be launched with: least <= size <= least + range, and no bit of `mask`.
  struct SizeCheck {
    uint32_t least, range, mask;
  };
  /// Where an argument lies: eight bytes from the beginning of an array.
  struct Place {
    enum Array : uint16_t { Tensors, Dimensions, Scalars, Constants, NumArrays };
    Array array;
    uint16_t offset;
  };
  /// An extent of the grid that depends on sizes: ceil(size / divisor), or any expression.
  struct Extent {
    const Expression *expression; ///< null: ceil
    uint32_t axis, limit, dimension, divisor;
  };

  bool bind(const Recipe &recipe, const SizeRules &rules);
  bool bindSizes(const Recipe &recipe, const SizeRules &rules);
  bool bindGrid(const LaunchStep &step);
  bool bindArgument(const Argument &argument);
  bool isUsual(const LaunchRequest &request) const;
  bool evaluateGrid(const LaunchRequest &request, std::array<uint32_t, 3> &grid) const;

  // In the order in which a launch reads them.
  DeviceFunction *function_ = nullptr; ///< null: every launch is declined
  uint8_t numTensors_ = 0, numDimensions_ = 0, numScalars_ = 0, numArguments_ = 0, numConstants_ = 0, numExtents_ = 0;
  LaunchParameters fixed_; ///< all but the arguments and the extents below
  Place places_[kArguments];
  SizeCheck sizes_[kDimensions];
  uint32_t misaligned_[kTensors]; ///< bits that an address must not have
  Extent extents_[3];
  uint64_t constants_[kConstants];
};

[[gnu::always_inline]] inline bool PlainLaunch::isUsual(const LaunchRequest &request) const {
  uint64_t wrong = (request.tensors.size() ^ numTensors_) | (request.dimensions.size() ^ numDimensions_) |
                   (request.scalars.size() ^ numScalars_) | request.typedScalars.size() | uint64_t{!function_};
  if (wrong != 0) [[unlikely]] {
    return false;
  }
  for (size_t i = 0; i < numTensors_; ++i) {
    uint64_t address = request.tensors[i];
    wrong |= (address & misaligned_[i]) | uint64_t{address == 0};
  }
  for (size_t i = 0; i < numDimensions_; ++i) {
    auto size = static_cast<uint64_t>(request.dimensions[i]);
    wrong |= (size & sizes_[i].mask) | uint64_t{size - sizes_[i].least > sizes_[i].range};
  }
  return wrong == 0;
}

[[gnu::always_inline]] inline bool PlainLaunch::evaluateGrid(const LaunchRequest &request,
                                                             std::array<uint32_t, 3> &grid) const {
  bool good = true;
  for (size_t i = 0; i < numExtents_; ++i) {
    const Extent &extent = extents_[i];
    // The sizes were found to have 32 bits.
    uint64_t count =
        extent.expression
            ? static_cast<uint64_t>(extent.expression->evaluate(request.dimensions))
            : (static_cast<uint64_t>(request.dimensions[extent.dimension]) + extent.divisor - 1) / extent.divisor;
    good &= count - 1 < extent.limit; // neither empty nor too large
    grid[extent.axis] = static_cast<uint32_t>(count);
  }
  return good;
}

[[gnu::always_inline]] inline PlainLaunch::Outcome PlainLaunch::launch(const LaunchRequest &request) const {
  if (!isUsual(request)) [[unlikely]] {
    return {false, {}};
  }
  LaunchParameters parameters = fixed_;
  if (!evaluateGrid(request, parameters.grid)) [[unlikely]] {
    return {false, {}};
  }
  uint64_t scalars[kScalars];
  for (size_t i = 0; i < numScalars_; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, &request.scalars[i], sizeof bits);
    scalars[i] = bits; // with what follows it: an argument is read as eight bytes
  }
  const void *arrays[Place::NumArrays] = {request.tensors.data(), request.dimensions.data(), scalars, constants_};
  void *arguments[kArguments];
  for (size_t i = 0; i < numArguments_; ++i) {
    // The driver reads them, though its parameter says that it might write.
    arguments[i] = const_cast<char *>(static_cast<const char *>(arrays[places_[i].array]) + places_[i].offset);
  }
  parameters.arguments = arguments;
  parameters.programmaticLaunch &= request.programmatic;
  return {true, function_->launch(parameters, request.stream)};
}

} // namespace jitk
