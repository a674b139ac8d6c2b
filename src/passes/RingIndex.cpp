#include "src/passes/RingIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace jitk::passes {

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) ? std::optional(constant.getSExtValue()) : std::nullopt;
}

/// The value and constant of `value + constant`.
static std::pair<Value, int64_t> splitSum(Value value) {
  if (auto add = value.getDefiningOp<arith::AddIOp>()) {
    if (auto constant = constantOf(add.getRhs())) {
      return {add.getLhs(), *constant};
    }
    if (auto constant = constantOf(add.getLhs())) {
      return {add.getRhs(), *constant};
    }
  }
  return {value, 0};
}

/// Size of the ring if `next` is 0 where carried + 1 reaches the size, and carried + 1 otherwise.
static std::optional<int64_t> wrapOf(Value next, Value carried) {
  auto select = next.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : nullptr;
  if (!compare) {
    return std::nullopt;
  }
  auto size = constantOf(compare.getRhs());
  auto steps = [&](Value value) { return splitSum(value) == std::pair(carried, int64_t(1)); };
  auto isZero = [&](Value value) { return constantOf(value) == 0; };
  if (!size || !steps(compare.getLhs())) {
    return std::nullopt;
  }
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
  case arith::CmpIPredicate::eq:
    return isZero(select.getTrueValue()) && steps(select.getFalseValue()) ? size : std::nullopt;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::ne:
    return isZero(select.getFalseValue()) && steps(select.getTrueValue()) ? size : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The value with which a loop's carried value begins, and the loop where it does: one around the loop that hands on
/// what the loop has left.
static std::pair<Value, scf::ForOp> startOf(BlockArgument argument) {
  auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
  Value init = loop.getTiedLoopInit(argument)->get();
  auto outer = dyn_cast<BlockArgument>(init);
  auto around = outer ? dyn_cast<scf::ForOp>(outer.getOwner()->getParentOp()) : nullptr;
  bool isHandedOn = around && outer != around.getInductionVar() && loop->getBlock() == around.getBody() &&
                    around.getTiedLoopYieldedValue(outer)->get() == loop.getTiedLoopResult(argument);
  return isHandedOn ? startOf(outer) : std::pair(init, loop);
}

/// A counter among the loop's carried values.
static std::optional<RingIndex> matchCarried(Value carried, int64_t step) {
  auto argument = dyn_cast<BlockArgument>(carried);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
  if (!loop || argument == loop.getInductionVar()) {
    return std::nullopt;
  }
  auto [init, first] = startOf(argument);
  auto start = constantOf(init);
  auto size = wrapOf(loop.getTiedLoopYieldedValue(argument)->get(), carried);
  // A start of -1 takes its first step to 0.
  if (!start || !size || *size <= 0 || *start < -1 || *start >= *size) {
    return std::nullopt;
  }
  return RingIndex{loop, (*start + step + *size) % *size, *size, first};
}

/// A remainder of the induction variable plus a constant.
static std::optional<RingIndex> matchRemainder(Value index) {
  Value dividend;
  std::optional<int64_t> size;
  if (auto rem = index.getDefiningOp<arith::RemSIOp>()) {
    dividend = rem.getLhs();
    size = constantOf(rem.getRhs());
  } else if (auto unsignedRem = index.getDefiningOp<arith::RemUIOp>()) {
    dividend = unsignedRem.getLhs();
    size = constantOf(unsignedRem.getRhs());
  } else if (auto mask = index.getDefiningOp<arith::AndIOp>()) {
    dividend = mask.getLhs();
    size = constantOf(mask.getRhs());
    size = size && llvm::isPowerOf2_64(*size + 1) ? std::optional(*size + 1) : std::nullopt;
  }
  if (!size || *size <= 0) {
    return std::nullopt;
  }
  auto [variable, offset] = splitSum(dividend);
  auto argument = dyn_cast<BlockArgument>(variable);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
  if (!loop || argument != loop.getInductionVar() || constantOf(loop.getStep()) != 1) {
    return std::nullopt;
  }
  auto start = constantOf(loop.getLowerBound());
  if (!start || *start + offset < 0) {
    return std::nullopt;
  }
  return RingIndex{loop, (*start + offset) % *size, *size, loop};
}

std::optional<RingIndex> RingIndex::match(Value index) {
  if (auto ring = matchCarried(index, 0)) {
    return ring;
  }
  // The value that the loop yields for a carried counter: one step ahead.
  if (auto select = index.getDefiningOp<arith::SelectOp>()) {
    auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare) {
      return std::nullopt;
    }
    auto [carried, step] = splitSum(compare.getLhs());
    auto ring = step == 1 ? matchCarried(carried, 1) : std::nullopt;
    auto argument = dyn_cast<BlockArgument>(carried);
    if (ring && ring->loop.getTiedLoopYieldedValue(argument)->get() == index) {
      return ring;
    }
    return std::nullopt;
  }
  return matchRemainder(index);
}

} // namespace jitk::passes
