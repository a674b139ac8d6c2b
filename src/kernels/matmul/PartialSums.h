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

/// Declares a region of the workspace for each variant whose K is split; they share their place.
void declarePartialSums(KernelSignature &signature, llvm::ArrayRef<ProductShapes> variants);

/// Adds the step that sums what the step of `shapes` left. `isChosen` is 1 where the launch takes that variant, else 0.
void addPartialSums(KernelProgram &program, const KernelSignature &signature, llvm::StringRef symbol,
                    const Expression &isChosen, const ProductShapes &shapes, const Epilogue &epilogue);

} // namespace jitk::kernels
