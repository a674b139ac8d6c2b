#include "src/passes/pipelining/Signs.h"

#include "src/ir/tt/Tt.h"
#include "src/passes/TileMaps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

/// Values of which all must be 0 or more for another one to be.
using Premises = std::optional<SmallVector<Value>>;

static Premises premisesOf(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<tt::FuncOp>(parent)) {
    bool isPositive =
        argument.getOwner()->isEntryBlock() && bool(function.getArgAttr(argument.getArgNumber(), kPositiveParameter));
    return isPositive ? Premises(SmallVector<Value>()) : std::nullopt;
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop || loop.getUnsignedCmp()) {
    return std::nullopt;
  }
  if (argument == loop.getInductionVar()) {
    return SmallVector<Value>{loop.getLowerBound()};
  }
  return SmallVector<Value>{loop.getTiedLoopInit(argument)->get(), loop.getTiedLoopYieldedValue(argument)->get()};
}

static Premises premisesOf(OpResult result) {
  using All = SmallVector<Value>;
  return llvm::TypeSwitch<Operation *, Premises>(result.getOwner())
      .Case<tt::GetProgramIdOp, tt::GetNumProgramsOp, arith::ExtUIOp>([](Operation *) { return All(); })
      .Case<arith::AddIOp, arith::MulIOp, arith::MinSIOp>(
          [](Operation *op) { return All{op->getOperand(0), op->getOperand(1)}; })
      .Case<arith::DivSIOp, arith::RemSIOp, arith::ExtSIOp>([](Operation *op) { return All{op->getOperand(0)}; })
      .Case([](arith::SelectOp select) { return All{select.getTrueValue(), select.getFalseValue()}; })
      .Case([&](scf::IfOp branch) {
        unsigned number = result.getResultNumber();
        return All{branch.thenYield()->getOperand(number), branch.elseYield()->getOperand(number)};
      })
      .Case([&](scf::ForOp loop) {
        unsigned number = result.getResultNumber();
        return All{loop.getInitArgs()[number], loop.getYieldedValues()[number]};
      })
      .Default(Premises());
}

bool isNotNegative(Value value) {
  llvm::SetVector<Value> known;
  known.insert(value);
  for (size_t next = 0; next < known.size(); ++next) { // grows
    Value current = known[next];
    APInt constant;
    if (matchPattern(current, m_ConstantInt(&constant))) {
      if (constant.isNegative()) {
        return false;
      }
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(current);
    Premises premises = argument ? premisesOf(argument) : premisesOf(cast<OpResult>(current));
    if (!premises) {
      return false;
    }
    known.insert_range(*premises);
  }
  return true;
}

} // namespace jitk::passes
