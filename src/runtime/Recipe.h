// The launch recipe: what the host does to launch a kernel, as data, so that a cached kernel needs no compiler.

#pragma once

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
inline constexpr uint32_t kMaximalThreads = 1024;

/// A small integer expression over the dynamic dimensions of a launch and the size of the device, in postfix form.
/// Values are int64; a division is by a positive constant only. Evaluating allocates nothing.
class Expression {
public:
  enum class Op : uint8_t { Constant, Dimension, Add, Sub, Mul, CeilDiv, FloorDiv, Min, Max, Multiprocessors };
  struct Term {
    Op op;
    int64_t value; ///< the constant, or the index of the dimension; else 0
    bool operator==(const Term &) const = default;
  };

  Expression() : Expression(constant(0)) {}
  static Expression constant(int64_t value) { return Expression({{Op::Constant, value}}); }
  static Expression dimension(uint32_t index) { return Expression({{Op::Dimension, int64_t(index)}}); }
  /// How many multiprocessors the device has that the kernel is loaded on: the grid of a kernel that stays on them.
  static Expression multiprocessors() { return Expression({{Op::Multiprocessors, 0}}); }
  /// Combines two expressions; folds constants.
  static Expression binary(Op op, const Expression &lhs, const Expression &rhs);

  /// The expression on a device of `count` multiprocessors: one over dimensions alone.
  Expression onDevice(uint32_t count) const;
  /// The value for the given sizes, one for each of the recipe's dimensions. Not for an expression that still asks for
  /// the multiprocessors.
  int64_t evaluate(std::span<const int64_t> dimensions) const;

  bool isConstant() const { return terms_.size() == 1 && terms_.front().op == Op::Constant; }
  /// Whether it can be evaluated for `numDimensions` sizes: well-formed, no division but by a positive constant, and
  /// not too deep. All that the functions above make is valid.
  bool isValid(size_t numDimensions) const;

  const std::vector<Term> &terms() const { return terms_; }
  explicit Expression(std::vector<Term> terms) : terms_(std::move(terms)) {}
  bool operator==(const Expression &) const = default;

private:
  std::vector<Term> terms_;
};

/// One kernel parameter.
struct Argument {
  enum class Kind : uint8_t {
    Tensor,    ///< device address of tensor `index`
    Integer32, ///< value of `expression`
    Integer64, ///< value of `expression`
    Float32,   ///< scalar `index` of the launch
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
  uint32_t threads = 0;           ///< of a block; one-dimensional
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  uint32_t sharedBytes = 0; ///< dynamic shared memory
  bool programmaticLaunch = false;
  std::vector<Argument> arguments;
  bool operator==(const LaunchStep &) const = default;
};

struct Recipe {
  std::vector<std::string> dimensions; ///< the dynamic dimensions, in the order in which a launch gives them
  std::vector<std::string> tensors;    ///< in the order in which a launch gives them
  std::vector<uint32_t> alignments;    ///< bytes that each tensor's address must be a multiple of
  std::vector<std::string> scalars;    ///< f32 scalars, in the order in which a launch gives them
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
