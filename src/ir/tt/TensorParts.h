// Tensors in registers as parts of them, and as words that hold two elements. Nothing has an encoding yet.

#pragma once

#include "src/ir/tt/Tt.h"

namespace jitk::ir::tt {

/// A matrix in parts of `columns` columns, left to right; both counts are powers of two.
llvm::SmallVector<mlir::Value> splitColumns(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value matrix,
                                            int64_t columns);

// What waits in registers, two results of 16 bits to a register: as i32, which no stage of the compiler takes apart.
/// [r, c] of a 16-bit float to [r, c / 2] of i32: columns 2i and 2i + 1 in the low and the high half.
mlir::Value packPairs(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value matrix);
/// And back.
mlir::Value unpackPairs(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pairs, mlir::Type elementType);

} // namespace jitk::ir::tt
