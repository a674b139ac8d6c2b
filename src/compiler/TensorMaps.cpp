#include "src/compiler/TensorMaps.h"

#include "src/ir/tt/Tt.h"
#include "src/kernels/vocabulary/SharedTile.h"
#include "src/passes/TileMaps.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::compiler {

static tt::FuncOp functionOf(ModuleOp module, const LaunchStep &step) {
  return module.lookupSymbol<tt::FuncOp>(step.symbol);
}

/// Whether something is known of an expression: `leaf` says so of a term, `combine` of what an operator makes of two
/// sides of which it is known or not.
static bool isTrueOf(const Expression &expression, llvm::function_ref<bool(Expression::Term)> leaf,
                     llvm::function_ref<bool(Expression::Op, bool, bool)> combine) {
  using Op = Expression::Op;
  SmallVector<bool> stack;
  for (const Expression::Term &term : expression.terms()) {
    if (term.op == Op::Constant || term.op == Op::Dimension || term.op == Op::Multiprocessors) {
      stack.push_back(leaf(term));
      continue;
    }
    bool right = stack.pop_back_val(), left = stack.pop_back_val();
    stack.push_back(combine(term.op, left, right));
  }
  return stack.back();
}

/// Whether no CTA runs where the dimension is 0, whatever the others are.
static bool runsNowhereWithout(int64_t dimension, const LaunchStep &step) {
  using Op = Expression::Op;
  return llvm::any_of(step.grid, [&](const Expression &extent) {
    return isTrueOf(
        extent,
        [&](Expression::Term term) {
          return term.op == Op::Dimension ? term.value == dimension : term.op == Op::Constant && term.value == 0;
        },
        [](Op op, bool left, bool right) {
          bool ofEither = (op == Op::Mul || op == Op::Min) && (left || right),
               ofLeft = op == Op::CeilDiv || op == Op::FloorDiv;
          return ofEither || (left && (ofLeft || right));
        });
  });
}

/// Whether it is known to be 1 or more wherever the step runs.
static bool isPositive(const Expression &expression, const LaunchStep &step) {
  using Op = Expression::Op;
  return isTrueOf(
      expression,
      [&](Expression::Term term) {
        return term.op == Op::Constant    ? term.value > 0
               : term.op == Op::Dimension ? runsNowhereWithout(term.value, step)
                                          : true;
      },
      [](Op op, bool left, bool right) {
        return op == Op::Max ? left || right : op != Op::Sub && op != Op::FloorDiv && left && right;
      });
}

void markParameters(ModuleOp module, const Recipe &recipe) {
  for (const LaunchStep &step : recipe.steps) {
    tt::FuncOp function = functionOf(module, step);
    for (unsigned index = 0; index < function.getNumArguments(); ++index) {
      using Kind = Argument::Kind;
      Kind kind = step.arguments[index].kind;
      if (kind == Kind::Tensor) {
        function.setArgAttr(index, passes::kTensorParameter, UnitAttr::get(module.getContext()));
      } else if (kind == Kind::Integer32 || kind == Kind::Integer64) {
        function.setArgAttr(index, passes::kSizeParameter, UnitAttr::get(module.getContext()));
        // Those of 64 bits may be more than a map takes.
        if (kind == Kind::Integer32 && isPositive(step.arguments[index].expression, step)) {
          function.setArgAttr(index, passes::kPositiveParameter, UnitAttr::get(module.getContext()));
        }
      }
    }
  }
}

/// The map of a matrix.
static TensorMap mapOf(tt::TensorDescType type, ArrayRef<int64_t> rowsOf, const LaunchStep &step) {
  using Op = Expression::Op;
  RankedTensorType block = type.getBlockType();
  kernels::SharedTile tile = {block.getDimSize(0), block.getDimSize(1), block.getElementType()};
  auto sizeOf = [&](int64_t parameter, int64_t constant) {
    return parameter < 0 ? Expression::constant(constant) : step.arguments[size_t(parameter)].expression;
  };
  Expression stride = sizeOf(rowsOf[1], rowsOf[2]);
  Expression numRows = sizeOf(rowsOf[3], rowsOf[4]), numColumns = sizeOf(rowsOf[5], rowsOf[6]);
  TensorMap map;
  map.tensor = step.arguments[size_t(rowsOf[0])].index;
  map.elementType = tile.mapElementType();
  map.swizzle = tile.mapSwizzle();
  map.box = tile.mapBox();
  // Rows of no elements are those of an empty matrix, which has no map: then the kernel copies nothing.
  Expression hasElements = Expression::binary(Op::Max, Expression::binary(Op::Min, stride, Expression::constant(1)),
                                              Expression::constant(0));
  Expression rows = Expression::binary(Op::Mul, hasElements, numRows);
  map.sizes = {numColumns, rows};
  int64_t elementBytes = block.getElementTypeBitWidth() / 8;
  map.strides = {Expression::binary(Op::Mul, stride, Expression::constant(elementBytes))};
  return map;
}

void addTensorMaps(ModuleOp module, Recipe &recipe) {
  for (LaunchStep &step : recipe.steps) {
    tt::FuncOp function = functionOf(module, step);
    for (unsigned index = 0; index < function.getNumArguments(); ++index) {
      if (auto rowsOf = function.getArgAttrOfType<DenseI64ArrayAttr>(index, passes::kRowsOf)) {
        auto type = cast<tt::TensorDescType>(function.getArgument(index).getType());
        auto number = uint32_t(recipe.tensorMaps.size());
        recipe.tensorMaps.push_back(mapOf(type, rowsOf, step));
        step.arguments.insert(step.arguments.begin() + index, {Argument::Kind::TensorMap, number, {}});
      }
      for (StringRef mark : {StringRef(passes::kTensorParameter), StringRef(passes::kSizeParameter),
                             StringRef(passes::kPositiveParameter), StringRef(passes::kRowsOf)}) {
        function.removeArgAttr(index, mark);
      }
    }
  }
}

} // namespace jitk::compiler
