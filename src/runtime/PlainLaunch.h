// PlainLaunch: the usual launch, bound into a few cache lines.
//
// Between two launches the driver goes through so much code and data that the first-level caches and the branch
// predictors have forgotten the caller. What a launch then costs is the number of cache lines that it touches and of
// branches that it takes, before the driver's call and after it. So what a launch of a plain kernel looks at lies side
// by side here, is checked without branches, most arguments are pointers to what the caller gave, and the driver is
// called directly. Whatever is not as usual, and whatever the driver refuses, is declined, and `Kernel::launchInFull`,
// of which this is the fast twin, looks at it and says what is wrong.

#pragma once

#include "src/ops/SizeRules.h"
#include "src/runtime/Device.h"
#include "src/runtime/LaunchRequest.h"
#include "src/runtime/Recipe.h"

#include <atomic>
#include <cstring>

namespace jitk {

/// Thread-safe once it is bound.
class PlainLaunch {
public:
  /// Declines everything.
  PlainLaunch() = default;
  PlainLaunch(const PlainLaunch &) = delete;
  PlainLaunch &operator=(const PlainLaunch &) = delete;

  /// For a kernel whose one step is launched by `direct` and has the parameters `fixed`. Goes on to decline everything
  /// if there is no direct way, or the kernel is not plain: it has several steps, a cluster, a tensor map, a workspace,
  /// an argument or an extent of its grid that must be worked out, rules between sizes, or more of anything than there
  /// is room for.
  void bind(const Recipe &recipe, const SizeRules &rules, const DirectLaunch &direct, const LaunchParameters &fixed);

  /// To be called after each launch in full. The first must be one, for the device notes it.
  void begin() const {
    if (!begun_.load(std::memory_order_relaxed)) {
      begun_.store(true, std::memory_order_relaxed); // once, so that launches of several threads share the line
    }
  }

  /// Enqueues the kernel. False: declined, and nothing was enqueued.
  bool launch(const LaunchRequest &request) const noexcept;

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
  /// An extent of the grid that depends on a size: ceil(size / divisor).
  struct Extent {
    uint32_t axis, limit, dimension, divisor;
  };

  bool bindAll(const Recipe &recipe, const SizeRules &rules);
  bool bindSizes(const Recipe &recipe, const SizeRules &rules);
  bool bindGrid(const LaunchStep &step);
  bool bindArgument(const Argument &argument);
  bool isUsual(const LaunchRequest &request) const;
  bool evaluateGrid(const LaunchRequest &request, DirectLaunchConfig &config) const;

  // In the order in which a launch reads them.
  decltype(DirectLaunch::enqueue) enqueue_ = nullptr; ///< null: every launch is declined
  void *function_ = nullptr;
  mutable std::atomic<bool> begun_ = false;
  bool canOverlap_ = false; ///< with what precedes it
  uint8_t numTensors_ = 0, numDimensions_ = 0, numScalars_ = 0, numArguments_ = 0, numConstants_ = 0, numExtents_ = 0;
  DirectLaunchConfig config_ = {}; ///< all but the stream and the extents below
  Place places_[kArguments];
  SizeCheck sizes_[kDimensions];
  uint32_t misaligned_[kTensors]; ///< bits that an address must not have
  Extent extents_[3];
  uint64_t constants_[kConstants];
};

[[gnu::always_inline]] inline bool PlainLaunch::isUsual(const LaunchRequest &request) const {
  uint64_t wrong = (request.tensors.size() ^ numTensors_) | (request.dimensions.size() ^ numDimensions_) |
                   (request.scalars.size() ^ numScalars_) | request.typedScalars.size() | uint64_t{!enqueue_} |
                   uint64_t{!begun_.load(std::memory_order_relaxed)};
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
                                                             DirectLaunchConfig &config) const {
  bool good = true;
  for (size_t i = 0; i < numExtents_; ++i) {
    const Extent &extent = extents_[i];
    auto size = static_cast<uint32_t>(request.dimensions[extent.dimension]); // at most INT32_MAX, as was found
    uint32_t count = (size + (extent.divisor - 1)) / extent.divisor;
    good &= count - 1 < extent.limit; // neither empty nor too large
    config.grid[extent.axis] = count;
  }
  return good;
}

[[gnu::always_inline]] inline bool PlainLaunch::launch(const LaunchRequest &request) const noexcept {
  if (!isUsual(request)) [[unlikely]] {
    return false;
  }
  DirectLaunchConfig config = config_;
  if (!evaluateGrid(request, config)) [[unlikely]] {
    return false;
  }
  config.stream = request.stream;
  config.numAttributes = unsigned{canOverlap_} & unsigned{request.programmatic};
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
  return enqueue_(&config, function_, arguments, nullptr) == 0;
}

} // namespace jitk
