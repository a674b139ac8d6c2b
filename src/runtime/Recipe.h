// The launch recipe: what the host does to launch a kernel, as data, so that a cached kernel needs no compiler.

#pragma once

#include "src/ops/Expression.h"
#include "src/ops/Scalar.h"
#include "src/runtime/L2Promotion.h"
#include "src/support/Status.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jitk {

// What fits into the buffers that a launch has on its stack.
inline constexpr size_t kMaximalDimensions = 16;
inline constexpr size_t kMaximalSteps = 16;
inline constexpr size_t kMaximalTensorMaps = 24;
inline constexpr size_t kMaximalTensorMapRank = 5;
inline constexpr size_t kMaximalArguments = 64;
inline constexpr uint32_t kMaximalThreads = 1024;                               ///< of a block
inline constexpr uint32_t kLargestGrid[] = {INT32_MAX, UINT16_MAX, UINT16_MAX}; ///< what the hardware takes, by axis

/// One kernel parameter.
struct Argument {
  enum class Kind : uint8_t {
    Tensor,    ///< device address of tensor `index`
    Integer32, ///< value of `expression`
    Integer64, ///< value of `expression`
    Scalar,    ///< scalar `index` of the launch
    Workspace, ///< device address of the workspace plus `expression` bytes
    TensorMap, ///< tensor map `index`, 128 bytes by value
    Null,      ///< an 8-byte zero
  };
  Kind kind = Kind::Null;
  uint32_t index = 0;
  Expression expression;
  bool operator==(const Argument &) const = default;
};

/// A tensor map to encode for a launch; the parameters of cuTensorMapEncodeTiled, innermost dimension first.
struct TensorMap {
  /// As `tensor`: the map describes a part of the workspace.
  static constexpr uint32_t kWorkspace = UINT32_MAX;

  uint32_t tensor = 0;      ///< which tensor it describes
  uint32_t elementType = 0; ///< CUtensorMapDataType
  uint32_t swizzle = 0;     ///< CUtensorMapSwizzle
  L2Promotion promotion = L2Promotion::To256Bytes;
  std::vector<Expression> sizes;
  std::vector<Expression> strides; ///< in bytes, of all dimensions but the innermost
  std::vector<uint32_t> box;
  Expression offset = {}; ///< in bytes, of the part of the workspace
  bool operator==(const TensorMap &) const = default;
};

/// One device kernel of a launch.
struct LaunchStep {
  std::string symbol;
  std::array<Expression, 3> grid; ///< a step with a zero in its grid is skipped
  uint32_t threads = 0;           ///< of a block, along x
  uint32_t threadsY = 1, threadsZ = 1;
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  uint32_t sharedBytes = 0; ///< dynamic shared memory
  /// It waits for the grids before it by itself, so that it may begin before they have finished.
  bool programmaticLaunch = false;
  std::vector<Argument> arguments;
  bool operator==(const LaunchStep &) const = default;
};

struct Recipe {
  std::vector<std::string> dimensions; ///< the dynamic dimensions, in the order in which a launch gives them
  std::vector<std::string> tensors;    ///< in the order in which a launch gives them
  std::vector<uint32_t> alignments;    ///< bytes that each tensor's address must be a multiple of
  std::vector<ScalarForm> scalars;     ///< in the order in which a launch gives them
  std::vector<TensorMap> tensorMaps;
  std::vector<LaunchStep> steps;
  Expression workspaceBytes;

  /// Whether every index, count and expression is in range, so that a launch need not check. Internal if not.
  Status validate() const;

  /// The recipe with every expression as on a device of `count` multiprocessors.
  Recipe onDevice(uint32_t count) const;

  /// A self-contained byte form and back. `deserialize` refuses damaged or foreign bytes with DataLoss and never reads
  /// past their end.
  std::vector<uint8_t> serialize() const;
  static Result<Recipe> deserialize(std::span<const uint8_t> bytes);
  bool operator==(const Recipe &) const = default;
};

} // namespace jitk
