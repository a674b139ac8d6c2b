#include "src/runtime/BoundGrid.h"

#include <limits>
#include <optional>

namespace jitk {

using Op = Expression::Op;
using Terms = std::span<const Expression::Term>;

static bool isLeaf(Op op) { return op == Op::Constant || op == Op::Dimension || op == Op::Multiprocessors; }

static bool isConstant(const Expression::Term &term, int64_t value) {
  return term.op == Op::Constant && term.value == value;
}

/// How many terms at the end of `terms` are its last operand.
static size_t lastOperand(Terms terms) {
  size_t missing = 1, count = 0;
  while (missing > 0) {
    missing += isLeaf(terms[terms.size() - ++count].op) ? -size_t{1} : 1;
  }
  return count;
}

/// The factors of a product of any depth.
static void addFactors(Terms terms, std::vector<Terms> &factors) {
  if (terms.back().op != Op::Mul) {
    factors.push_back(terms);
    return;
  }
  Terms operands = terms.first(terms.size() - 1);
  size_t right = lastOperand(operands);
  addFactors(operands.first(operands.size() - right), factors);
  addFactors(operands.last(right), factors);
}

/// Of max(0, min(1, d - c)) the c, which is at least zero.
static std::optional<int64_t> boundOf(Terms terms) {
  bool isStep = terms.size() == 7 && isConstant(terms[0], 0) && isConstant(terms[1], 1) &&
                terms[2].op == Op::Dimension && terms[3].op == Op::Constant && terms[3].value >= 0 &&
                terms[4].op == Op::Sub && terms[5].op == Op::Min && terms[6].op == Op::Max;
  return isStep ? std::optional(terms[3].value) : std::nullopt;
}

BoundGrid::BoundGrid(const std::array<Expression, 3> &grid) {
  for (size_t axis = 0; axis < grid.size(); ++axis) {
    extents_[axis] = takeRanges(grid[axis]);
  }
}

Expression BoundGrid::takeRanges(const Expression &product) {
  std::vector<Terms> factors;
  addFactors(product.terms(), factors);
  Expression rest = Expression::constant(1);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (Terms factor : factors) {
    bool isComplement = factor.size() == 9 && isConstant(factor[0], 1) && factor[8].op == Op::Sub;
    if (std::optional<int64_t> below = boundOf(factor)) {
      ranges_.push_back({static_cast<uint32_t>(factor[2].value), *below + 1, kMost});
    } else if (std::optional<int64_t> most = isComplement ? boundOf(factor.subspan(1, 7)) : std::nullopt) {
      ranges_.push_back({static_cast<uint32_t>(factor[3].value), std::numeric_limits<int64_t>::min(), *most});
    } else {
      Expression other(std::vector<Expression::Term>(factor.begin(), factor.end()));
      rest = rest == Expression::constant(1) ? other : Expression::binary(Op::Mul, rest, other);
    }
  }
  return rest;
}

} // namespace jitk
