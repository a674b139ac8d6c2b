// Dots that read their operands from the buffers that those were loaded from.

#pragma once

#include "src/ir/ttg/Ttg.h"

#include "mlir/IR/Builders.h"

namespace jitk::passes {

/// Whether `tensor` is a matrix that was loaded from a buffer and then transposed.
bool isTransposedRead(mlir::Value tensor);

/// The buffer that `tensor` was loaded from, perhaps transposed since, if the buffer still holds it at `user`; else
/// null.
mlir::Value bufferBehind(mlir::Value tensor, mlir::Operation *user);

/// A buffer that holds `tensor` at `user`: that of `bufferBehind`, transposed where the tensor was. Null if there is
/// none.
mlir::Value materializeBuffer(mlir::OpBuilder &builder, mlir::Value tensor, mlir::Operation *user);

} // namespace jitk::passes
