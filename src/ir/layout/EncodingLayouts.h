// From encodings to linear layouts, and what follows from them. The one place that knows kinds of encodings: all others
// ask the layout.
//
// Tensors: inputs register, lane, warp, block. Buffers: inputs offset (in elements, from the start of the buffer),
// block. Outputs dim0, dim1, ....

#pragma once

#include "src/ir/layout/ShapeFit.h"
#include "src/ir/ttg/Ttg.h"

namespace jitk::ir {

/// The layout of a tensor, or a buffer, of that shape. The shape has the encoding's rank. The linear part of a padded
/// encoding.
LinearLayout toLinearLayout(llvm::ArrayRef<int64_t> shape, mlir::Attribute encoding);

/// The type must have an encoding.
LinearLayout toLinearLayout(mlir::RankedTensorType type);

/// The layout of the allocation that the buffer is a view of, without leading dimensions that its encoding does not
/// place (copies of a multi-buffered allocation, one after the other).
LinearLayout toLinearLayout(ttg::MemDescType type);

/// Whether a tensor of that shape has every element in the same places under both encodings.
bool areLayoutsEquivalent(llvm::ArrayRef<int64_t> shape, mlir::Attribute a, mlir::Attribute b);

/// A layout from bases as encodings store them, `rank` numbers each; its outputs are as large as the bases reach.
LinearLayout layoutOfBases(unsigned rank, llvm::ArrayRef<std::pair<llvm::StringRef, llvm::ArrayRef<int32_t>>> inputs);

/// The encoding whose layout is `layout`, for tensors of the layout's own shape.
ttg::LinearEncodingAttr getLinearEncoding(mlir::MLIRContext *context, const LinearLayout &layout);
ttg::SharedLinearEncodingAttr getSharedLinearEncoding(mlir::MLIRContext *context, const LinearLayout &layout,
                                                      unsigned alignment);

/// The number of registers of a thread that hold elements of a tensor; 1 for a scalar.
unsigned getTotalElemsPerThread(mlir::Type type);

/// For each dimension, how many elements that follow each other along it a thread holds, counted from the first.
llvm::SmallVector<unsigned> getContigPerThread(mlir::RankedTensorType type);

/// The dimensions of a tensor by how fast they change with the registers of a thread, fastest first; those that do not
/// change follow in row-major order.
llvm::SmallVector<unsigned> getRegisterOrder(mlir::RankedTensorType type);

/// Threads, and warps, over which the layout spreads a tensor, counting those that hold copies.
unsigned getNumLanes(mlir::RankedTensorType type);
unsigned getNumWarps(mlir::RankedTensorType type);

/// The bits of each input that tell copies of one element apart. A register, lane, warp or block with such a bit set
/// holds only what another one, without the bit, holds too: it sits out stores and atomics.
struct CopyMasks {
  uint32_t registers, lanes, warps, blocks;
};
CopyMasks getCopyMasks(const LinearLayout &layout);

} // namespace jitk::ir
