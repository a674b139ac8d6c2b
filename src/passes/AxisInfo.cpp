#include "src/passes/AxisInfo.h"

#include "src/ir/ttg/Ttg.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

/// Divides zero, as far as anyone asks.
static constexpr int64_t kLargestDivisor = int64_t(1) << 30;

static int64_t powerOfTwoIn(int64_t value) {
  return value == 0 ? kLargestDivisor : std::min(kLargestDivisor, int64_t(1) << llvm::countr_zero(uint64_t(value)));
}

int64_t Axis::divisibilityOfRuns(int64_t run, int64_t unit) const {
  return run >= contiguity ? divisibility : std::min(divisibility, powerOfTwoIn(run * unit));
}

static int64_t rankOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? std::max<int64_t>(1, tensor.getRank()) : 1;
}

static int64_t sizeOf(Type type, unsigned dim) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() ? tensor.getDimSize(dim) : 1;
}

/// Bytes between neighbouring elements behind a pointer or a tensor of pointers; 1 for other types.
static int64_t unitOf(Type type) {
  auto pointer = dyn_cast<tt::PointerType>(getElementTypeOrSelf(type));
  if (!pointer || !pointer.getPointeeType().isIntOrFloat()) {
    return 1;
  }
  return std::max<int64_t>(1, pointer.getPointeeType().getIntOrFloatBitWidth() / 8);
}

AxisInfo AxisInfo::unknown(Type type) {
  AxisInfo info;
  info.axes.assign(rankOf(type), Axis());
  return info;
}

AxisInfo AxisInfo::join(const AxisInfo &a, const AxisInfo &b) {
  if (!a.isReached() || !b.isReached()) {
    return a.isReached() ? a : b;
  }
  AxisInfo joined;
  for (auto [left, right] : llvm::zip_equal(a.axes, b.axes)) {
    int64_t run = std::min(left.contiguity, right.contiguity);
    joined.axes.push_back({run, std::min(left.divisibilityOfRuns(run), right.divisibilityOfRuns(run)),
                           std::min(left.constancy, right.constancy)});
  }
  if (a.constant == b.constant) {
    joined.constant = a.constant;
  }
  joined.nonNegative = a.nonNegative && b.nonNegative;
  return joined;
}

void AxisInfo::print(raw_ostream &os) const {
  auto list = [&](StringRef name, int64_t Axis::*field) {
    os << name << " = [";
    llvm::interleaveComma(axes, os, [&](const Axis &axis) { os << axis.*field; });
    os << "]";
  };
  list("contiguity", &Axis::contiguity);
  list(", divisibility", &Axis::divisibility);
  list(", constancy", &Axis::constancy);
  if (constant) {
    os << ", constant = " << *constant;
  }
}

// --- along one dimension ---------------------------------------------------------------------------------------------

/// `a + b`; for a pointer `a`, `unit` is what a step of `b` adds to it.
static Axis sum(const Axis &a, const Axis &b, int64_t unit = 1) {
  int64_t run = std::max(std::min(a.contiguity, b.constancy), std::min(a.constancy, b.contiguity));
  return {run, std::min(a.divisibilityOfRuns(run, unit), b.divisibilityOfRuns(run) * unit),
          std::min(a.constancy, b.constancy)};
}

static Axis difference(const Axis &a, const Axis &b) {
  int64_t run = std::min(a.contiguity, b.constancy);
  return {run, std::min(a.divisibilityOfRuns(run), b.divisibilityOfRuns(run)), std::min(a.constancy, b.constancy)};
}

static Axis product(const Axis &a, const Axis &b) {
  int64_t divisor = std::min(kLargestDivisor, a.divisibilityOfRuns(1) * b.divisibilityOfRuns(1));
  return {1, divisor, std::min(a.constancy, b.constancy)};
}

/// The aligned runs in which `a` counts upwards without passing a multiple of `b`.
static int64_t runWithinMultiples(const Axis &a, const Axis &b) {
  return std::min({a.contiguity, a.divisibility, b.divisibilityOfRuns(1), b.constancy});
}

static Axis quotient(const Axis &a, const Axis &b, std::optional<int64_t> divisor) {
  int64_t constancy = std::max(std::min(a.constancy, b.constancy), runWithinMultiples(a, b));
  int64_t every = a.divisibilityOfRuns(1);
  bool exact = divisor && *divisor > 0 && llvm::isPowerOf2_64(*divisor) && every % *divisor == 0;
  return {1, exact ? every / *divisor : 1, constancy};
}

static Axis remainder(const Axis &a, const Axis &b) {
  int64_t run = runWithinMultiples(a, b);
  return {run, std::min(a.divisibilityOfRuns(run), b.divisibilityOfRuns(run)), std::min(a.constancy, b.constancy)};
}

/// min or max: within a common run both count upwards together.
static Axis extremum(const Axis &a, const Axis &b) {
  int64_t run = std::min(a.contiguity, b.contiguity);
  return {run, std::min(a.divisibilityOfRuns(run), b.divisibilityOfRuns(run)), std::min(a.constancy, b.constancy)};
}

static Axis choice(const Axis &condition, const Axis &a, const Axis &b) {
  int64_t run = std::min({a.contiguity, b.contiguity, condition.constancy});
  return {run, std::min(a.divisibilityOfRuns(run), b.divisibilityOfRuns(run)),
          std::min({a.constancy, b.constancy, condition.constancy})};
}

/// A comparison of a counting side with a constant one changes at multiples of both only if the constant side itself
/// belongs to the upper part: x < n, x >= n.
static Axis comparison(arith::CmpIPredicate predicate, const Axis &a, const Axis &b) {
  using enum arith::CmpIPredicate;
  int64_t constancy = std::min(a.constancy, b.constancy);
  if (predicate == slt || predicate == sge || predicate == ult || predicate == uge) {
    constancy = std::max(constancy, runWithinMultiples(a, b));
  } else if (predicate == sgt || predicate == sle || predicate == ugt || predicate == ule) {
    constancy = std::max(constancy, runWithinMultiples(b, a));
  }
  return {1, 1, constancy};
}

// --- whole values ----------------------------------------------------------------------------------------------------

/// Combines two values dimension by dimension.
template <typename Rule> static AxisInfo combine(const AxisInfo &a, const AxisInfo &b, Rule rule) {
  AxisInfo info;
  for (auto [left, right] : llvm::zip_equal(a.axes, b.axes)) {
    info.axes.push_back(rule(left, right));
  }
  return info;
}

static AxisInfo constantInfo(Type type, int64_t value) {
  AxisInfo info = AxisInfo::unknown(type);
  for (auto [dim, axis] : llvm::enumerate(info.axes)) {
    axis = {1, powerOfTwoIn(value), sizeOf(type, dim)};
  }
  info.constant = value;
  info.nonNegative = value >= 0;
  return info;
}

static AxisInfo infoOf(arith::ConstantOp op) {
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue())) {
    return constantInfo(op.getType(), integer.getValue().getSExtValue());
  }
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (dense && dense.isSplat() && isa<IntegerType>(dense.getElementType())) {
    return constantInfo(op.getType(), dense.getSplatValue<APInt>().getSExtValue());
  }
  return AxisInfo::unknown(op.getType());
}

static AxisInfo infoOf(tt::MakeRangeOp op) {
  AxisInfo info = AxisInfo::unknown(op.getType());
  info.axes.front() = {sizeOf(op.getType(), 0), powerOfTwoIn(op.getStart()), 1};
  info.nonNegative = int32_t(op.getStart()) >= 0;
  return info;
}

static AxisInfo infoOf(tt::SplatOp op, const AxisInfo &source) {
  AxisInfo info = AxisInfo::unknown(op.getType());
  for (auto [dim, axis] : llvm::enumerate(info.axes)) {
    axis = {1, source.axes.front().divisibility, sizeOf(op.getType(), dim)};
  }
  info.constant = source.constant;
  info.nonNegative = source.nonNegative;
  return info;
}

static AxisInfo infoOf(tt::ExpandDimsOp op, AxisInfo info) {
  // Along the new dimension each element is a run of its own: what divides every element divides it.
  int64_t divisor = 1;
  for (const Axis &axis : info.axes) {
    divisor = std::max(divisor, axis.divisibilityOfRuns(1, unitOf(op.getType())));
  }
  info.axes.insert(info.axes.begin() + op.getAxis(), Axis{1, divisor, 1});
  return info;
}

static AxisInfo infoOf(tt::BroadcastOp op, AxisInfo info) {
  for (auto [dim, axis] : llvm::enumerate(info.axes)) {
    if (sizeOf(op.getSrc().getType(), dim) != sizeOf(op.getType(), dim)) {
      axis.constancy = sizeOf(op.getType(), dim);
    }
  }
  return info;
}

static AxisInfo infoOf(tt::TransOp op, const AxisInfo &source) {
  AxisInfo info = source;
  for (auto [dim, from] : llvm::enumerate(op.getOrder())) {
    info.axes[dim] = source.axes[from];
  }
  return info;
}

static AxisInfo multiplied(const AxisInfo &a, const AxisInfo &b) {
  if (a.constant == 1) {
    return b;
  }
  if (b.constant == 1) {
    return a;
  }
  AxisInfo info = combine(a, b, product);
  info.nonNegative = a.nonNegative && b.nonNegative;
  return info;
}

/// Division that rounds towards zero is even over runs only where nothing is negative; one that rounds down always is.
static AxisInfo divided(const AxisInfo &a, const AxisInfo &b, bool evenRuns) {
  if (b.constant == 1) {
    return a;
  }
  AxisInfo info = combine(a, b, [&](const Axis &left, const Axis &right) {
    Axis axis = quotient(left, right, b.constant);
    if (!evenRuns) {
      axis.constancy = std::min(left.constancy, right.constancy);
    }
    return axis;
  });
  info.nonNegative = a.nonNegative && b.nonNegative;
  return info;
}

static AxisInfo remaining(const AxisInfo &a, const AxisInfo &b, bool evenRuns) {
  AxisInfo info = combine(a, b, [&](const Axis &left, const Axis &right) {
    Axis axis = remainder(left, right);
    if (!evenRuns) {
      axis.divisibility = std::min(left.divisibilityOfRuns(1), right.divisibilityOfRuns(1));
      axis.contiguity = 1;
    }
    return axis;
  });
  info.nonNegative = a.nonNegative;
  return info;
}

static AxisInfo powerOfTwo(const AxisInfo &like, int64_t exponent) {
  AxisInfo info = like;
  for (Axis &axis : info.axes) {
    axis.divisibility = std::min(kLargestDivisor, int64_t(1) << exponent);
  }
  info.constant = int64_t(1) << exponent;
  info.nonNegative = true;
  return info;
}

static bool isShift(const AxisInfo &amount) {
  return amount.constant && *amount.constant >= 0 && *amount.constant < 31;
}

static AxisInfo masked(const AxisInfo &a, const AxisInfo &b) {
  // The low bits alone: a remainder, also of negative numbers.
  if (b.constant && *b.constant >= 0 && llvm::isPowerOf2_64(uint64_t(*b.constant) + 1) &&
      *b.constant < kLargestDivisor) {
    AxisInfo info = remaining(a, powerOfTwo(b, llvm::Log2_64(*b.constant + 1)), /*evenRuns=*/true);
    info.nonNegative = true;
    return info;
  }
  AxisInfo info = combine(a, b, [](const Axis &left, const Axis &right) {
    return Axis{1, std::max(left.divisibilityOfRuns(1), right.divisibilityOfRuns(1)),
                std::min(left.constancy, right.constancy)};
  });
  info.nonNegative = a.nonNegative || b.nonNegative;
  return info;
}

/// A cast that may drop or reinterpret the upper bits: runs hold within what divides their start.
static AxisInfo withoutUpperBits(AxisInfo info) {
  for (Axis &axis : info.axes) {
    int64_t run = std::min(axis.contiguity, axis.divisibility);
    axis = {run, axis.divisibilityOfRuns(run), axis.constancy};
  }
  if (info.constant && *info.constant < 0) {
    info.constant.reset();
  }
  return info;
}

/// A cast between integers and pointers: addresses count in bytes there, in elements here.
static AxisInfo asAddress(AxisInfo info, int64_t unit) {
  for (Axis &axis : info.axes) {
    axis = {1, axis.divisibilityOfRuns(1, unit), axis.constancy};
  }
  info.constant.reset();
  return info;
}

static AxisInfo chosen(arith::SelectOp op, const AxisInfo &condition, const AxisInfo &a, const AxisInfo &b) {
  AxisInfo info = AxisInfo::unknown(op.getType());
  bool scalarCondition = !isa<RankedTensorType>(op.getCondition().getType());
  for (auto [dim, axis] : llvm::enumerate(info.axes)) {
    Axis along = scalarCondition ? Axis{1, 1, sizeOf(op.getType(), dim)} : condition.axes[dim];
    axis = choice(along, a.axes[dim], b.axes[dim]);
  }
  info.nonNegative = a.nonNegative && b.nonNegative;
  if (a.constant == b.constant) {
    info.constant = a.constant;
  }
  return info;
}

static AxisInfo signedExtremum(Operation *op, const AxisInfo &a, const AxisInfo &b) {
  AxisInfo info = combine(a, b, extremum);
  info.nonNegative = isa<arith::MaxSIOp>(op) ? a.nonNegative || b.nonNegative : a.nonNegative && b.nonNegative;
  return info;
}

static AxisInfo transferOfArith(Operation *op, ArrayRef<AxisInfo> in) {
  return TypeSwitch<Operation *, AxisInfo>(op)
      .Case([](arith::ConstantOp constant) { return infoOf(constant); })
      .Case([&](arith::AddIOp) {
        AxisInfo info = combine(in[0], in[1], [](const Axis &a, const Axis &b) { return sum(a, b); });
        info.nonNegative = in[0].nonNegative && in[1].nonNegative;
        return info;
      })
      .Case([&](arith::SubIOp) { return combine(in[0], in[1], difference); })
      .Case([&](arith::MulIOp) { return multiplied(in[0], in[1]); })
      .Case([&](arith::DivSIOp) { return divided(in[0], in[1], in[0].nonNegative && in[1].nonNegative); })
      .Case([&](arith::DivUIOp) { return divided(in[0], in[1], /*evenRuns=*/true); })
      .Case([&](arith::RemSIOp) { return remaining(in[0], in[1], in[0].nonNegative); })
      .Case([&](arith::RemUIOp) { return remaining(in[0], in[1], /*evenRuns=*/true); })
      .Case([&](arith::AndIOp) { return in[0].constant ? masked(in[1], in[0]) : masked(in[0], in[1]); })
      .Case<arith::OrIOp, arith::XOrIOp>([&](auto) {
        return combine(in[0], in[1], [](const Axis &a, const Axis &b) {
          return Axis{1, std::min(a.divisibilityOfRuns(1), b.divisibilityOfRuns(1)),
                      std::min(a.constancy, b.constancy)};
        });
      })
      .Case([&](arith::ShLIOp shift) {
        return isShift(in[1]) ? multiplied(in[0], powerOfTwo(in[1], *in[1].constant))
                              : AxisInfo::unknown(shift.getType());
      })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto shift) {
        return isShift(in[1]) ? divided(in[0], powerOfTwo(in[1], *in[1].constant), /*evenRuns=*/true)
                              : AxisInfo::unknown(shift.getType());
      })
      .Case<arith::MinSIOp, arith::MaxSIOp>([&](auto) { return signedExtremum(op, in[0], in[1]); })
      .Case<arith::MinUIOp, arith::MaxUIOp>([&](auto) { return combine(in[0], in[1], extremum); })
      .Case([&](arith::CmpIOp compare) {
        return combine(in[0], in[1],
                       [&](const Axis &a, const Axis &b) { return comparison(compare.getPredicate(), a, b); });
      })
      .Case([&](arith::SelectOp select) { return chosen(select, in[0], in[1], in[2]); })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return in[0]; })
      .Case<arith::ExtUIOp, arith::TruncIOp, arith::IndexCastUIOp>([&](auto) {
        AxisInfo info = withoutUpperBits(in[0]);
        info.nonNegative = isa<arith::ExtUIOp>(op) || (isa<arith::IndexCastUIOp>(op) && in[0].nonNegative);
        return info;
      })
      .Default([](Operation *) { return AxisInfo(); });
}

static AxisInfo transfer(Operation *op, ArrayRef<AxisInfo> in) {
  return TypeSwitch<Operation *, AxisInfo>(op)
      .Case([](tt::MakeRangeOp range) { return infoOf(range); })
      .Case([&](tt::SplatOp splat) { return infoOf(splat, in[0]); })
      .Case([&](tt::ExpandDimsOp expand) { return infoOf(expand, in[0]); })
      .Case([&](tt::BroadcastOp broadcast) { return infoOf(broadcast, in[0]); })
      .Case([&](tt::TransOp transpose) { return infoOf(transpose, in[0]); })
      .Case([&](ttg::ConvertLayoutOp) { return in[0]; })
      .Case([&](tt::AddPtrOp add) {
        int64_t unit = unitOf(add.getType());
        return combine(in[0], in[1], [&](const Axis &a, const Axis &b) { return sum(a, b, unit); });
      })
      .Case([&](tt::IntToPtrOp) { return asAddress(in[0], /*unit=*/1); })
      .Case([&](tt::PtrToIntOp cast) { return asAddress(in[0], unitOf(cast.getSrc().getType())); })
      .Case<tt::GetProgramIdOp, tt::GetNumProgramsOp>([&](auto) {
        AxisInfo info = AxisInfo::unknown(op->getResult(0).getType());
        info.nonNegative = true;
        return info;
      })
      .Default([&](Operation *) { return transferOfArith(op, in); });
}

/// Raises what is known to what the attributes state, one integer or one for each dimension.
static void applyStatedFacts(AxisInfo &info, llvm::function_ref<Attribute(StringRef)> attributeOf) {
  auto apply = [&](StringRef name, int64_t Axis::*field) {
    Attribute attribute = attributeOf(name);
    SmallVector<int64_t> stated;
    if (auto integer = dyn_cast_or_null<IntegerAttr>(attribute)) {
      stated.assign(info.axes.size(), integer.getInt());
    } else if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
      llvm::transform(dense.getValues<APInt>(), std::back_inserter(stated),
                      [](const APInt &v) { return v.getSExtValue(); });
    } else if (auto array = dyn_cast_or_null<DenseI32ArrayAttr>(attribute)) {
      stated.assign(array.asArrayRef().begin(), array.asArrayRef().end());
    }
    if (stated.size() == info.axes.size()) {
      for (auto [axis, value] : llvm::zip_equal(info.axes, stated)) {
        axis.*field = std::max(axis.*field, powerOfTwoIn(value));
      }
    }
  };
  apply("tt.contiguity", &Axis::contiguity);
  apply("tt.divisibility", &Axis::divisibility);
  apply("tt.constancy", &Axis::constancy);
}

// --- the analysis ----------------------------------------------------------------------------------------------------

namespace {

using AxisLattice = dataflow::Lattice<AxisInfo>;

class Propagation : public dataflow::SparseForwardDataFlowAnalysis<AxisLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  LogicalResult visitOperation(Operation *op, ArrayRef<const AxisLattice *> operands,
                               ArrayRef<AxisLattice *> results) override;
  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor, ArrayRef<AxisLattice *> arguments,
                                    unsigned firstIndex) override;
  void setToEntryState(AxisLattice *lattice) override;

private:
  /// The arguments of a partition are what the operation around it hands over.
  void visitCaptures(ttg::WarpSpecializePartitionsOp op, ArrayRef<AxisLattice *> arguments);
};

} // namespace

LogicalResult Propagation::visitOperation(Operation *op, ArrayRef<const AxisLattice *> operands,
                                          ArrayRef<AxisLattice *> results) {
  SmallVector<AxisInfo> in;
  for (const AxisLattice *operand : operands) {
    in.push_back(operand->getValue());
    if (!in.back().isReached()) {
      return success();
    }
  }
  for (AxisLattice *result : results) {
    AxisInfo info = results.size() == 1 ? transfer(op, in) : AxisInfo();
    if (!info.isReached()) {
      info = AxisInfo::unknown(result->getAnchor().getType());
    }
    applyStatedFacts(info, [&](StringRef name) { return op->getDiscardableAttr(name); });
    propagateIfChanged(result, result->join(info));
  }
  return success();
}

void Propagation::visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                                               ArrayRef<AxisLattice *> arguments, unsigned firstIndex) {
  if (auto partitions = dyn_cast<ttg::WarpSpecializePartitionsOp>(op)) {
    visitCaptures(partitions, arguments);
    return;
  }
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop) {
    return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, arguments, firstIndex);
  }
  ProgramPoint *point = getProgramPointBefore(loop.getBody());
  const AxisInfo &lower = getLatticeElementFor(point, loop.getLowerBound())->getValue();
  const AxisInfo &step = getLatticeElementFor(point, loop.getStep())->getValue();
  if (!lower.isReached() || !step.isReached()) {
    return;
  }
  AxisInfo induction = AxisInfo::unknown(loop.getInductionVar().getType());
  induction.axes.front().divisibility = std::min(lower.axes.front().divisibility, step.axes.front().divisibility);
  induction.nonNegative = lower.nonNegative;
  AxisLattice *lattice = getLatticeElement(loop.getInductionVar());
  propagateIfChanged(lattice, lattice->join(induction));
}

void Propagation::visitCaptures(ttg::WarpSpecializePartitionsOp op, ArrayRef<AxisLattice *> arguments) {
  auto specialize = cast<ttg::WarpSpecializeOp>(op->getParentOp());
  for (auto [captured, argument] : llvm::zip_equal(specialize.getExplicitCaptures(), arguments)) {
    Block *block = cast<BlockArgument>(argument->getAnchor()).getOwner();
    const AxisInfo &info = getLatticeElementFor(getProgramPointBefore(block), captured)->getValue();
    propagateIfChanged(argument, argument->join(info));
  }
}

void Propagation::setToEntryState(AxisLattice *lattice) {
  Value value = lattice->getAnchor();
  AxisInfo info = AxisInfo::unknown(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()) : tt::FuncOp();
  if (function && argument.getOwner()->isEntryBlock()) {
    applyStatedFacts(info, [&](StringRef name) { return function.getArgAttr(argument.getArgNumber(), name); });
  }
  propagateIfChanged(lattice, lattice->join(info));
}

AxisInfoAnalysis::AxisInfoAnalysis(ModuleOp module) : solver_(std::make_unique<DataFlowSolver>()) {
  solver_->load<dataflow::DeadCodeAnalysis>();
  solver_->load<dataflow::SparseConstantPropagation>();
  solver_->load<Propagation>();
  // Fails only where a transfer function does, and none of them does.
  (void)solver_->initializeAndRun(module);
}

AxisInfoAnalysis::~AxisInfoAnalysis() = default;

AxisInfo AxisInfoAnalysis::of(Value value) const {
  const auto *lattice = solver_->lookupState<AxisLattice>(value);
  return lattice && lattice->getValue().isReached() ? lattice->getValue() : AxisInfo::unknown(value.getType());
}

int64_t AxisInfoAnalysis::vectorLength(Value pointers, unsigned dim) const {
  Axis axis = of(pointers).axes[dim];
  return std::clamp<int64_t>(axis.divisibility / unitOf(pointers.getType()), 1, axis.contiguity);
}

} // namespace jitk::passes
