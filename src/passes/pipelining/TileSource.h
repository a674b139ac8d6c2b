// Which tile of a matrix the pointers of a copy are, for the copy engine (TMA), which moves tiles.

#pragma once

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <optional>

namespace jitk::passes {

/// Element (r, c) lies at base + (row + r) * stride + column + c, in elements.
struct TileSource {
  /// The sum of scalars and a constant, all of 32 bits, with which it wraps as the sum in the kernel does.
  struct Coordinate {
    llvm::SmallVector<mlir::Value> terms;
    int64_t constant = 0;

    /// Its value, i32, where the terms are those of `map`.
    mlir::Value at(mlir::OpBuilder &builder, mlir::Location loc, const mlir::IRMapping &map) const;
  };

  /// A number that a launch knows: a parameter of the kernel, or, where that is null, the constant.
  struct Size {
    mlir::BlockArgument parameter;
    int64_t constant = 0;

    bool operator==(const Size &) const = default;
  };

  mlir::BlockArgument base; ///< a parameter of the kernel
  Size stride;              ///< 1 or more wherever the tile is copied
  /// 1 or more; from this row, and column, on nothing is there: zeros where it is read. No end: all are there.
  std::optional<Size> numRows, numColumns;
  Coordinate row, column;
};

/// The tile that `copy` moves; none where its pointers, [rows, columns], are another set of addresses, where its mask,
/// if it has one, is not that of the rows, of the columns, or of both, before some last one, where a launch does not
/// know base, stride and the last ones or may give 0 or less for one of these, where a coordinate may not fit 32 bits,
/// where the column may be below 0, or where TMA cannot move such rows into its buffer.
std::optional<TileSource> matchTileSource(ir::ttg::AsyncCopyGlobalToLocalOp copy);

/// The same of a matrix's tile at `pointers`, which is moved to or from `buffer`s, all of it or in parts of its
/// columns; `loop` as above, or null where it is in none that says anything about the stride.
std::optional<TileSource> matchTile(mlir::Value pointers, mlir::Value mask, ir::ttg::MemDescType buffer,
                                    mlir::scf::ForOp loop);

/// A buffer for tiles of that shape as a tensor map writes and reads it.
ir::ttg::MemDescType tileBufferType(llvm::ArrayRef<int64_t> shape, mlir::Type elementType);

/// The parameter of the kernel that is the tensor map for copies of the tile into such buffers; adds it if there is
/// none.
mlir::Value tileMapOf(const TileSource &source, ir::ttg::MemDescType buffer);

} // namespace jitk::passes
