// PlainLaunch: the usual launch, bound into a few cache lines.
//
// Between two launches the driver goes through so much code and data that the first-level caches and the branch
// predictors have forgotten the caller. What a launch then costs is the number of cache lines that it touches and of
// branches that it takes, before the driver's call and after it. So what a launch of a plain kernel looks at lies side
// by side here, its arguments are checked and copied by one loop without branches, in one piece, and the driver is
// called directly. Whatever is not as usual, and whatever the driver refuses, is declined, and `Kernel::launchInFull`,
// of which this is the fast twin, looks at it and says what is wrong.

#pragma once

#include "src/ops/SizeRules.h"
#include "src/runtime/Device.h"
#include "src/runtime/LaunchRequest.h"
#include "src/runtime/Recipe.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <vector>

namespace jitk {

/// Thread-safe once it is bound.
class PlainLaunch {
public:
  /// Declines everything.
  PlainLaunch() = default;
  PlainLaunch(const PlainLaunch &) = delete;
  PlainLaunch &operator=(const PlainLaunch &) = delete;
  /// One that does, for kernels that have none.
  static const PlainLaunch &none();

  /// For a kernel whose one step is launched by `direct` and has the parameters `fixed`. Goes on to decline everything
  /// if there is no direct way, or the kernel is not plain: it has several steps, a cluster, a tensor map, a workspace,
  /// no tensor, an argument or an extent of its grid that must be worked out, rules between sizes, or more of anything
  /// than there is room for.
  void bind(const Recipe &recipe, const SizeRules &rules, const DirectLaunch &direct, const LaunchParameters &fixed);

  /// To be called after each launch in full. The first must be one, for the device notes it.
  void begin() const {
    if (enqueue_ && numTensors_.load(std::memory_order_relaxed) == kNotBegun) {
      // Once, so that launches of several threads share the line.
      numTensors_.store(numTensorsOnceBegun_, std::memory_order_relaxed);
    }
  }

  /// Enqueues the kernel. False: declined, and nothing was enqueued.
  bool launch(const LaunchRequest &request) const noexcept;

private:
  static constexpr size_t kTensors = 16, kDimensions = 12, kScalars = 8, kItems = 28, kConstants = 8;
  static constexpr size_t kBufferBytes = (kItems + 1) * sizeof(uint64_t); ///< and eight for what is not passed
  static constexpr uint32_t kNotBegun = UINT32_MAX;                       ///< more tensors than anybody can give

  /// Where the eight bytes of an argument lie, what they must be, and where they go. Of an argument of four bytes the
  /// following item, or nobody, owns the rest. A tensor or a size that is no argument is an item too, for it is to be
  /// checked, and goes behind all arguments.
  struct Item {
    enum Array : uint16_t { Tensors, Dimensions, Constants, NumArrays };
    Array array = Constants;
    uint16_t offset = 0;                    ///< in bytes, from the beginning of the array
    uint16_t destination = 0;               ///< in bytes, from the beginning of the parameters
    uint64_t mask = 0;                      ///< bits that the value must not have
    uint64_t least = 0, range = UINT64_MAX; ///< least <= value <= least + range, without a sign
  };
  using Items = std::vector<Item>;
  /// An extent of the grid that depends on a size: ceil(size / divisor).
  struct Extent {
    uint32_t axis, limit, dimension, divisor;
  };

  bool bindAll(const Recipe &recipe, const SizeRules &rules);
  bool bindGrid(const LaunchStep &step);
  bool bindArguments(const LaunchStep &step, const Items &tensors, const Items &sizes);
  std::optional<Item> itemOf(const Argument &argument, const Items &tensors, const Items &sizes);
  static Items tensorItems(const std::vector<uint32_t> &alignments);
  static std::optional<Items> sizeItems(const SizeRules &rules);
  bool isUsual(const LaunchRequest &request) const;
  bool evaluateGrid(const LaunchRequest &request, DirectLaunchConfig &config) const;

  // In the order in which a launch reads them.
  decltype(DirectLaunch::enqueue) enqueue_ = nullptr; ///< null: every launch is declined
  void *function_ = nullptr;
  mutable std::atomic<uint32_t> numTensors_ = kNotBegun;
  uint8_t numDimensions_ = 0, numScalars_ = 0, numExtents_ = 0, numScalarArguments_ = 0;
  bool canOverlap_ = false; ///< with what precedes it
  uint8_t numTensorsOnceBegun_ = 0, numConstants_ = 0;
  DirectLaunchConfig config_ = {}; ///< all but the stream and the extents below
  size_t parameterBytes_ = 0;
  const Item *itemsEnd_ = items_;
  Extent extents_[3];
  Item items_[kItems];
  uint64_t constants_[kConstants];
  struct {
    uint16_t destination, index;
  } scalarArguments_[kScalars];
};

[[gnu::always_inline]] inline bool PlainLaunch::isUsual(const LaunchRequest &request) const {
  // Counted, not decided one by one: a branch for each would cost more than they do.
  uint64_t unusual = (request.tensors.size() ^ numTensors_.load(std::memory_order_relaxed)) |
                     (request.dimensions.size() ^ numDimensions_) | (request.scalars.size() ^ numScalars_) |
                     request.typedScalars.size();
  // Arrays that the caller says to have.
  unusual |= (request.tensors.data() ? 0 : 1) | (request.dimensions.data() ? 0 : numDimensions_) |
             (request.scalars.data() ? 0 : numScalars_);
  return unusual == 0;
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
  const void *arrays[Item::NumArrays] = {request.tensors.data(), request.dimensions.data(), constants_};
  DirectLaunchConfig config = config_;
  alignas(16) char parameters[kBufferBytes];
  uint64_t wrong = 0;
  const Item *item = items_;
  do { // there is a tensor
    uint64_t value = 0;
    std::memcpy(&value, static_cast<const char *>(arrays[item->array]) + item->offset, sizeof value);
    std::memcpy(parameters + item->destination, &value, sizeof value);
    wrong |= value & item->mask;
    value -= item->least;
    wrong += value > item->range;
  } while (++item != itemsEnd_);
  if (wrong != 0 || !evaluateGrid(request, config)) [[unlikely]] {
    return false;
  }
  for (size_t i = 0; i < numScalarArguments_; ++i) {
    std::memcpy(parameters + scalarArguments_[i].destination, &request.scalars[scalarArguments_[i].index],
                sizeof(float));
  }
  config.stream = request.stream;
  config.numAttributes = unsigned{canOverlap_} & unsigned{request.programmatic};
  DirectLaunchParameters packed(parameters, &parameterBytes_);
  return enqueue_(&config, function_, nullptr, packed.extra()) == 0;
}

} // namespace jitk
