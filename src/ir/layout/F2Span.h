// Linear algebra over F2. A vector is a 64-bit word, addition is XOR; a matrix is the array of its columns.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <optional>

namespace jitk::ir {

/// The subspace that a growing list of vectors spans. Remembers which of them combine to what.
class F2Span {
public:
  F2Span() = default;
  explicit F2Span(llvm::ArrayRef<uint64_t> vectors) {
    for (uint64_t vector : vectors) {
      insert(vector);
    }
  }

  /// Adds the next vector of the list. False if it lay in the span already; then no solution ever uses it. At most 64.
  bool insert(uint64_t vector);

  bool contains(uint64_t vector) const { return reduce(vector).vector == 0; }

  /// The inserted vectors (bit i: the i-th) whose sum is `vector`; none if it lies outside the span.
  std::optional<uint64_t> solve(uint64_t vector) const;

  unsigned dimension() const { return dimension_; }

private:
  /// A vector and the inserted vectors that it was made from.
  struct Entry {
    uint64_t vector = 0;
    uint64_t sources = 0;
  };

  Entry reduce(uint64_t vector) const;

  std::array<Entry, 64> byLeadingBit_;
  unsigned numInserted_ = 0;
  unsigned dimension_ = 0;
};

/// The product of the matrix with the vector `x`: the sum of the columns that the bits of `x` select.
uint64_t multiplyF2(llvm::ArrayRef<uint64_t> columns, uint64_t x);

/// Vectors that span the intersection of two subspaces. Each list must be independent.
llvm::SmallVector<uint64_t> intersectF2(llvm::ArrayRef<uint64_t> a, llvm::ArrayRef<uint64_t> b);

/// Those unit vectors of `numBits` dimensions that complete `vectors` to a basis.
llvm::SmallVector<uint64_t> complementF2(llvm::ArrayRef<uint64_t> vectors, unsigned numBits);

} // namespace jitk::ir
