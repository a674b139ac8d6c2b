#include "src/kernels/vocabulary/KernelSignature.h"

#include "llvm/Support/ErrorHandling.h"

namespace jitk::kernels {

using Op = Expression::Op;

/// What the device's allocators align to, and the runtime the workspace.
static constexpr int64_t kRegionAlignment = 256;

void KernelSignature::tensor(llvm::StringRef name, mlir::Type elementType, uint32_t alignment) {
  parameters_.push_back(
      {name.str(), Parameter::Kind::Tensor, elementType, alignment, uint32_t(recipe_.tensors.size())});
  recipe_.tensors.push_back(name.str());
  recipe_.alignments.push_back(alignment);
}

/// The tensor map of a row-major matrix or tensor for copies of `tile`; `sizes` outermost first, `apart` the strides of
/// rows and of pages, in elements, where these lie apart.
static TensorMap withTile(TensorMap map, llvm::ArrayRef<Expression> sizes,
                          const std::array<std::optional<int64_t>, 2> &apart, const SharedTile &tile) {
  map.elementType = tile.mapElementType();
  map.swizzle = tile.mapSwizzle();
  map.sizes = {sizes.rbegin(), sizes.rend()};
  const Expression elementBytes = Expression::constant(tile.elementType.getIntOrFloatBitWidth() / 8);
  Expression stride = elementBytes;
  for (auto [axis, size] : llvm::enumerate(llvm::ArrayRef(map.sizes).drop_back())) {
    bool isApart = axis < apart.size() && apart[axis];
    stride = isApart ? Expression::binary(Op::Mul, Expression::constant(*apart[axis]), elementBytes)
                     : Expression::binary(Op::Mul, size, stride);
    map.strides.push_back(stride);
  }
  map.box = tile.mapBox(unsigned(sizes.size()));
  return map;
}

void KernelSignature::describe(llvm::StringRef name, const TensorMap &map, llvm::ArrayRef<Expression> sizes,
                               llvm::ArrayRef<SharedTile> tiles) {
  llvm::SmallVector<mlir::Type> declared;
  for (const SharedTile &tile : tiles) {
    mlir::Type type = tile.descriptorType(unsigned(sizes.size()));
    if (llvm::is_contained(declared, type)) {
      continue;
    }
    declared.push_back(type);
    parameters_.push_back({name.str(), Parameter::Kind::Descriptor, type, 1, uint32_t(recipe_.tensorMaps.size())});
    recipe_.tensorMaps.push_back(withTile(map, sizes, {rowStride(name), pageStride(name)}, tile));
  }
}

void KernelSignature::tiledTensor(llvm::StringRef name, mlir::Type elementType, llvm::ArrayRef<Expression> sizes,
                                  llvm::ArrayRef<SharedTile> tiles, L2Promotion promotion) {
  constexpr uint32_t kAlignment = 16; // what TMA asks of an address
  TensorMap map;
  map.tensor = uint32_t(recipe_.tensors.size());
  map.promotion = promotion;
  recipe_.tensors.push_back(name.str());
  recipe_.alignments.push_back(kAlignment);
  parameters_.push_back({name.str(), Parameter::Kind::Tensor, elementType, kAlignment, map.tensor});
  describe(name, map, sizes, tiles);
}

void KernelSignature::tiles(llvm::StringRef region, const Expression &rows, const Expression &columns,
                            llvm::ArrayRef<SharedTile> tiles) {
  TensorMap map;
  map.tensor = TensorMap::kWorkspace;
  map.offset = Expression::constant(findRegion(region).index);
  describe(region, map, {rows, columns}, tiles);
}

void KernelSignature::dimension(llvm::StringRef name, const Dimension &dimension) {
  if (!dimension.isStatic()) {
    parameters_.push_back(
        {name.str(), Parameter::Kind::Dimension, {}, dimension.divisor, uint32_t(recipe_.dimensions.size())});
    recipe_.dimensions.push_back(name.str());
  }
  dimensions_.push_back({name.str(), dimension});
}

void KernelSignature::scalar(llvm::StringRef name) {
  parameters_.push_back({name.str(), Parameter::Kind::Scalar, {}, 1, uint32_t(recipe_.scalars.size())});
  recipe_.scalars.push_back({name.str(), ScalarType::Fp32});
}

void KernelSignature::workspace(llvm::StringRef name, mlir::Type elementType, const Expression &elements) {
  areas_.emplace_back();
  region(areas_.size() - 1, name, elementType, elements);
}

void KernelSignature::workspaceOver(llvm::StringRef other, llvm::StringRef name, mlir::Type elementType,
                                    const Expression &elements) {
  region(findRegion(other).index, name, elementType, elements);
}

const KernelSignature::Parameter &KernelSignature::findRegion(llvm::StringRef name) const {
  const Parameter *found = llvm::find_if(parameters_, [&](const Parameter &parameter) {
    return parameter.kind == Parameter::Kind::Workspace && parameter.name == name;
  });
  assert(found != parameters_.end() && "the kernel's builder asks for a region that it did not declare");
  return *found;
}

void KernelSignature::region(uint32_t area, llvm::StringRef name, mlir::Type elementType, const Expression &elements) {
  int64_t elementBytes = llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  Expression bytes = Expression::binary(Op::Mul, elements, Expression::constant(elementBytes));
  Expression unit = Expression::constant(kRegionAlignment);
  Expression rounded = Expression::binary(Op::Mul, Expression::binary(Op::CeilDiv, bytes, unit), unit);
  areas_[area] = areas_[area] ? Expression::binary(Op::Max, *areas_[area], rounded) : rounded;
  parameters_.push_back({name.str(), Parameter::Kind::Workspace, elementType, kRegionAlignment, area});
}

Expression KernelSignature::areaBytes(size_t count) const {
  std::optional<Expression> sum;
  for (const std::optional<Expression> &area : llvm::ArrayRef(areas_).take_front(count)) {
    sum = sum ? Expression::binary(Op::Add, *sum, *area) : *area;
  }
  return sum.value_or(Expression::constant(0));
}

Argument KernelSignature::argument(const Parameter &parameter) const {
  switch (parameter.kind) {
  case Parameter::Kind::Tensor:
    return {Argument::Kind::Tensor, parameter.index, {}};
  case Parameter::Kind::Descriptor:
    return {Argument::Kind::TensorMap, parameter.index, {}};
  case Parameter::Kind::Workspace:
    return {Argument::Kind::Workspace, 0, areaBytes(parameter.index)};
  case Parameter::Kind::Dimension:
    return {Argument::Kind::Integer32, 0, Expression::dimension(parameter.index)};
  case Parameter::Kind::Scalar:
    return {Argument::Kind::Scalar, parameter.index, {}};
  }
  llvm_unreachable("all kinds are above");
}

Recipe KernelSignature::recipe() const {
  Recipe result = recipe_;
  result.workspaceBytes = areaBytes(areas_.size());
  for (TensorMap &map : result.tensorMaps) {
    if (map.tensor == TensorMap::kWorkspace) {
      map.offset = areaBytes(size_t(map.offset.evaluate({})));
    }
  }
  return result;
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

bool haveStridesOf(const Description &description, std::initializer_list<llvm::StringRef> tensors, int64_t elements) {
  return llvm::all_of(tensors, [&](llvm::StringRef tensor) {
    return description.rowStride(tensor).value_or(elements) % elements == 0 &&
           description.pageStride(tensor).value_or(elements) % elements == 0;
  });
}

const Dimension &KernelSignature::size(llvm::StringRef name) const { return find(name).dimension; }

} // namespace jitk::kernels
