// How a tensor changes its layout through shared memory. The buffer's layout is made for the two layouts
// (ConversionBuffer.h), so that both sides use wide accesses and no two lanes meet in a bank where that can be avoided.

#pragma once

#include "src/ir/layout/LocalAccess.h"

namespace jitk::ir {

struct SharedConversionOptions {
  unsigned elementBits = 16; ///< as stored: 8, 16, 32 or 64
  bool hasLdmatrix = false;
  bool hasStmatrix = false;
  int64_t maxBytes = 32 * 1024; ///< a larger conversion repeats over parts of it, as far as the layouts allow
};

struct SharedConversion {
  /// For each repetition: store, barrier, load, and a barrier before the next one stores. In repetition i, register r
  /// of a step is `r ^ repetitions[i].storeXor` (`loadXor`).
  struct Repetition {
    uint32_t storeXor, loadXor;
  };

  LocalAccess store, load; ///< the load's copies are those of all repetitions and come last
  llvm::SmallVector<Repetition, 1> repetitions;
  int64_t bytes = 0;   ///< of the buffer
  LinearLayout buffer; ///< from offset (in elements), block to the tensor's dimensions, for the first repetition
};

/// None if an element leaves its CTA.
std::optional<SharedConversion> planSharedConversion(const LinearLayout &source, const LinearLayout &target,
                                                     const SharedConversionOptions &options);

} // namespace jitk::ir
