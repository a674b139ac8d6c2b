// Which encoding a change of shape gives, so that no element moves between threads.
//
// Each function takes and gives a null encoding for a tensor without one, and fails where the encoding does not allow
// the change of shape.

#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace jitk::ir::ttg {

/// After a reduction along `axis`: the slice.
mlir::Attribute inferReduceEncoding(mlir::Attribute operand, unsigned axis);

/// After a dimension of size 1 is inserted at `axis`: the parent of a slice along it.
llvm::FailureOr<mlir::Attribute> inferExpandDimsEncoding(mlir::Attribute operand, unsigned axis);

/// After a permutation of the dimensions.
llvm::FailureOr<mlir::Attribute> inferTransEncoding(llvm::ArrayRef<int64_t> shape, mlir::Attribute operand,
                                                    llvm::ArrayRef<int32_t> order);

/// After a reshape of `shape` to `target`.
llvm::FailureOr<mlir::Attribute> inferReshapeEncoding(llvm::ArrayRef<int64_t> shape, mlir::Attribute operand,
                                                      llvm::ArrayRef<int64_t> target);

/// After two tensors of `shape` are joined along a new minor dimension.
llvm::FailureOr<mlir::Attribute> inferJoinEncoding(llvm::ArrayRef<int64_t> shape, mlir::Attribute operand);

/// After a tensor of `shape` is split along its minor dimension of size 2.
llvm::FailureOr<mlir::Attribute> inferSplitEncoding(llvm::ArrayRef<int64_t> shape, mlir::Attribute operand);

/// Report, on `op`, a result whose encoding does not leave every element where it is.
llvm::LogicalResult verifyTransEncoding(mlir::Operation *op, mlir::RankedTensorType source,
                                        mlir::RankedTensorType result, llvm::ArrayRef<int32_t> order);
llvm::LogicalResult verifyReshapeEncoding(mlir::Operation *op, mlir::RankedTensorType source,
                                          mlir::RankedTensorType result);
llvm::LogicalResult verifyJoinEncoding(mlir::Operation *op, mlir::RankedTensorType part, mlir::RankedTensorType joined);

/// Reports, on `op`, dot operands whose encodings are not those of operand 0 and 1 of the accumulator's.
llvm::LogicalResult verifyDotEncodings(mlir::Operation *op, mlir::RankedTensorType a, mlir::RankedTensorType b,
                                       mlir::RankedTensorType c);

} // namespace jitk::ir::ttg
