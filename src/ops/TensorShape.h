// The tensors of a description at the sizes of one launch.

#pragma once

#include "src/ops/OpSchema.h"
#include "src/ops/Scalar.h"

#include <map>
#include <string>
#include <vector>

namespace jitk {

/// A row-major tensor, contiguous unless its rows or pages of them lie apart.
struct TensorShape {
  std::string name;
  std::string dtype; ///< "fp16", "bf16", "fp32", "e4m3", "int32"
  std::vector<int64_t> sizes;
  Access access = Access::Read;
  int64_t rowSize = 0, rowStride = 0;   ///< elements of a row, and from one to the next; 0, 0: contiguous
  int64_t pageRows = 0, pageStride = 0; ///< rows of a page, and elements from one to the next; 0, 0: no page is apart

  int64_t numElements() const;
  int64_t bytes() const;
  /// Where that row begins, in elements; of a tensor that is not contiguous.
  int64_t rowBegin(int64_t row) const;
  /// From its first byte to its last, with what lies between its rows and pages.
  int64_t span() const;
};

/// One extent of a tensor: ceil(size / divisor) + addend, where the size is that of a dynamic dimension, or a number.
struct Extent {
  std::string dimension; ///< empty: none, the extent is `addend`
  int64_t divisor = 1;
  int64_t addend = 0;
};

/// The extent that an expression of a schema stands for ("m", "batch+1", "ceil(k/128)"), folded as far as it is static.
Extent extentOf(std::string_view expression, const Description &description);

/// A tensor of a description, whatever the sizes of a launch.
struct TensorForm {
  std::string name;
  std::string dtype;
  std::vector<Extent> extents; ///< as it lies in memory, row major
  bool transposed = false;     ///< its view as the op's formula has it is the transpose of that
  size_t rowAxes = 1;          ///< the last ones, which are contiguous
  int64_t rowStride = 0;       ///< elements from one row to the next; 0: a row's length
  int64_t pageStride = 0;      ///< elements from one index of the axis before the rows' to the next; 0: its rows'
};

/// The tensors in the order in which a launch gives them. Fails with InvalidArgument for an op that there is not.
Result<std::vector<TensorForm>> tensorForms(const Description &description);

/// The scalars in the order in which a launch gives them. Fails as `tensorForms`.
Result<std::vector<ScalarForm>> scalarForms(const Description &description);

/// The value of each dynamic dimension of a launch, by name.
using DynamicSizes = std::map<std::string, int64_t, std::less<>>;

/// The tensors in the order in which a launch gives them. Fails with InvalidArgument, naming the dimension, if a
/// dynamic one has no size or one that breaks its rules (SizeRules.h), or if a size is for no dynamic one.
Result<std::vector<TensorShape>> tensorShapes(const Description &description, const DynamicSizes &sizes);

/// The size of a dimension or the value of an integer attribute at this launch.
Result<int64_t> sizeOf(const Description &description, std::string_view attribute, const DynamicSizes &sizes);

/// Bytes of one element of a dtype word; 0 for an unknown one.
int64_t dtypeBytes(std::string_view dtype);
/// All such words, with commas between.
std::string dtypeNames();

} // namespace jitk
