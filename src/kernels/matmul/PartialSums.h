// The second step of a product whose K is split: the parts' sums added up, in their order, and made into C.
//
//     partial sums [splits, padded rows, n] in the workspace, fp32
//       part 0 | part 1 | part 2 | ...        ->  part 0 + part 1 + ... -> epilogue -> C
//
// The order is fixed, so that equal inputs give equal bits.

#pragma once

#include "src/kernels/matmul/Epilogue.h"
#include "src/kernels/matmul/PersistentProduct.h"

namespace jitk::kernels {

/// A rectangle of C whose sums are there in registers: fp32, [rows, columns].
class SumRegion {
public:
  /// One side of it: from `first` (i32) on `count` rows or columns, all of which are known to lie inside of C or not.
  struct Side {
    mlir::Value first;
    int64_t count;
    bool isInside;
  };
  SumRegion(KernelBuilder &builder, const Side &rows, const Side &columns);

  const mlir::Value &rows() const { return rows_; }
  const mlir::Value &columns() const { return columns_; }
  /// Which elements lie inside of C; null = all.
  mlir::Value mask() const { return mask_; }
  /// Makes C of the sums.
  void store(mlir::Value sum, const Epilogue &epilogue, mlir::Type outputType) const;

private:
  KernelBuilder &b;
  int64_t numRows_;
  mlir::Value rows_, columns_; ///< vectors, i32
  mlir::Value inColumns_, mask_;
};

/// Declares a region of the workspace for each variant whose K is split; they share their place.
void declarePartialSums(KernelSignature &signature, llvm::ArrayRef<ProductShapes> variants);

/// Adds the step that sums what the step of `shapes` left. `isChosen` is 1 where the launch takes that variant, else 0.
void addPartialSums(KernelProgram &program, const KernelSignature &signature, llvm::StringRef symbol,
                    const Expression &isChosen, const ProductShapes &shapes, const Epilogue &epilogue);

} // namespace jitk::kernels
