#include "src/ops/Expression.h"

#include "src/support/Assert.h"

#include <algorithm>
#include <limits>

namespace jitk {

// Deeper than what any recipe needs; `Recipe::deserialize` refuses more, so that evaluation needs no check.
static constexpr size_t kMaximalDepth = 16;

// Sizes come from the caller, and a product of them may overflow. What leaves 64 bits stays at their end, which no
// limit of a grid, an argument or a workspace lets pass.
static int64_t endOf(bool isNegative) {
  return isNegative ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

static int64_t floorDivide(int64_t value, int64_t divisor) { return value / divisor - (value % divisor < 0 ? 1 : 0); }

static int64_t apply(Expression::Op op, int64_t lhs, int64_t rhs) {
  int64_t result = 0;
  switch (op) {
  case Expression::Op::Add:
    return __builtin_add_overflow(lhs, rhs, &result) ? endOf(lhs < 0) : result;
  case Expression::Op::Sub:
    return __builtin_sub_overflow(lhs, rhs, &result) ? endOf(lhs < 0) : result;
  case Expression::Op::Mul:
    return __builtin_mul_overflow(lhs, rhs, &result) ? endOf((lhs < 0) != (rhs < 0)) : result;
  case Expression::Op::CeilDiv:
    return floorDivide(lhs, rhs) + (lhs % rhs != 0 ? 1 : 0);
  case Expression::Op::FloorDiv:
    return floorDivide(lhs, rhs);
  case Expression::Op::Min:
    return std::min(lhs, rhs);
  case Expression::Op::Max:
    return std::max(lhs, rhs);
  case Expression::Op::Constant:
  case Expression::Op::Dimension:
  case Expression::Op::Multiprocessors:
    break;
  }
  JITK_ASSERT(false && "not a binary operator");
  return 0;
}

static bool isDivision(Expression::Op op) { return op == Expression::Op::CeilDiv || op == Expression::Op::FloorDiv; }

static bool isLeaf(Expression::Op op) {
  return op == Expression::Op::Constant || op == Expression::Op::Dimension || op == Expression::Op::Multiprocessors;
}

Expression Expression::binary(Op op, const Expression &lhs, const Expression &rhs) {
  JITK_ASSERT(!isDivision(op) || (rhs.isConstant() && rhs.terms_.front().value > 0));
  if (lhs.isConstant() && rhs.isConstant()) {
    return constant(apply(op, lhs.terms_.front().value, rhs.terms_.front().value));
  }
  bool unitOnTheRight = op == Op::Mul || isDivision(op);
  if (rhs.isConstant() && rhs.terms_.front().value == (unitOnTheRight ? 1 : 0) && op != Op::Min && op != Op::Max) {
    return lhs;
  }
  std::vector<Term> terms = lhs.terms_;
  terms.insert(terms.end(), rhs.terms_.begin(), rhs.terms_.end());
  terms.push_back({op, 0});
  return Expression(std::move(terms));
}

Expression Expression::onDevice(uint32_t count) const {
  std::vector<Term> terms = terms_;
  for (Term &term : terms) {
    if (term.op == Op::Multiprocessors) {
      term = {Op::Constant, count};
    }
  }
  return Expression(std::move(terms));
}

int64_t Expression::evaluate(std::span<const int64_t> dimensions) const {
  if (terms_.size() == 1) { // as most of those are that a launch works out
    JITK_ASSERT(isLeaf(terms_[0].op) && terms_[0].op != Op::Multiprocessors);
    return terms_[0].op == Op::Constant ? terms_[0].value : dimensions[static_cast<size_t>(terms_[0].value)];
  }
  int64_t stack[kMaximalDepth];
  size_t depth = 0;
  for (const Term &term : terms_) {
    if (isLeaf(term.op)) {
      JITK_ASSERT(depth < kMaximalDepth && term.op != Op::Multiprocessors);
      stack[depth++] = term.op == Op::Constant ? term.value : dimensions[static_cast<size_t>(term.value)];
      continue;
    }
    JITK_ASSERT(depth >= 2);
    --depth;
    stack[depth - 1] = apply(term.op, stack[depth - 1], stack[depth]);
  }
  return stack[0];
}

bool Expression::isValid(size_t numDimensions) const {
  size_t depth = 0;
  for (size_t i = 0; i < terms_.size(); ++i) {
    const Term &term = terms_[i];
    if (term.op > Op::Multiprocessors ||
        (term.op == Op::Dimension && static_cast<uint64_t>(term.value) >= numDimensions)) {
      return false;
    }
    if (isLeaf(term.op)) {
      if (++depth > kMaximalDepth) {
        return false;
      }
      continue;
    }
    bool byPositiveConstant = i > 0 && terms_[i - 1].op == Op::Constant && terms_[i - 1].value > 0;
    if (depth < 2 || (isDivision(term.op) && !byPositiveConstant)) {
      return false;
    }
    --depth;
  }
  return depth == 1;
}

} // namespace jitk
