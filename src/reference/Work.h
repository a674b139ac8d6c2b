// What a problem must do at least, whatever kernel does it.

#pragma once

#include "src/ops/Description.h"
#include "src/ops/TensorShape.h"
#include "src/reference/Instance.h"

#include <cstdint>

namespace jitk::reference {

/// Operations of the tensor cores, and bytes of tensors: inputs read once, outputs written once; of a cache in pages
/// the rows of sequences whose lengths are given, of masked groups the valid rows.
struct Work {
  double flops = 0, bytes = 0, peakFlops = 0;
  /// Microseconds below which no kernel runs on an H200 at its nominal rates: 989 TFLOP/s (twice that in fp8), 4.8
  /// TB/s.
  double roof() const;
  bool isBoundByMemory() const; ///< there
};

/// Fails where a dynamic dimension has no size.
Result<Work> workOf(const Description &description, const DynamicSizes &sizes, const GivenValues &values);

/// Of a masked grouped product: the first rows of each group that count, as many as are expected.
int64_t validRowsOfGroup(const Description &description, const DynamicSizes &sizes);

} // namespace jitk::reference
