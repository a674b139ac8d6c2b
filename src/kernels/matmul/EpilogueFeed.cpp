#include "src/kernels/matmul/EpilogueFeed.h"

#include "src/kernels/vocabulary/TileStore.h"

using namespace mlir;

namespace jitk::kernels {

static llvm::SmallVector<SharedTile> tilesOf(const Epilogue &epilogue, const SharedTile &slice) {
  llvm::SmallVector<SharedTile> tiles;
  if (epilogue.hasBias()) {
    tiles.push_back(EpilogueFeed::biasTile(slice));
  }
  if (epilogue.addend()) {
    tiles.push_back(slice);
  }
  return tiles;
}

EpilogueFeed::EpilogueFeed(KernelBuilder &builder, const Epilogue &epilogue, const SharedTile &result,
                           int64_t numConsumers, unsigned consumerWarps, bool sharesSlots)
    : b(builder), epilogue_(epilogue), slice_(TileStore::sliceOf(result)), numSlices_(result.columns / slice_.columns),
      numSlots_(TileStore::numSlotsOf(result, epilogue.addend() ? kFedSlices : kFedBiases)), sharesSlots_(sharesSlots),
      ring_(builder, numSlots_, tilesOf(epilogue, slice_), consumerWarps, RingOptions{.banks = numConsumers}) {}

RingPosition EpilogueFeed::load(Value consumer, const RingPosition &position, Value row, Value column) const {
  ring_.acquire(position);
  unsigned tile = 0;
  if (epilogue_.hasBias()) {
    ring_.load(position, tile++, b.descriptorParameter("bias", biasTile(slice_)), b.i32(0), column);
  }
  if (epilogue_.addend()) {
    ring_.load(position, tile, b.descriptorParameter(epilogue_.addend(), slice_), row, column);
  }
  return ring_.next(position, consumer);
}

Value EpilogueFeed::apply(Value consumer, Value product, size_t index, RingPosition &position) const {
  ring_.await(position);
  unsigned tile = 0;
  Value bias, addend;
  if (epilogue_.hasBias()) {
    bias = b.spread(ring_.read(position, tile++), {slice_.rows, slice_.columns});
  }
  if (epilogue_.addend()) {
    addend = ring_.read(position, tile);
  }
  Value result = epilogue_.apply(b, product, bias, addend, slice_.elementType);
  bool keepsSlot = sharesSlots_ && int64_t(index) + numSlots_ >= numSlices_;
  if (!keepsSlot) {
    ring_.releaseRead(position.slot);
  }
  position = ring_.next(position, consumer);
  return result;
}

void EpilogueFeed::giveBack(Value consumer) const {
  Value first = ring_.start(consumer).slot;
  for (int64_t slot = 0; slot < numSlots_; ++slot) {
    ring_.release(b.add(first, b.i32(slot)));
  }
}

} // namespace jitk::kernels
