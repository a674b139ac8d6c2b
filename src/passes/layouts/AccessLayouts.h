// Layouts for accesses to global memory: neighbouring lanes touch neighbouring vectors.

#pragma once

#include "src/ir/ttg/Ttg.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace jitk::passes {

/// The largest vector, in elements, that each thread may access along dimension `dim` of a tensor of pointers.
using VectorLength = llvm::function_ref<int64_t(mlir::Value pointers, unsigned dim)>;

/// What the layout of an access follows from.
struct AccessShape {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<unsigned> order; ///< dimensions, the one with the longest vectors first
  int64_t vector;                    ///< elements, at most 16 bytes of them
  int64_t word;                      ///< elements that a thread has at least, if there are so many: 4 bytes
  int numWarps;                      ///< that run the access

  static AccessShape of(mlir::Value pointers, VectorLength vectorLength);

  /// A blocked layout in which `vector` elements along `order.front()` go to one thread, and lanes and warps follow in
  /// `order`. Vectors are shortened until every thread has work, but not below `word`.
  ir::ttg::BlockedEncodingAttr layout(mlir::MLIRContext *context) const;
};

/// Row-major layout in vectors of 16 bytes, for a tensor that no access and no dot shapes.
ir::ttg::BlockedEncodingAttr defaultLayout(mlir::RankedTensorType type, int numWarps);
ir::ttg::BlockedEncodingAttr defaultLayout(mlir::Value tensor);

/// The warps that run the op or block that makes `value`.
int numWarpsOf(mlir::Value value);

} // namespace jitk::passes
