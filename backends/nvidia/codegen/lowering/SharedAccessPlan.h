// Which instructions move a tensor between registers and a buffer.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace jitk::nvidia {

/// The element offset in the buffer that each bit of the register number, lane, warp and block moves.
struct OffsetBases {
  llvm::SmallVector<int32_t, 8> registers, lanes, warps, blocks;

  int32_t ofRegister(unsigned reg) const;
};

/// How registers group into accesses.
///
/// A vector is a run of consecutive elements of one thread, up to 16 bytes (ld.shared, st.shared). A matrix is 8 rows
/// of 16 bytes that a warp moves together (ldmatrix, stmatrix); lane `l` gives the address of row `l % 8` of matrix `l
/// / 8` and holds one 32-bit word of each matrix:
///
///     plain:       lane bits 0-1 number the words of a row, bits 2-4 the rows
///     transposed:  (16-bit elements) lane bits 2-4 number the elements of a row, bits 0-1 pairs of rows; the word's
///     two
///                  elements are neighbours along the rows
struct SharedAccessPlan {
  enum class Kind { Vector, Matrix, MatrixTransposed };

  Kind kind = Kind::Vector;
  /// Register bits that number the elements of a vector, or of a matrix word; lowest first.
  llvm::SmallVector<unsigned, 4> elementBits;
  /// Register bits that number the matrices of one instruction; at most two.
  llvm::SmallVector<unsigned, 2> matrixBits;
  /// For a matrix: the offset that each bit of the lane moves the row's address.
  llvm::SmallVector<int32_t, 5> rowBases;

  unsigned numElements() const { return 1u << elementBits.size(); }
  unsigned numMatrices() const { return 1u << matrixBits.size(); }
  /// The register of element `k` of matrix `m` in the access that begins at register `first`.
  unsigned member(unsigned first, unsigned m, unsigned k) const;
  /// The register bits that the access covers.
  uint32_t coveredBits() const;

  /// The plan with the fewest accesses. `matrices` tells whether the target has the matrix instruction and the buffer
  /// has no padding.
  static SharedAccessPlan of(const OffsetBases &bases, unsigned elementBits, bool matrices);
};

} // namespace jitk::nvidia
