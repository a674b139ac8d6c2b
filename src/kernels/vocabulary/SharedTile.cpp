#include "src/kernels/vocabulary/SharedTile.h"

#include "src/ir/layout/TmaBoxes.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

static ttg::NVMMASharedEncodingAttr encodingOf(const SharedTile &tile) {
  MLIRContext *context = tile.elementType.getContext();
  return ttg::NVMMASharedEncodingAttr::get(context, {tile.rows, tile.columns}, /*order=*/{1, 0},
                                           ttg::CGAEncodingAttr::getTrivial(context, 2), tile.elementType,
                                           /*fp4Padded=*/false);
}

static TmaBoxes boxesOf(const SharedTile &tile) {
  ttg::NVMMASharedEncodingAttr encoding = encodingOf(tile);
  return planTmaBoxes({tile.rows, tile.columns}, {encoding.getSwizzlingByteWidth(), encoding.getTransposed(),
                                                  encoding.getElementBitWidth(), encoding.getFp4Padded()});
}

Attribute SharedTile::encoding() const { return encodingOf(*this); }

ttg::MemDescType SharedTile::bufferType(int64_t slots) const {
  SmallVector<int64_t> shape = {rows, columns};
  if (slots) {
    shape.insert(shape.begin(), slots);
  }
  return ttg::MemDescType::get(shape, elementType, encoding(),
                               ttg::SharedMemorySpaceAttr::get(elementType.getContext()), /*mutableMemory=*/true);
}

tt::TensorDescType SharedTile::descriptorType() const {
  return tt::TensorDescType::get(RankedTensorType::get({rows, columns}, elementType, encoding()));
}

uint32_t SharedTile::mapElementType() const {
  // CUtensorMapDataType.
  enum : uint32_t { UInt8 = 0, Float16 = 6, Float32 = 7, BFloat16 = 9 };
  if (elementType.isF16()) {
    return Float16;
  }
  if (elementType.isBF16()) {
    return BFloat16;
  }
  if (elementType.isF32()) {
    return Float32;
  }
  if (elementType.getIntOrFloatBitWidth() == 8) {
    return UInt8;
  }
  llvm_unreachable("a kernel moves no other type by TMA");
}

uint32_t SharedTile::mapSwizzle() const { return boxesOf(*this).swizzleMode; }

std::vector<uint32_t> SharedTile::mapBox() const {
  TmaBoxes boxes = boxesOf(*this);
  return {boxes.box.rbegin(), boxes.box.rend()};
}

} // namespace jitk::kernels
