#include "backends/nvidia/codegen/lowering/MatrixDescriptor.h"

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

std::optional<MatrixDescriptor> MatrixDescriptor::of(ttg::MemDescType type) {
  auto encoding = dyn_cast<ttg::NVMMASharedEncodingAttr>(type.getEncoding());
  if (!encoding || encoding.getSwizzlingByteWidth() == 0 || type.getRank() != 2) {
    return std::nullopt;
  }
  unsigned contiguousDim = encoding.getTransposed() ? 0 : 1;
  int32_t pattern = int32_t(encoding.getSwizzlingByteWidth() * 8 / encoding.getElementBitWidth());
  if (type.getShape()[contiguousDim] < pattern) {
    return std::nullopt;
  }
  MatrixDescriptor result{BufferLayout(type)};
  result.contiguousDim_ = contiguousDim;

  // A distance that the buffer does not have is not read.
  auto distance = [&](unsigned dim, int32_t coordinate) -> uint64_t {
    if (coordinate >= type.getShape()[dim]) {
      return 0;
    }
    return dim == 0 ? result.offset(coordinate, 0) : result.offset(0, coordinate);
  };
  uint64_t stride = distance(1 - result.contiguousDim_, 8);
  uint64_t leading = distance(result.contiguousDim_, pattern);
  result.base_ = ((leading >> 4) & 0x3FFF) << 16 | ((stride >> 4) & 0x3FFF) << 32 |
                 swizzleField(encoding.getSwizzlingByteWidth()) << 62;
  return result;
}

int32_t MatrixDescriptor::offset(int32_t row, int32_t column) const {
  return layout_.offset({row, column}) * int32_t(layout_.elementBytes());
}

} // namespace jitk::nvidia
