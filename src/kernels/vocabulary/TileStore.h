// From the registers of a role to global memory by TMA, through shared memory in slices of columns.
//
//    registers:  | slice 0 | slice 1 | slice 2 | slice 3 |      a slice: 128 bytes of columns, or all of 64 columns
//                     |         |         |
//    slots:         slot 0    slot 1    slot 0 ...              written when the copy before last has read it
//                     |         |
//    TMA:          copies to global memory, clipped at the edges of the matrix

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"
#include "src/kernels/vocabulary/SharedTile.h"

namespace jitk::kernels {

class TileStore {
public:
  /// The slice of a tile: what the tensor map of its matrix is made for.
  static SharedTile sliceOf(const SharedTile &tile);
  /// One slot fills while another one is read; a tile of one slice has no other.
  static int64_t numSlotsOf(const SharedTile &tile, int64_t most = 2);

  /// What becomes of an element in memory.
  enum class Kind : uint8_t { Store, Add };

  /// Allocates the slots for tiles of that kind. Before the roles; each role that stores has one of its own, with slots
  /// for each of its `replicas`.
  TileStore(KernelBuilder &builder, const SharedTile &tile, int64_t mostSlots = 2, Kind kind = Kind::Store,
            int64_t replicas = 1);

  /// The same in slots that are there, [replicas * numSlotsOf(tile), rows and columns of a slice].
  TileStore(KernelBuilder &builder, const SharedTile &tile, mlir::Value slots, int64_t replicas);

  /// Makes what is stored of a slice of the tile, in the type of the store's elements.
  using Finish = llvm::function_ref<mlir::Value(mlir::Value slice)>;
  /// Copies a tile to element (row, column) on of the matrix, slice by slice as `finish` makes them. Returns when the
  /// tile's registers are free; the copies go on.
  void store(mlir::Value tile, mlir::Value matrix, mlir::Value row, mlir::Value column, Finish finish) const {
    store(tile, matrix, {row, column}, finish);
  }
  /// The same of stacked matrices; outermost coordinate first.
  void store(mlir::Value tile, mlir::Value matrices, mlir::ValueRange origin, Finish finish) const {
    store(tile, matrices, origin, finish, {});
  }
  /// Rows of a tile that are stored: the first `count` (i32), if that is not null. What is cut is copied row by row:
  /// `matrices` is a descriptor for pieces of one row (TileRows).
  struct Rows {
    mlir::Value count, matrices;
  };
  void store(mlir::Value tile, mlir::Value matrices, mlir::ValueRange origin, Finish finish, const Rows &rows) const;
  /// The same in steps: the tile's slices, and the copy of one of them, in their order. The origin is the tile's.
  llvm::SmallVector<mlir::Value> slices(mlir::Value tile) const;
  void storeSlice(size_t index, mlir::Value finished, mlir::Value matrices, mlir::ValueRange origin) const;
  /// The same of all slices, each of which has a slot: writes the slots, whose copies are done, and starts the copies.
  void fill(llvm::ArrayRef<mlir::Value> finished) const;
  void copyOut(mlir::Value matrices, mlir::ValueRange origin) const;
  /// The same for replica `number` (i32) of those that it has slots for; without, for the one that executes the role.
  TileStore of(mlir::Value number) const;
  /// Waits until all copies of the role have read shared memory. Before the role ends.
  static void drain(KernelBuilder &builder);

private:
  mlir::Value slotOf(size_t slice) const;
  mlir::Value slotNumber(size_t slice) const;
  void copy(size_t slice, mlir::Value matrices, mlir::ValueRange origin) const;
  void copy(mlir::Value matrices, mlir::ValueRange origin, mlir::Value buffer) const;
  void copyRows(size_t slice, mlir::ValueRange origin, const Rows &rows) const;

  KernelBuilder &builder_;
  SharedTile slice_;
  int64_t numSlots_, replicas_ = 1;
  Kind kind_;
  mlir::Value slots_, replica_;
};

} // namespace jitk::kernels
