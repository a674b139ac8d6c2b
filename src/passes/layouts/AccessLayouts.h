// Layouts for accesses to global memory: neighbouring lanes touch neighbouring vectors.

#pragma once

#include "src/ir/ttg/Ttg.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace jitk::passes {

/// The largest vector, in elements, that each thread may access along dimension `dim` of a tensor of pointers.
using VectorLength = llvm::function_ref<int64_t(mlir::Value pointers, unsigned dim)>;

/// A blocked layout for a tensor of `elementBits` wide elements in which `vector` elements along `order.front()` go to
/// one thread, lanes and warps follow in `order`. Vectors are shortened until every thread has work.
ir::ttg::BlockedEncodingAttr blockedLayout(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<unsigned> order, int64_t vector, unsigned numWarps);

/// Row-major layout for values that no access and no dot shapes.
ir::ttg::BlockedEncodingAttr defaultLayout(mlir::RankedTensorType type, unsigned numWarps);

/// The coalesced layout of an access through `pointers`, vectors of up to 16 bytes.
ir::ttg::BlockedEncodingAttr coalescedLayout(mlir::Value pointers, unsigned numWarps, VectorLength vectorLength);

} // namespace jitk::passes
