// Finds the register that holds an element of a tensor-core fragment.

#pragma once

#include "backends/nvidia/codegen/lowering/TensorLayout.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace jitk::nvidia {

/// The registers of a two-dimensional tensor by their coordinate in thread 0. Every instruction of a dot finds its
/// operands here, whatever the order of the registers.
class FragmentIndex {
public:
  explicit FragmentIndex(const TensorLayout &layout);

  /// The register at (row, column); none if no register of a thread lies there.
  std::optional<unsigned> find(int32_t row, int32_t column) const;

  /// The distinct coordinates of the registers along `dim` whose bits in `inside` are zero: where the tiles of an
  /// instruction begin. Ascending.
  llvm::SmallVector<int32_t> origins(unsigned dim, int32_t inside) const;

private:
  llvm::DenseMap<std::pair<int32_t, int32_t>, unsigned> registers_;
};

} // namespace jitk::nvidia
