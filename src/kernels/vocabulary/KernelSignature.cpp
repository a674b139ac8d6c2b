#include "src/kernels/vocabulary/KernelSignature.h"

#include "llvm/Support/ErrorHandling.h"

namespace jitk::kernels {

void KernelSignature::tensor(llvm::StringRef name, mlir::Type elementType, uint32_t alignment) {
  arguments_.push_back({Argument::Kind::Tensor, uint32_t(recipe_.tensors.size()), {}});
  recipe_.tensors.push_back(name.str());
  recipe_.alignments.push_back(alignment);
  parameters_.push_back({name.str(), elementType, alignment});
}

/// The tensor map of a row-major tensor [rows, columns] for copies of `tile`.
static TensorMap mapOf(uint32_t tensor, const Expression &rows, const Expression &columns, const SharedTile &tile) {
  int64_t elementBytes = tile.elementType.getIntOrFloatBitWidth() / 8;
  TensorMap map;
  map.tensor = tensor;
  map.elementType = tile.mapElementType();
  map.swizzle = tile.mapSwizzle();
  map.sizes = {columns, rows};
  map.strides = {Expression::binary(Expression::Op::Mul, columns, Expression::constant(elementBytes))};
  map.box = tile.mapBox();
  return map;
}

void KernelSignature::tiledTensor(llvm::StringRef name, const Expression &rows, const Expression &columns,
                                  llvm::ArrayRef<SharedTile> tiles) {
  constexpr uint32_t kAlignment = 16; // what TMA asks of an address
  auto tensor = uint32_t(recipe_.tensors.size());
  recipe_.tensors.push_back(name.str());
  recipe_.alignments.push_back(kAlignment);
  llvm::SmallVector<mlir::Type> declared;
  for (const SharedTile &tile : tiles) {
    if (llvm::is_contained(declared, tile.descriptorType())) {
      continue;
    }
    declared.push_back(tile.descriptorType());
    arguments_.push_back({Argument::Kind::TensorMap, uint32_t(recipe_.tensorMaps.size()), {}});
    recipe_.tensorMaps.push_back(mapOf(tensor, rows, columns, tile));
    parameters_.push_back({name.str(), {}, 1, tile.descriptorType()});
  }
}

void KernelSignature::dimension(llvm::StringRef name, const Dimension &dimension) {
  std::optional<unsigned> parameter;
  if (!dimension.isStatic()) {
    parameter = parameters_.size();
    parameters_.push_back({name.str(), {}, dimension.divisor});
    arguments_.push_back({Argument::Kind::Integer32, 0, Expression::dimension(recipe_.dimensions.size())});
    recipe_.dimensions.push_back(name.str());
  }
  dimensions_.push_back({name.str(), dimension, parameter});
}

const KernelSignature::NamedDimension &KernelSignature::find(llvm::StringRef name) const {
  for (const NamedDimension &candidate : dimensions_) {
    if (candidate.name == name) {
      return candidate;
    }
  }
  llvm_unreachable("the kernel's builder asks for a dimension that it did not declare");
}

Expression KernelSignature::expression(llvm::StringRef name) const {
  const NamedDimension &named = find(name);
  if (named.dimension.isStatic()) {
    return Expression::constant(named.dimension.value);
  }
  for (auto [index, dimension] : llvm::enumerate(recipe_.dimensions)) {
    if (dimension == name) {
      return Expression::dimension(index);
    }
  }
  llvm_unreachable("a dynamic dimension is always in the recipe");
}

std::optional<unsigned> KernelSignature::parameterIndex(llvm::StringRef name) const { return find(name).parameter; }

const Dimension &KernelSignature::size(llvm::StringRef name) const { return find(name).dimension; }

Recipe KernelSignature::recipe() const {
  Recipe result = recipe_;
  LaunchStep step;
  step.arguments = arguments_;
  step.arguments.push_back({Argument::Kind::Null, 0, {}}); // global scratch
  step.arguments.push_back({Argument::Kind::Null, 0, {}}); // profile scratch
  step.grid = {Expression::constant(1), Expression::constant(1), Expression::constant(1)};
  result.steps.push_back(std::move(step));
  return result;
}

} // namespace jitk::kernels
