// What the engine asks for: an op's name and its attributes, validated against the op's schema.

#pragma once

#include "src/support/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace jitk {

/// One dimension of a problem: static, or known at launch only.
struct Dimension {
  static constexpr int64_t kDynamic = -1;
  /// The most that a size of an op may be: kernels count in 32 bits, and in tiles that may end 255 behind the last.
  static constexpr int64_t kLargest = INT32_MAX - 255;

  int64_t value = kDynamic; ///< the size, or kDynamic
  int64_t divisor = 1;      ///< dynamic: every size at launch is a multiple of this
  int64_t bound = 0;        ///< dynamic: no size at launch is larger; 0 = unknown

  bool isStatic() const { return value != kDynamic; }
  bool operator==(const Dimension &) const = default;

  /// Reads "128", "*", "*%16", "*<=4096" or "*%16<=4096".
  static Result<Dimension> parse(std::string_view text);
  /// Writes what `parse` reads.
  std::string toString() const;
};

/// A value of a description: a dimension, an integer, a truth value, or a word or text ("bf16", a kernel's source).
using AttributeValue = std::variant<Dimension, int64_t, bool, std::string>;

/// An op and its attributes. Made by `OpSchema::describe` only, so that one that exists is valid and complete: every
/// attribute of the schema has a value. A value type; immutable after construction.
class Description {
public:
  Description(std::string op, std::map<std::string, AttributeValue, std::less<>> attributes)
      : op_(std::move(op)), attributes_(std::move(attributes)) {}

  const std::string &op() const { return op_; }
  const std::map<std::string, AttributeValue, std::less<>> &attributes() const { return attributes_; }

  /// The attribute of that name and kind. Asking for one that the schema lacks, or for another kind, is a programming
  /// error (checked in builds with assertions).
  const Dimension &dimension(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  bool flag(std::string_view name) const;
  const std::string &word(std::string_view name) const;
  /// Elements from one row of the tensor to the next, where its rows lie apart.
  std::optional<int64_t> rowStride(std::string_view tensor) const;
  /// Elements from one page of the tensor to the next, where its pages lie apart.
  std::optional<int64_t> pageStride(std::string_view tensor) const;

  /// "matmul m=* n=4096 k=7168 dtype=bf16": op, then attributes in the order of their names. Equal descriptions give
  /// equal text; `parseDescription` reads it back. What is no plain word stands in quotes.
  std::string toString() const;
  /// The same for people: of a long text only how long it is, and its hash.
  std::string label() const;

  bool operator==(const Description &) const = default;

private:
  std::string op_;
  std::map<std::string, AttributeValue, std::less<>> attributes_;
};

} // namespace jitk
