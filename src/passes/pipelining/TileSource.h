// Which tile of a matrix the pointers of a copy are, for the copy engine (TMA), which moves tiles.

#pragma once

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"

#include "mlir/IR/IRMapping.h"

#include <optional>

namespace jitk::passes {

/// Element (r, c) lies at base + (row + r) * stride + column + c, in elements.
struct TileSource {
  /// The sum of scalars and a constant.
  struct Coordinate {
    llvm::SmallVector<mlir::Value> terms;
    int64_t constant = 0;

    /// Its value, i32, where the terms are those of `map`.
    mlir::Value at(mlir::OpBuilder &builder, mlir::Location loc, const mlir::IRMapping &map) const;
  };

  mlir::BlockArgument base;            ///< a parameter of the kernel
  mlir::BlockArgument strideParameter; ///< another one, or null: the constant
  int64_t stride = 0;
  Coordinate row, column;
};

/// The tile that [rows, columns] pointers into global memory are; none where they are another set of addresses, where a
/// launch does not know base and stride, or where TMA cannot move such rows into a buffer of the type.
std::optional<TileSource> matchTileSource(mlir::Value pointers, ir::ttg::MemDescType buffer);

/// The parameter of the kernel that is the tensor map for copies of the tile into such buffers; adds it if there is
/// none.
mlir::Value tileMapOf(const TileSource &source, ir::ttg::MemDescType buffer);

} // namespace jitk::passes
