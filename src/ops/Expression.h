// Expression: a number that a launch works out from its sizes.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace jitk {

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

} // namespace jitk
