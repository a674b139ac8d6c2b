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
      }
    }
  }
}

/// The map of a matrix whose rows have no end.
static TensorMap mapOf(tt::TensorDescType type, ArrayRef<int64_t> rowsOf, const LaunchStep &step) {
  using Op = Expression::Op;
  RankedTensorType block = type.getBlockType();
  kernels::SharedTile tile = {block.getDimSize(0), block.getDimSize(1), block.getElementType()};
  auto sizeOf = [&](int64_t parameter, int64_t constant) {
    return parameter < 0 ? Expression::constant(constant) : step.arguments[size_t(parameter)].expression;
  };
  Expression stride = sizeOf(rowsOf[1], rowsOf[2]), numRows = sizeOf(rowsOf[3], rowsOf[4]);
  TensorMap map;
  map.tensor = step.arguments[size_t(rowsOf[0])].index;
  map.elementType = tile.mapElementType();
  map.swizzle = tile.mapSwizzle();
  map.box = tile.mapBox();
  // Rows of no elements are those of an empty matrix, which has no map.
  Expression rows = Expression::binary(Op::Mul, Expression::binary(Op::Min, stride, Expression::constant(1)), numRows);
  map.sizes = {Expression::constant(passes::kEndlessRows), rows};
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
      for (StringRef mark :
           {StringRef(passes::kTensorParameter), StringRef(passes::kSizeParameter), StringRef(passes::kRowsOf)}) {
        function.removeArgAttr(index, mark);
      }
    }
  }
}

} // namespace jitk::compiler
