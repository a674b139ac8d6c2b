// Whose B the rows of a block-scaled fp8 matmul are multiplied with.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"
#include "src/ops/Description.h"

#include <cstdint>

namespace jitk::kernels {

enum class RowGroups : uint8_t {
  None,       ///< there is one B
  Contiguous, ///< each row names its group, and runs of one group begin at multiples of kRowsOfRun
  Masked,     ///< each group has m rows, of which the first few are valid
};

/// No tile of so many rows has rows of two groups.
inline constexpr int64_t kRowsOfRun = 128;

inline RowGroups rowGroupsOf(const Description &description) {
  if (description.op() != "grouped_fp8_block_matmul") {
    return RowGroups::None;
  }
  return description.flag("masked") ? RowGroups::Masked : RowGroups::Contiguous;
}

/// Whether a row that names its group so has one.
inline mlir::Value isGroup(KernelBuilder &b, mlir::Value named) {
  return b.both(b.lessEqual(b.i32(0), named), b.lessThan(named, b.size("groups")));
}

} // namespace jitk::kernels
