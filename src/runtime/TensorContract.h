// TensorContract: what the tensors of a launch must be, where the caller says what they are.

#pragma once

#include "src/ops/Description.h"
#include "src/runtime/Recipe.h"
#include "src/support/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jitk {

/// A tensor as its owner sees it. Strides count elements; null means contiguous and row major.
struct TensorView {
  std::string_view dtype; ///< a word of the schemas; anything else where it has none
  std::span<const int64_t> sizes;
  const int64_t *strides = nullptr;
};

/// Immutable; checking allocates nothing unless it fails.
class TensorContract {
public:
  TensorContract() = default;
  /// For a launch that gives `tensors` and `dimensions` in this order. Of an op without a schema nothing is known.
  TensorContract(const Description &description, const std::vector<std::string> &tensors,
                 const std::vector<std::string> &dimensions);

  /// Whether there is anything to check by.
  bool known() const { return known_; }

  /// Reads the dynamic dimensions off the shapes. Fails with InvalidArgument for one that no shape tells.
  Status readDimensions(std::span<const TensorView> tensors, std::span<int64_t> dimensions) const;
  /// Fails with InvalidArgument, naming the tensor and what of it is wrong: type, rank, size, stride.
  Status check(std::span<const TensorView> tensors, std::span<const int64_t> dimensions) const;

private:
  struct Extent {
    int dimension; ///< -1: none, the extent is `addend`
    int64_t divisor, addend;
    int64_t at(std::span<const int64_t> dimensions) const {
      return dimension < 0 ? addend : (dimensions[static_cast<size_t>(dimension)] + divisor - 1) / divisor + addend;
    }
  };
  struct Form {
    std::string name, dtype;
    std::vector<Extent> extents; ///< as it lies in memory
    bool transposed;
    size_t rowAxes;
    int64_t rowStride, pageStride; ///< elements; 0: as what lies within them
  };
  static Status checkTensor(const Form &form, const TensorView &view, std::span<const int64_t> dimensions);

  bool known_ = false;
  std::vector<Form> forms_;
  std::vector<std::string> dimensions_;
};

/// More axes than any tensor has.
inline constexpr size_t kMaximalRank = 8;

} // namespace jitk
