#include "src/kernels/vocabulary/TileRows.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

bool TileRows::canCut(const SharedTile &tile) {
  constexpr int64_t kTmaAlignment = 128;
  return tile.panelColumns() * tile.elementType.getIntOrFloatBitWidth() / 8 == kTmaAlignment;
}

SharedTile TileRows::pieceOf(const SharedTile &tile, int64_t rows) {
  return {rows, tile.panelColumns(), tile.elementType, /*isPart=*/true};
}

TileRows::TileRows(KernelBuilder &builder, Value slots, int64_t numSlots, const SharedTile &tile, int64_t rows)
    : builder_(builder), tile_(tile), piece_{rows, tile.panelColumns(), tile.elementType} {
  int64_t count = numSlots * numPanels() * (tile.rows / rows);
  pieces_ = ttg::MemDescReinterpretOp::create(builder, piece_.bufferType(count), slots);
}

Value TileRows::piece(Value slot, int64_t panel, Value number) const {
  KernelBuilder &b = builder_;
  Value panels = b.add(b.mul(slot, b.i32(numPanels())), b.i32(panel));
  Value index = b.add(b.mul(panels, b.i32(tile_.rows / piece_.rows)), number);
  return ttg::MemDescIndexOp::create(b, piece_.bufferType(), pieces_, index);
}

} // namespace jitk::kernels
