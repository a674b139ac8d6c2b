// Lists of problems, and what each must do at least.

#pragma once

#include "src/ops/Description.h"
#include "src/ops/TensorShape.h"

#include <string>
#include <vector>

namespace jitk::perf {

/// One line of a list: a description as `jitk run` takes it, then name:size for each dynamic dimension. Comments begin
/// with '#'.
///
///     matmul m=* n=4096 k=7168 b_layout=col  m:100
struct Problem {
  std::string text; ///< without the sizes
  Description description;
  DynamicSizes sizes;

  int64_t size(std::string_view attribute) const; ///< of a dimension, or the value of an integer attribute
};

/// Throws std::runtime_error, with file and line, for what cannot be read.
std::vector<Problem> readProblems(const std::string &file);

/// Operations of the tensor cores, and bytes of tensors: inputs read once, outputs written once.
struct Work {
  double flops = 0, bytes = 0, peakFlops = 0;
  /// Microseconds below which no kernel runs on an H200 at its nominal rates: 989 TFLOP/s (twice that in fp8), 4.8
  /// TB/s.
  double roof() const;
};
Work workOf(const Problem &problem);

} // namespace jitk::perf
