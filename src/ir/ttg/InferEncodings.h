// Which encoding a change of shape gives, so that no element moves between threads or in shared memory.
//
// Each `infer` takes and gives a null encoding for a tensor without one, and fails where the encoding does not allow
// the change of shape. Where a blocked (or swizzled, or nvmma_shared) encoding can say the result, it does; else a
// linear one does.

#pragma once

#include "src/ir/ttg/Ttg.h"

namespace jitk::ir::ttg {

/// After a reduction along `axis`: the slice.
mlir::Attribute inferReduceEncoding(mlir::Attribute operand, unsigned axis);

/// After a dimension of size 1 is inserted at `axis`: the parent of a slice along it.
llvm::FailureOr<mlir::Attribute> inferExpandDimsEncoding(mlir::Attribute operand, unsigned axis);

/// After a permutation of the dimensions.
mlir::Attribute inferTransEncoding(llvm::ArrayRef<int64_t> shape, mlir::Attribute operand,
                                   llvm::ArrayRef<int32_t> order);

/// After a reshape of `shape` to `target`.
mlir::Attribute inferReshapeEncoding(llvm::ArrayRef<int64_t> shape, mlir::Attribute operand,
                                     llvm::ArrayRef<int64_t> target);

/// After two tensors of `shape` are joined along a new minor dimension.
mlir::Attribute inferJoinEncoding(llvm::ArrayRef<int64_t> shape, mlir::Attribute operand);

/// After a tensor of `shape` is split along its minor dimension of size 2. Fails if the halves are not in one thread.
llvm::FailureOr<mlir::Attribute> inferSplitEncoding(llvm::ArrayRef<int64_t> shape, mlir::Attribute operand);

/// After the fp4 pairs of a tensor of `shape` are unpacked along `axis`.
mlir::Attribute inferFp4ToFpEncoding(llvm::ArrayRef<int64_t> shape, mlir::Attribute operand, unsigned axis);

/// The type of a buffer seen with permuted dimensions, or in another shape. The encoding must have the buffer's rank.
/// Fails where no encoding says the result.
llvm::FailureOr<MemDescType> inferTransType(MemDescType source, llvm::ArrayRef<int32_t> order);
llvm::FailureOr<MemDescType> inferReshapeType(MemDescType source, llvm::ArrayRef<int64_t> shape);

/// Reports, on `op`, a tensor of `shape` whose encoding places elements otherwise than `expected`. Both may be null.
llvm::LogicalResult verifyEncoding(mlir::Operation *op, llvm::ArrayRef<int64_t> shape, mlir::Attribute expected,
                                   mlir::Attribute found);

/// Reports, on `op`, dot operands whose encodings are not those of operand 0 and 1 of the accumulator's.
llvm::LogicalResult verifyDotEncodings(mlir::Operation *op, mlir::RankedTensorType a, mlir::RankedTensorType b,
                                       mlir::RankedTensorType c);

} // namespace jitk::ir::ttg
