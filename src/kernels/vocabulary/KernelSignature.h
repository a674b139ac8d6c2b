// What a kernel is given, declared once: tensors, dimensions, scalars and regions of the workspace become parameters of
// the device functions and arguments of the recipe.

#pragma once

#include "src/kernels/vocabulary/SharedTile.h"
#include "src/ops/Description.h"
#include "src/runtime/Recipe.h"

#include "mlir/IR/Types.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <initializer_list>
#include <optional>
#include <string>

namespace jitk::kernels {

/// Collects what the kernel's steps may take as parameters, in the order of declaration. A tensor is given a pointer or
/// descriptors, a region of the workspace a pointer, a scalar an f32, a dynamic dimension an i32 with its divisor; a
/// static dimension takes no parameter.
class KernelSignature {
public:
  KernelSignature() = default;
  /// Tensors of `description`, which has the strides of their rows, and outlives the signature.
  explicit KernelSignature(const Description &description) : description_(&description) {}

  struct Parameter {
    enum class Kind : uint8_t { Tensor, Descriptor, Workspace, Dimension, Scalar };
    std::string name;
    Kind kind;
    mlir::Type type; ///< elements of a tensor or region; a descriptor's own; null for the others
    int64_t divisibility = 1;
    uint32_t index = 0; ///< among those of its kind; of a region: its area of the workspace
  };

  /// Declares the next tensor of the description; `alignment` in bytes is what the launch checks and the code relies
  /// on.
  void tensor(llvm::StringRef name, mlir::Type elementType, uint32_t alignment = 16);
  /// Declares the next tensor of the description, row major [..., rows, columns], to be moved by TMA in tiles like
  /// `tiles` too: a function may take a descriptor for each kind of tile, which the launch encodes. A row, its stride,
  /// and that of pages must be multiples of 16 bytes. What is read once, by nobody else soon, needs no promotion.
  void tiledTensor(llvm::StringRef name, mlir::Type elementType, llvm::ArrayRef<Expression> sizes,
                   llvm::ArrayRef<SharedTile> tiles, L2Promotion promotion = L2Promotion::To256Bytes);
  void tiledTensor(llvm::StringRef name, mlir::Type elementType, const Expression &rows, const Expression &columns,
                   llvm::ArrayRef<SharedTile> tiles, L2Promotion promotion = L2Promotion::To256Bytes) {
    tiledTensor(name, elementType, {rows, columns}, tiles, promotion);
  }
  /// Declares a dimension of the description. Dynamic ones are numbered in the order of declaration.
  void dimension(llvm::StringRef name, const Dimension &dimension);
  /// Declares the next f32 scalar of the description.
  void scalar(llvm::StringRef name);
  /// Declares a region of the workspace: memory that one step leaves to a later one. `elements` counts elements; the
  /// region is aligned to 256 bytes.
  void workspace(llvm::StringRef name, mlir::Type elementType, const Expression &elements);
  /// The same in the place of `other`, whose contents nobody needs any more once a step writes this region.
  void workspaceOver(llvm::StringRef other, llvm::StringRef name, mlir::Type elementType, const Expression &elements);

  /// Lets a region be moved by TMA too: as a row-major matrix [rows, columns] of its elements, in tiles like `tiles`.
  void tiles(llvm::StringRef region, const Expression &rows, const Expression &columns,
             llvm::ArrayRef<SharedTile> tiles);

  /// The dimension's value as an expression of the recipe.
  Expression expression(llvm::StringRef name) const;
  const Dimension &size(llvm::StringRef name) const;
  /// Elements from one row of the tensor to the next, where its rows lie apart.
  std::optional<int64_t> rowStride(llvm::StringRef tensor) const {
    return description_ ? description_->rowStride(tensor) : std::nullopt;
  }
  /// Elements from one page of the tensor to the next, where its pages lie apart.
  std::optional<int64_t> pageStride(llvm::StringRef tensor) const {
    return description_ ? description_->pageStride(tensor) : std::nullopt;
  }

  llvm::ArrayRef<Parameter> parameters() const { return parameters_; }
  /// What a launch passes for the parameter. To be asked when everything is declared: offsets depend on all regions.
  Argument argument(const Parameter &parameter) const;
  /// Recipe with the dimensions, tensors, alignments, scalars and the size of the workspace; without steps.
  Recipe recipe() const;

private:
  struct NamedDimension {
    std::string name;
    Dimension dimension;
  };
  const NamedDimension &find(llvm::StringRef name) const;
  const Parameter &findRegion(llvm::StringRef name) const;
  /// Declares a descriptor for each kind of tile, and its tensor map: `map` with the sizes, the strides and the tile.
  void describe(llvm::StringRef name, const TensorMap &map, llvm::ArrayRef<Expression> sizes,
                llvm::ArrayRef<SharedTile> tiles);
  void region(uint32_t area, llvm::StringRef name, mlir::Type elementType, const Expression &elements);
  /// Bytes of the first `count` areas.
  Expression areaBytes(size_t count) const;

  const Description *description_ = nullptr;
  llvm::SmallVector<Parameter> parameters_;
  llvm::SmallVector<NamedDimension> dimensions_;
  llvm::SmallVector<std::optional<Expression>> areas_; ///< bytes of each part of the workspace, which regions share
  Recipe recipe_; ///< the offset of a tensor map of the workspace is the number of its area
};

/// Whether the strides of these tensors of the description, where rows or pages lie apart, are multiples of `elements`.
bool haveStridesOf(const Description &description, std::initializer_list<llvm::StringRef> tensors, int64_t elements);

} // namespace jitk::kernels
