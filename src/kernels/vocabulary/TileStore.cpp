#include "src/kernels/vocabulary/TileStore.h"

#include "src/ir/ttng/Ttng.h"

#include <algorithm>

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

SharedTile TileStore::sliceOf(const SharedTile &tile) {
  constexpr int64_t kRowBits = 1024;
  int64_t columns = kRowBits / tile.elementType.getIntOrFloatBitWidth();
  return {tile.rows, std::min(tile.columns, columns), tile.elementType};
}

int64_t TileStore::numSlotsOf(const SharedTile &tile) {
  return std::min<int64_t>(2, tile.columns / sliceOf(tile).columns);
}

TileStore::TileStore(KernelBuilder &builder, const SharedTile &tile)
    : builder_(builder), slice_(sliceOf(tile)), numSlots_(numSlotsOf(tile)),
      slots_(ttg::LocalAllocOp::create(builder, slice_.bufferType(numSlots_))) {}

void TileStore::store(Value tile, Value matrix, Value row, Value column, Finish finish) const {
  KernelBuilder &b = builder_;
  for (auto [index, slice] : llvm::enumerate(b.splitColumns(tile, slice_.columns))) {
    Value slot = ttg::MemDescIndexOp::create(b, slice_.bufferType(), slots_, b.i32(int64_t(index) % numSlots_));
    Value finished = finish(slice);
    // All copies but the last few are done with their slots; a tile has as many slices as fill all slots equally often.
    ttng::TMAStoreWaitOp::create(b, uint32_t(numSlots_ - 1));
    ttg::LocalStoreOp::create(b, finished, slot);
    Value firstColumn = b.add(column, b.i32(int64_t(index) * slice_.columns));
    ttng::AsyncTMACopyLocalToGlobalOp::create(b, matrix, ValueRange{row, firstColumn}, slot);
  }
}

void TileStore::drain(KernelBuilder &builder) { ttng::TMAStoreWaitOp::create(builder, 0u); }

} // namespace jitk::kernels
