// The layouts of buffers in shared memory, from the parameters of their encodings: from the offset in elements, and the
// CTA, to the element that is stored there.
//
// Inputs are offset, block; outputs dim0, dim1, .... The address of an element is the (pseudo-)inverse.

#pragma once

#include "src/ir/layout/ShapeFit.h"

namespace jitk::ir {

/// Rows along order[1] of columns along order[0]: vectors of `vec` elements of row r are permuted by XOR with
/// (r / perPhase) % maxPhase.
struct SwizzledParameters {
  unsigned vec, perPhase, maxPhase;
  llvm::ArrayRef<unsigned> order; ///< fastest first
};

/// Panels as TMA writes and wgmma reads them.
struct NvmmaParameters {
  unsigned swizzleBytes; ///< 0, 32, 64 or 128: the bytes of a panel's row
  bool isTransposed;     ///< the first dimension is contiguous, not the last
  unsigned elementBits;  ///< 8, 16 or 32
  bool isFp4Padded;      ///< 8 bytes of packed fp4, then 8 bytes of padding

  unsigned perPhase() const { return 128 / swizzleBytes; } ///< rows that share a phase; requires a swizzle
  unsigned maxPhase() const { return swizzleBytes / 16; }
  unsigned vec() const { return 128 / elementBits; } ///< elements of 16 bytes
};

LinearLayout swizzledSharedLayout(llvm::ArrayRef<int64_t> shape, const SwizzledParameters &swizzle,
                                  const LinearLayout &cluster);

LinearLayout nvmmaSharedLayout(llvm::ArrayRef<int64_t> shape, const NvmmaParameters &nvmma,
                               const LinearLayout &cluster);

/// The box that one TMA message moves, for a CTA's piece of that shape, in elements as stored in the tensor: the
/// contiguous dimension is one panel wide, none is larger than 256.
llvm::SmallVector<int64_t> tmaBoxShape(llvm::ArrayRef<int64_t> shapePerCta, const NvmmaParameters &nvmma);

} // namespace jitk::ir
