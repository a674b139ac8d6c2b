// Sums over the CTAs of a cluster, through distributed shared memory: each CTA has a part of a sum in registers, and
// each is to have a slice of the whole.
//
//             CTA 0             CTA 1             CTA 2
//    parts    | a | b | c |     | a | b | c |     | a | b | c |      a, b, c: slices of columns
//
//    hand over: slice r goes into a slot of CTA r, one for each sender;  all CTAs meet
//
//    slots    | a | a | a |     | b | b | b |     | c | c | c |
//    add up   a + a + a         b + b + b         c + c + c          in the order of the senders' ranks
//
// Nothing goes through global memory, and the order is fixed, so that equal inputs give equal bits. A tile of few
// columns has fewer slices than there are CTAs: the others have nothing to add up.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"
#include "src/kernels/vocabulary/SharedTile.h"

namespace jitk::kernels {

class ClusterSum {
public:
  /// For one fp32 tile of `rows` x `columns` in `numSlices` slices: a power of two, at most the cluster's CTAs. A slice
  /// is stored and added up `transposed`, as [columns, rows], where that is how results lie in memory. Before the
  /// roles.
  ClusterSum(KernelBuilder &builder, int64_t rows, int64_t columns, int64_t numSlices, bool transposed);

  int64_t sliceColumns() const { return columns_ / numSlices_; }

  /// In a role: the CTA's part of the sum, once. What is handed over is there when the roles have ended.
  void handOver(mlir::Value part) const;
  /// After the roles: runs `body` with this CTA's slice of the sum, [rows, sliceColumns()] or transposed, in each CTA
  /// that has one; slice r is that of the CTA of rank r.
  void addUp(llvm::function_ref<void(mlir::Value sum)> body) const;

private:
  mlir::Value slot(mlir::Value sender) const;

  KernelBuilder &b;
  int64_t columns_, numSlices_;
  bool transposed_;
  SharedTile slice_;
  mlir::Value slots_; ///< [CTAs, rows and columns of a slice]
};

} // namespace jitk::kernels
