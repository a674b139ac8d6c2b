// What the layouts of all encodings share: the names of their dimensions, and how the tile that an encoding describes
// is fitted to a tensor's shape and to the CTAs of a cluster.

#pragma once

#include "src/ir/layout/LinearLayout.h"

namespace jitk::ir {

inline constexpr llvm::StringLiteral kRegister = "register";
inline constexpr llvm::StringLiteral kLane = "lane";
inline constexpr llvm::StringLiteral kWarp = "warp";
inline constexpr llvm::StringLiteral kBlock = "block";
inline constexpr llvm::StringLiteral kOffset = "offset";

/// "dim0", "dim1", ..., "dim20": the output for dimension `dim` of a tensor.
llvm::StringRef dimName(unsigned dim);

/// The names of all dimensions of a tensor of that rank, in its order.
LinearLayout::Names dimNames(unsigned rank);

/// rank-1, ..., 1, 0: row-major order, fastest first.
llvm::SmallVector<unsigned> rowMajorOrder(unsigned rank);

/// Counts through a grid of `sizes`, the dimensions in `order`, fastest first. The outputs stand in that order too.
LinearLayout gridLayout(llvm::StringRef inDim, llvm::ArrayRef<unsigned> sizes, llvm::ArrayRef<unsigned> order);

/// How the CTAs of a cluster cut a tensor into pieces: `rank` numbers for each bit of the CTA's number, in pieces.
LinearLayout clusterLayout(unsigned rank, llvm::ArrayRef<int32_t> flatBases);

/// The shape of the piece that one CTA has.
llvm::SmallVector<int64_t> shapePerCta(llvm::ArrayRef<int64_t> shape, const LinearLayout &cluster);

/// Cuts `tile` to `shape` (its bases beyond become zero: broadcast), and grows it by bits of `growDim` where it is
/// smaller, dimension by dimension in the order of its outputs. The outputs of the result are dim0, dim1, ....
LinearLayout fitToShape(const LinearLayout &tile, llvm::ArrayRef<int64_t> shape, llvm::StringRef growDim);

/// Fits `tile` to the piece of one CTA and puts the pieces of the cluster together.
LinearLayout fitToCluster(const LinearLayout &tile, llvm::ArrayRef<int64_t> shape, llvm::StringRef growDim,
                          const LinearLayout &cluster);

} // namespace jitk::ir
