// How tensor cores read a matrix in shared memory: the fields of the matrix descriptors of wgmma and tcgen05, found
// from the buffer's layout.
//
// One dimension of the operand is K; the other (M of A, N of B) is called outer. In memory, pieces of a fixed form, the
// atoms, repeat at two distances:
//
//   K-major      8 outer elements, each a row of S bytes along K (16 bytes without swizzle). Stride: to the next 8
//   rows.
//                Leading: to the next 16 bytes along K, without swizzle only; an instruction's K lies inside a swizzled
//                row.
//   outer-major  8 elements along K, each a row of S bytes of outer elements. Stride: to the next 8 along K. Leading:
//   to the
//                next S bytes of outer elements. Without swizzle the two change roles.
//
// Source: PTX ISA, "Shared memory matrix layout" and "Matrix descriptor" of wgmma and of tcgen05.

#pragma once

#include "src/ir/layout/LinearLayout.h"

namespace jitk::ir {

struct OperandDescriptor {
  bool isKMajor = true; ///< outer-major operands are transposed by the instruction; wgmma can for 16-bit elements only
  unsigned swizzleBytes = 0; ///< S: 0, 32, 64 or 128
  uint32_t leadingBytes = 0; ///< 0 where the instruction does not go there
  uint32_t strideBytes = 0;

  /// From the address to where an instruction reads outer element `outer`, a multiple of 8, of the first K.
  int64_t outerOffset(int32_t outer, unsigned elementBytes) const;
  /// The distance of atoms along K, whichever field has it.
  uint32_t bytesAlongK() const { return isKMajor || !swizzleBytes ? leadingBytes : strideBytes; }

  /// The descriptor with address 0: OR in (address >> 4) & 0x3FFF. The buffer is aligned to its swizzle pattern of 8 *
  /// S bytes.
  uint64_t encodeForWgmma() const;
  uint64_t encodeForTcgen05() const;
};

/// A buffer of rank 2 that holds an operand.
class OperandBuffer {
public:
  /// `buffer` maps offset (in elements) to dim0 and dim1; `kDim` is 0 or 1.
  OperandBuffer(const LinearLayout &buffer, unsigned elementBits, unsigned kDim);

  /// For instructions that read `outerSize` x `kSize` elements, K of 32 bytes; none if no descriptor says this layout.
  std::optional<OperandDescriptor> describe(int32_t outerSize, int32_t kSize) const;

  unsigned elementBytes() const { return elementBytes_; }

  /// From the start of the buffer to an element, in bytes. The descriptor of a tile that starts there, at a multiple of
  /// 8 rows of the atom, has this / 16 added to its address.
  int64_t byteOffset(int32_t outer, int32_t k) const;

private:
  /// By bit of the coordinate.
  llvm::SmallVector<int64_t> outerBytes_, kBytes_;
  unsigned elementBytes_;
};

} // namespace jitk::ir
