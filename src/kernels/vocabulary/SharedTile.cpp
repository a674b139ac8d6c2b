#include "src/kernels/vocabulary/SharedTile.h"

#include "src/ir/layout/TmaBoxes.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

/// The shape of a tile as a block of a tensor of `rank` dimensions.
static SmallVector<int64_t> blockShape(const SharedTile &tile, unsigned rank) {
  SmallVector<int64_t> shape(rank - 2, 1);
  shape.append({tile.rows, tile.columns});
  return shape;
}

/// The rows of a swizzle pattern.
static constexpr int64_t kPatternRows = 8;

/// The tile whose swizzle it has.
static SharedTile pattern(SharedTile tile) {
  tile.rows = tile.isPart ? std::max(tile.rows, kPatternRows) : tile.rows;
  return tile;
}

static ttg::NVMMASharedEncodingAttr encodingOf(const SharedTile &tile, unsigned rank = 2) {
  MLIRContext *context = tile.elementType.getContext();
  SmallVector<unsigned> order = llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, rank)));
  return ttg::NVMMASharedEncodingAttr::get(context, blockShape(pattern(tile), rank), order,
                                           ttg::CGAEncodingAttr::getTrivial(context, rank), tile.elementType,
                                           /*fp4Padded=*/false);
}

static TmaBoxes boxesOf(const SharedTile &tile) {
  ttg::NVMMASharedEncodingAttr encoding = encodingOf(tile);
  TmaBoxes boxes =
      planTmaBoxes({pattern(tile).rows, tile.columns}, {encoding.getSwizzlingByteWidth(), encoding.getTransposed(),
                                                        encoding.getElementBitWidth(), encoding.getFp4Padded()});
  boxes.box.front() = std::min(boxes.box.front(), tile.rows);
  return boxes;
}

Attribute SharedTile::encoding() const {
  // A buffer of fewer rows than a pattern is not swizzled by itself.
  return encodingOf({rows, columns, elementType});
}

int64_t SharedTile::panelColumns() const { return boxesOf(*this).box.back(); }

ttg::MemDescType SharedTile::bufferType(int64_t slots) const {
  SmallVector<int64_t> shape = {rows, columns};
  if (slots) {
    shape.insert(shape.begin(), slots);
  }
  return ttg::MemDescType::get(shape, elementType, encoding(),
                               ttg::SharedMemorySpaceAttr::get(elementType.getContext()), /*mutableMemory=*/true);
}

tt::TensorDescType SharedTile::descriptorType(unsigned rank) const {
  return tt::TensorDescType::get(RankedTensorType::get(blockShape(*this, rank), elementType, encodingOf(*this, rank)));
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

std::vector<uint32_t> SharedTile::mapBox(unsigned rank) const {
  TmaBoxes boxes = boxesOf(*this);
  std::vector<uint32_t> box(boxes.box.rbegin(), boxes.box.rend());
  box.resize(rank, 1);
  return box;
}

} // namespace jitk::kernels
