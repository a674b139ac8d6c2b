// Layouts of buffers in shared memory.

#pragma once

#include "src/ir/ttg/Ttg.h"

namespace jitk::passes {

/// Elements in `order`, fastest first, without swizzle.
ir::ttg::SwizzledSharedEncodingAttr plainSharedLayout(mlir::MLIRContext *context, llvm::ArrayRef<unsigned> order);

/// For a buffer between registers and global memory: vectors of 16 bytes swizzled over the rows of `shape`, so that a
/// column of vectors touches every bank once. Plain for other ranks than 2 and for rows that one vector fills.
ir::ttg::SwizzledSharedEncodingAttr stagingSharedLayout(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                                                        llvm::ArrayRef<unsigned> order);

/// For an operand of a dot: what the target's tensor cores read without bank conflicts. On sm_90 panels that wgmma
/// descriptors can say, where a row fills the narrowest of them; else rows as ldmatrix reads them.
mlir::Attribute dotOperandSharedLayout(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                                       llvm::ArrayRef<unsigned> order, unsigned capability);

} // namespace jitk::passes
