// The tensors of a description at the sizes of one launch.

#pragma once

#include "src/ops/OpSchema.h"

#include <map>
#include <string>
#include <vector>

namespace jitk {

/// A contiguous row-major tensor.
struct TensorShape {
  std::string name;
  std::string dtype; ///< "fp16", "bf16", "fp32", "e4m3", "int32"
  std::vector<int64_t> sizes;
  Access access = Access::Read;

  int64_t numElements() const;
  int64_t bytes() const;
};

/// The value of each dynamic dimension of a launch, by name.
using DynamicSizes = std::map<std::string, int64_t, std::less<>>;

/// The tensors in the order in which a launch gives them. Fails with InvalidArgument, naming the dimension, if a
/// dynamic one has no size or one that breaks its rules (SizeRules.h), or if a size is for no dynamic one.
Result<std::vector<TensorShape>> tensorShapes(const Description &description, const DynamicSizes &sizes);

/// The size of a dimension or the value of an integer attribute at this launch.
Result<int64_t> sizeOf(const Description &description, std::string_view attribute, const DynamicSizes &sizes);

/// Bytes of one element of a dtype word; 0 for an unknown one.
int64_t dtypeBytes(std::string_view dtype);

} // namespace jitk
