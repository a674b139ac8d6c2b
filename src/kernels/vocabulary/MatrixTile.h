// A tile of a matrix in global memory that walks along the contraction.
//
//             K ->
//        +---------------------+
//   row0 |      |tile |        |   rows past the end read the last row (their products are never stored), or zeros,
//        |      |     |        |   columns past K are masked to zero: they would enter every sum
//        +---------------------+

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// Tiles of [rows, depth] elements of a row-major matrix whose rows are one operand's outer dimension and whose columns
/// are the contraction.
class RowTile {
public:
  /// `firstRow` and `numRows` are i32; `numRows >= 1` wherever a tile is loaded. `rowsCovered`: no tile reaches past
  /// the last row; else those past it are zeros if `masksRows`: a copy that TMA can do, but one more condition where
  /// threads copy.
  RowTile(KernelBuilder &builder, const MatrixView &matrix, mlir::Value firstRow, mlir::Value numRows, int64_t rows,
          int64_t depth, bool rowsCovered, bool masksRows = false);

  /// Pointers of the tile whose first column is `column` (i32).
  mlir::Value pointers(mlir::Value column) const;
  /// Mask of a tile whose columns are all there; null where all elements are.
  mlir::Value mask() const;
  /// Mask of the columns below `numColumns`.
  mlir::Value mask(mlir::Value column, mlir::Value numColumns) const;

private:
  KernelBuilder &builder_;
  int64_t rows_, depth_;
  mlir::Value origin_;  ///< pointers of the tile at column 0
  mlir::Value rowMask_; ///< a vector; null where it is of no row
};

} // namespace jitk::kernels
