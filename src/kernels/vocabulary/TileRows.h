// Some rows of a tile in shared memory, which TMA moves by themselves: where a tile is not to be moved as a whole.
//
//            panel 0        panel 1             a panel: 128 bytes of columns, all rows
//          +------------+ +------------+
//   row 0  |            | |            |
//          |############| |############|        a piece: some rows of one panel, which lie together
//          |            | |            |
//          +------------+ +------------+
//
// The swizzle goes by addresses: a piece finds its place in the pattern of the tile by itself.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

class TileRows {
public:
  /// Whether tiles can be cut: a row of a panel fills what TMA aligns to.
  static bool canCut(const SharedTile &tile);
  /// A piece of `rows` rows: a tensor map is made for it.
  static SharedTile pieceOf(const SharedTile &tile, int64_t rows);

  /// Pieces of `rows` rows, a power of two, of `numSlots` tiles in the buffer `slots`.
  TileRows(KernelBuilder &builder, mlir::Value slots, int64_t numSlots, const SharedTile &tile, int64_t rows);

  int64_t numPanels() const { return tile_.columns / tile_.panelColumns(); }
  int64_t panelColumns() const { return tile_.panelColumns(); }
  /// The buffer of a piece; `number` counts the pieces of a panel from its top. Both i32.
  mlir::Value piece(mlir::Value slot, int64_t panel, mlir::Value number) const;

private:
  KernelBuilder &builder_;
  SharedTile tile_, piece_; ///< piece_: as a buffer
  mlir::Value pieces_;      ///< all of all slots
};

} // namespace jitk::kernels
