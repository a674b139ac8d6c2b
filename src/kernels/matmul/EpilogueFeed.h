// What an epilogue adds to a product, brought by TMA: while a tile is multiplied, the bias and the addend of its first
// slices come already.

#pragma once

#include "src/kernels/matmul/Epilogue.h"
#include "src/kernels/vocabulary/Ring.h"

namespace jitk::kernels {

/// The most slices of a tile that what is added to them is there for, before the consumer asks for it: of a bias alone,
/// which takes little room, more, since a slice that has to be brought when another one is done comes late.
inline constexpr int64_t kFedSlices = 2, kFedBiases = 4;

/// The feed of the consumers' part of the tiles, in the slices in which TileStore stores it. A loader role fills it,
/// each consumer empties its bank, in the same order. `consumer` is its number, i32.
class EpilogueFeed {
public:
  /// Before the roles. `result` is what is stored at a time of a tile; its slices have a slot each, two at most, or
  /// four where a bias alone is added. Where the slots are shared, the consumer stages results in those of the addend:
  /// it has them before the first slice comes, and from the last slices of a tile on until it gives them back.
  EpilogueFeed(KernelBuilder &builder, const Epilogue &epilogue, const SharedTile &result, int64_t numConsumers,
               unsigned consumerWarps, bool sharesSlots);

  /// The tile in which the bias, a matrix of one row, is moved for a slice of C.
  static SharedTile biasTile(const SharedTile &slice) { return {1, slice.columns, slice.elementType}; }

  RingPosition start(mlir::Value consumer) const { return ring_.start(consumer); }
  /// Where the loader starts.
  RingPosition loaderStart(mlir::Value consumer) const {
    return sharesSlots_ ? ring_.startAfterConsumers(consumer) : ring_.start(consumer);
  }
  /// The loader: brings what belongs to the slice of C at (row, column); gives the next position.
  RingPosition load(mlir::Value consumer, const RingPosition &position, mlir::Value row, mlir::Value column) const;
  /// The consumer: makes what is stored of slice `index` of the product, and moves the position.
  mlir::Value apply(mlir::Value consumer, mlir::Value product, size_t index, RingPosition &position) const;
  /// The slots of the addend, which results may be staged in where they are shared.
  mlir::Value slots() const { return ring_.slots(unsigned(epilogue_.hasBias())); }
  /// The consumer: no copy reads shared slots any more, as all its warps know.
  void giveBack(mlir::Value consumer) const;

private:
  KernelBuilder &b;
  const Epilogue &epilogue_;
  SharedTile slice_;
  int64_t numSlices_, numSlots_;
  bool sharesSlots_;
  Ring ring_; ///< tiles of a slot: the bias, then the addend, as far as there are
};

} // namespace jitk::kernels
