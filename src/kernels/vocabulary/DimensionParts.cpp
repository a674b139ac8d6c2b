#include "src/kernels/vocabulary/DimensionParts.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace jitk::kernels {

SmallVector<DimensionPart> splitDimension(int64_t size, int64_t least, int64_t most) {
  SmallVector<DimensionPart> parts;
  int64_t covered = llvm::alignTo(size, least);
  for (int64_t offset = 0; offset < covered;) {
    int64_t part = int64_t(1) << llvm::Log2_64(std::min(covered - offset, most));
    parts.push_back({offset, part, std::min(part, size - offset)});
    offset += part;
  }
  return parts;
}

Value validColumns(KernelBuilder &b, const DimensionPart &part, int64_t rows) {
  if (part.valid == part.size) {
    return {};
  }
  return b.asRow(b.lessThan(b.range(part.size), b.splat(b.i32(part.valid), {part.size})), rows);
}

MatrixView columnsFrom(KernelBuilder &b, MatrixView matrix, const DimensionPart &part) {
  if (part.offset != 0) {
    matrix.base = b.advance(matrix.base, b.i32(part.offset));
  }
  return matrix;
}

} // namespace jitk::kernels
