#include "src/ir/layout/F2Span.h"

#include "llvm/ADT/bit.h"

#include <cassert>

namespace jitk::ir {

F2Span::Entry F2Span::reduce(uint64_t vector) const {
  Entry rest{vector, 0};
  for (uint64_t pending = vector; pending != 0;) {
    unsigned leading = 63 - llvm::countl_zero(pending);
    const Entry &pivot = byLeadingBit_[leading];
    if (pivot.vector != 0) {
      rest.vector ^= pivot.vector;
      rest.sources ^= pivot.sources;
    }
    pending = rest.vector & ((uint64_t(1) << leading) - 1);
  }
  return rest;
}

bool F2Span::insert(uint64_t vector) {
  assert(numInserted_ < 64 && "a span remembers at most 64 vectors");
  Entry rest = reduce(vector);
  rest.sources |= uint64_t(1) << numInserted_++;
  if (rest.vector == 0) {
    return false;
  }
  byLeadingBit_[63 - llvm::countl_zero(rest.vector)] = rest;
  ++dimension_;
  return true;
}

std::optional<uint64_t> F2Span::solve(uint64_t vector) const {
  Entry rest = reduce(vector);
  if (rest.vector != 0) {
    return std::nullopt;
  }
  return rest.sources;
}

uint64_t multiplyF2(llvm::ArrayRef<uint64_t> columns, uint64_t x) {
  uint64_t sum = 0;
  for (; x != 0; x &= x - 1) {
    sum ^= columns[llvm::countr_zero(x)];
  }
  return sum;
}

llvm::SmallVector<uint64_t> intersectF2(llvm::ArrayRef<uint64_t> a, llvm::ArrayRef<uint64_t> b) {
  llvm::SmallVector<uint64_t> common;
  F2Span span(a);
  uint64_t fromA = (uint64_t(1) << a.size()) - 1;
  for (uint64_t vector : b) {
    // A vector of b that depends on a and earlier ones of b gives one vector of both: the part that comes from a.
    if (auto sources = span.solve(vector)) {
      common.push_back(multiplyF2(a, *sources & fromA));
    }
    span.insert(vector);
  }
  return common;
}

llvm::SmallVector<uint64_t> complementF2(llvm::ArrayRef<uint64_t> vectors, unsigned numBits) {
  llvm::SmallVector<uint64_t> complement;
  F2Span span(vectors);
  for (unsigned bit = 0; bit < numBits; ++bit) {
    if (span.insert(uint64_t(1) << bit)) {
      complement.push_back(uint64_t(1) << bit);
    }
  }
  return complement;
}

} // namespace jitk::ir
