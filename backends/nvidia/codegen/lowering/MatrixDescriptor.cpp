#include "backends/nvidia/codegen/lowering/MatrixDescriptor.h"

#include "src/ir/layout/EncodingLayouts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace jitk::nvidia {
using namespace jitk::ir;

static uint64_t swizzleField(unsigned bytes) {
  switch (bytes) {
  case 128:
    return 1;
  case 64:
    return 2;
  default:
    return 3;
  }
}

/// The byte offset that each bit of the coordinate along `dim` adds.
static SmallVector<int32_t> bitOffsets(const LinearLayout &placement, ArrayRef<int64_t> shape, unsigned dim,
                                       int32_t elementBytes) {
  SmallVector<int32_t> offsets;
  for (int32_t bit = 1; bit < shape[dim]; bit *= 2) {
    int32_t row = dim == 0 ? bit : 0, column = dim == 1 ? bit : 0;
    offsets.push_back(placement.apply({{"dim0", row}, {"dim1", column}}).front().second * elementBytes);
  }
  return offsets;
}

static int32_t combine(ArrayRef<int32_t> offsets, int32_t coordinate) {
  int32_t result = 0;
  for (auto [bit, offset] : llvm::enumerate(offsets)) {
    result ^= (coordinate >> bit & 1) ? offset : 0;
  }
  return result;
}

std::optional<MatrixDescriptor> MatrixDescriptor::of(ttg::MemDescType type) {
  auto encoding = dyn_cast<ttg::NVMMASharedEncodingAttr>(type.getEncoding());
  if (!encoding || encoding.getSwizzlingByteWidth() == 0 || type.getRank() != 2) {
    return std::nullopt;
  }
  MatrixDescriptor result;
  LinearLayout placement = toLinearLayout(type).pseudoinvert();
  int32_t elementBytes = encoding.getElementBitWidth() / 8;
  result.rowOffsets_ = bitOffsets(placement, type.getShape(), 0, elementBytes);
  result.columnOffsets_ = bitOffsets(placement, type.getShape(), 1, elementBytes);
  result.contiguousDim_ = encoding.getTransposed() ? 0 : 1;

  int32_t pattern = encoding.getSwizzlingByteWidth() / elementBytes;
  auto beyond = [&](unsigned dim, int32_t coordinate) {
    const SmallVector<int32_t> &offsets = dim == 0 ? result.rowOffsets_ : result.columnOffsets_;
    return coordinate < type.getShape()[dim] ? combine(offsets, coordinate) : 0;
  };
  uint64_t stride = beyond(1 - result.contiguousDim_, 8);
  uint64_t leading = beyond(result.contiguousDim_, pattern);
  result.base_ = ((leading >> 4) & 0x3FFF) << 16 | ((stride >> 4) & 0x3FFF) << 32 |
                 swizzleField(encoding.getSwizzlingByteWidth()) << 62;
  return result;
}

int32_t MatrixDescriptor::offset(int32_t row, int32_t column) const {
  return combine(rowOffsets_, row) ^ combine(columnOffsets_, column);
}

} // namespace jitk::nvidia
