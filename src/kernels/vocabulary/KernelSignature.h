// The parameters of a kernel, declared once: what becomes the function's signature becomes the recipe's arguments too.

#pragma once

#include "src/kernels/vocabulary/SharedTile.h"
#include "src/ops/Description.h"
#include "src/runtime/Recipe.h"

#include "mlir/IR/Types.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace jitk::kernels {

/// Collects parameters in the order of the device function. A tensor is given a pointer or a descriptor; a dynamic
/// dimension an i32 with its divisor; a static dimension takes no parameter.
class KernelSignature {
public:
  struct Parameter {
    std::string name;
    mlir::Type elementType; ///< of a tensor; null for a dimension and for a descriptor
    int64_t divisibility = 1;
    mlir::Type descriptor = {}; ///< of a tensor that is moved by TMA
  };

  /// Declares the next tensor of the description; `alignment` in bytes is what the launch checks and the code relies
  /// on.
  void tensor(llvm::StringRef name, mlir::Type elementType, uint32_t alignment = 16);
  /// Declares the next tensor of the description, row major [rows, columns], to be moved by TMA in tiles like `tiles`:
  /// the function is given a descriptor for each kind of tile, which the launch encodes. A row must be a multiple of 16
  /// bytes.
  void tiledTensor(llvm::StringRef name, const Expression &rows, const Expression &columns,
                   llvm::ArrayRef<SharedTile> tiles);
  /// Declares a dimension of the description. Dynamic ones are numbered in the order of declaration.
  void dimension(llvm::StringRef name, const Dimension &dimension);

  /// The dimension's value as an expression of the recipe.
  Expression expression(llvm::StringRef name) const;
  /// Position among the function's parameters; none if the dimension is static.
  std::optional<unsigned> parameterIndex(llvm::StringRef name) const;
  const Dimension &size(llvm::StringRef name) const;

  llvm::ArrayRef<Parameter> parameters() const { return parameters_; }
  /// Recipe with the dimensions, tensors and alignments, and one step that passes the parameters and the two scratch
  /// pointers of the kernel ABI. Grid and symbol are the caller's.
  Recipe recipe() const;

private:
  struct NamedDimension {
    std::string name;
    Dimension dimension;
    std::optional<unsigned> parameter;
  };
  const NamedDimension &find(llvm::StringRef name) const;

  llvm::SmallVector<Parameter> parameters_;
  llvm::SmallVector<NamedDimension> dimensions_;
  Recipe recipe_;
  std::vector<Argument> arguments_;
};

} // namespace jitk::kernels
