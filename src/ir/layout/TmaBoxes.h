// How one bulk tensor copy (TMA) of a CTA's tile is cut into messages.
//
// A message moves one box, at most 256 elements in each dimension and, where the buffer is swizzled, one panel along
// the contiguous one. The box, the swizzle and the element type are part of the tensor map; all messages of a copy
// share it.

#pragma once

#include "src/ir/layout/SharedLayouts.h"

namespace jitk::ir {

struct TmaBoxes {
  struct Message {
    llvm::SmallVector<int32_t> start; ///< the box's first element in the tile, outermost dimension first
    int64_t byteOffset;               ///< and where it lies in the buffer
  };

  llvm::SmallVector<int64_t> box; ///< in elements, outermost dimension first
  llvm::SmallVector<Message, 4> messages;
  unsigned swizzleMode = 0; ///< of the tensor map: 0 none, 1, 2, 3 for 32, 64, 128 bytes
  int64_t boxBytes = 0;     ///< in shared memory
};

/// For a tile of `shape` elements of one CTA.
TmaBoxes planTmaBoxes(llvm::ArrayRef<int64_t> shape, const NvmmaParameters &nvmma);

/// CU_TENSOR_MAP_SWIZZLE of the tensor map for rows of so many bytes.
unsigned tmaSwizzleMode(unsigned swizzleBytes);

} // namespace jitk::ir
