// Lists of problems, and what each must do at least.

#pragma once

#include "src/ops/Description.h"
#include "src/ops/TensorShape.h"
#include "src/reference/Instance.h"
#include "src/reference/Work.h"

#include <string>
#include <vector>

namespace jitk::perf {

/// One line of a list: a description as `jitk run` takes it, then name:size for each dynamic dimension, and
/// name:value,... for an integer input that is not to be drawn, where first..last/step says several values. Comments
/// begin with '#'.
///
///     matmul m=* n=4096 k=7168 b_layout=col  m:100
///     mla_decode batch=4 heads=128 max_kv=320 num_pages=32  seq_lens:128,256..320/64,320
struct Problem {
  std::string text, line; ///< the description; all of it
  Description description;
  DynamicSizes sizes;
  reference::GivenValues values;

  int64_t size(std::string_view attribute) const; ///< of a dimension, or the value of an integer attribute
};

/// Throws std::runtime_error, with file and line, for what cannot be read.
std::vector<Problem> readProblems(const std::string &file);

/// Of a masked grouped product: the first rows of each group that count, as many as are expected.
int64_t validRowsOfGroup(const Problem &problem);

using reference::Work;
Work workOf(const Problem &problem);

} // namespace jitk::perf
