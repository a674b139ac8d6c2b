#include "src/passes/buffers/SharedContiguity.h"

#include "src/ir/layout/EncodingLayouts.h"

namespace jitk::passes {
using namespace jitk::ir;

int64_t sharedContiguity(ttg::MemDescType buffer, unsigned dim) {
  LinearLayout layout = toLinearLayout(buffer);
  // Leading dimensions that the encoding does not place count copies, which lie apart.
  unsigned unplaced = buffer.getRank() - layout.getNumOutDims();
  if (dim < unplaced) {
    return 1;
  }
  llvm::ArrayRef<LinearLayout::Basis> bases = layout.getBases("offset");
  auto isUnit = [&](unsigned bit) {
    LinearLayout::Basis unit(layout.getNumOutDims(), 0);
    unit[dim - unplaced] = 1 << bit;
    return bases[bit] == unit;
  };
  unsigned bits = 0;
  while (bits < bases.size() && isUnit(bits)) {
    ++bits;
  }
  // A swizzle that moves single elements breaks runs: all other bits must leave the low ones alone.
  for (const LinearLayout::Basis &basis : bases.drop_front(bits)) {
    while (basis[dim - unplaced] & ((1 << bits) - 1)) {
      --bits;
    }
  }
  return std::min(int64_t(1) << bits, buffer.getDimSize(dim));
}

} // namespace jitk::passes
