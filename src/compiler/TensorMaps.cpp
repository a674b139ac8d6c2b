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

/// The map of a matrix without end.
static TensorMap mapOf(tt::TensorDescType type, ArrayRef<int64_t> rowsOf, const LaunchStep &step) {
  using Op = Expression::Op;
  constexpr int64_t kEndless = int64_t(1) << 31; // as far as coordinates go
  RankedTensorType block = type.getBlockType();
  kernels::SharedTile tile = {block.getDimSize(0), block.getDimSize(1), block.getElementType()};
  Expression stride = rowsOf[1] < 0 ? Expression::constant(rowsOf[2]) : step.arguments[size_t(rowsOf[1])].expression;
  TensorMap map;
  map.tensor = step.arguments[size_t(rowsOf[0])].index;
  map.elementType = tile.mapElementType();
  map.swizzle = tile.mapSwizzle();
  map.box = tile.mapBox();
  // Rows of no elements are those of an empty matrix, which has no map.
  Expression rows = Expression::binary(Op::Mul, Expression::binary(Op::Min, stride, Expression::constant(1)),
                                       Expression::constant(kEndless));
  map.sizes = {Expression::constant(kEndless), rows};
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
