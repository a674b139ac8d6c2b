// A ring of slots in shared memory that a producer fills by TMA, or by copies of its threads, and consumers empty.
//
//              slot 0          slot 1          slot 2
//          +-------------+ +-------------+ +-------------+
//          | tile 0, 1.. | | tile 0, 1.. | | tile 0, 1.. |
//          +-------------+ +-------------+ +-------------+
//   full         b0              b1              b2         a round ends when all bytes of the slot have landed
//   empty        b0              b1              b2         a round ends when every consumer warp has released it
//
//   producer:  acquire -> load, load, ... -> next slot
//   consumer:  await   -> read the tiles  -> release -> next slot
//
// Beside its tiles, or instead of them, a slot can have vectors, which a role stores from registers:
//
//   writer:    awaitEmpty -> write, write, ... -> publish -> next slot
//
// Tiles that TMA cannot move, whose rows lie scattered, are gathered: each thread of a role copies 16 bytes at a time
// (cp.async), and has the full barrier of the slot told when its copies have landed, without waiting for them:
//
//   gatherer:  awaitEmpty -> gather, gather, ... -> signal -> next slot
//
// A barrier tells rounds apart by one bit, the phase: it flips each time the position passes slot 0.
//
// The CTAs of a cluster can share tiles of their rings: each producer loads a piece of such a tile into all of them, so
// that it comes from memory once. Then a slot is empty when the consumers of all CTAs have released it, and full, as
// ever, when its own bytes have landed, whoever loaded them.
//
// Tiles can lie one behind the other in a slot, so that a product reads them as one operand whose size is no power of
// two.
//
// Where the consumers are replicas of one role, the first tiles and vectors of a slot can be each replica's own: a slot
// holds them for each of them. Replicas that do not go through the ring together have a bank of slots each.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"
#include "src/kernels/vocabulary/SharedTile.h"

#include <cstdint>

namespace jitk::kernels {

/// Where a role stands in a ring; both i32. Carried by its loops.
struct RingPosition {
  mlir::Value slot, phase;
};

/// Vectors of a slot, of so many numbers each, and the warps of the role that writes all of them.
struct RingVectors {
  llvm::ArrayRef<int64_t> sizes;
  unsigned writerWarps;
  mlir::Type elementType;
};

struct RingOptions {
  unsigned sharers = 1; ///< the cluster's size where its CTAs, which then run through as many slots each, share tiles
  RingVectors vectors = {};
  int64_t replicas = 1;                       ///< of the consumer
  size_t ownTiles = SIZE_MAX, ownVectors = 0; ///< the first so many are each replica's
  int64_t banks = 1;                          ///< of so many stages each
  unsigned gathererWarps = 0;                 ///< of the role that gathers the tiles, if one does
  /// Tiles from this one on, none of them a replica's own, are parts of one operand: multiples, in the order of memory,
  /// of `unit`, which has their layout, and so are the pieces that are loaded of them.
  size_t firstJoined = SIZE_MAX;
  SharedTile unit = {};
};

class Ring {
public:
  /// Allocates the slots of `tiles` and their barriers. Before the roles that use it.
  Ring(KernelBuilder &builder, int64_t stages, llvm::ArrayRef<SharedTile> tiles, unsigned consumerWarps,
       const RingOptions &options = {});

  /// `bank` is i32; null where there is one.
  RingPosition start(mlir::Value bank = {}) const;
  /// Where a producer starts whose consumers have the slots first, and are to release each before it can be acquired.
  RingPosition startAfterConsumers(mlir::Value bank = {}) const;
  RingPosition next(const RingPosition &position, mlir::Value bank = {}) const;

  // The producer.
  /// Waits until the slot is empty and announces the bytes of all its tiles, each of which is to be loaded next.
  void acquire(const RingPosition &position) const { acquire(position, tiles_.size()); }
  /// The same where the first `numTiles` of them are.
  void acquire(const RingPosition &position, size_t numTiles) const;
  /// Starts the copy of the tile from element (row, column) on; what lies outside of the matrix becomes zero.
  void load(const RingPosition &position, unsigned tile, mlir::Value matrix, mlir::Value row,
            mlir::Value column) const {
    load(position, tile, matrix, {row, column});
  }
  /// The same of stacked matrices; outermost coordinate first. `replica` (i32) owns the tile: null where it is of all.
  void load(const RingPosition &position, unsigned tile, mlir::Value matrices, mlir::ValueRange origin,
            mlir::Value replica = {}) const;
  /// Starts the copies of `rows` rows of the tile (TileRows), piece `number` (i32) of as many; `origin` is that of the
  /// piece, `matrices` the descriptor for such pieces. Of the only replica.
  void loadPiece(const RingPosition &position, unsigned tile, int64_t rows, mlir::Value matrices, mlir::Value number,
                 mlir::ValueRange origin) const;
  /// Starts the copies of `count` rows of the tile, a multiple of 8, from row `first` (i32, another one) on; those from
  /// row `end` (i32, a coordinate like the origin's rows) on are zeros, whatever lies there. `origin` is that of row
  /// `first`; `matrices` gives the descriptor for pieces of so many rows; row `outside` lies outside of the matrices.
  using MatricesOf = llvm::function_ref<mlir::Value(int64_t rows)>;
  void loadUntil(const RingPosition &position, unsigned tile, mlir::Value first, int64_t count, MatricesOf matrices,
                 mlir::ValueRange origin, mlir::Value end, mlir::Value outside) const;
  /// The pieces that `loadUntil` wants descriptors of.
  static llvm::SmallVector<SharedTile> piecesOf(const SharedTile &tile);

  /// Starts the copy of this CTA's piece of a tile that the cluster shares, into all of its CTAs: of `sharers` pieces,
  /// which lie in a tile one after the other, the one of the CTA's rank. Each CTA is to load its own.
  void loadShared(const RingPosition &position, unsigned tile, const SharedTile &piece, mlir::Value matrix,
                  mlir::Value row, mlir::Value column) const;

  // The gatherers, all warps of the role.
  /// Starts the copies of the tile's elements from `pointers`, [rows, columns], of which 8 or more follow one another
  /// and lie at a multiple of 16 bytes; those that `mask` leaves out become zero.
  void gather(const RingPosition &position, unsigned tile, mlir::Value pointers, mlir::Value mask) const;
  /// All copies into the slot are started: it is full once they have landed.
  void signal(mlir::Value slot) const;

  // The gatherers, and the writer of the vectors.
  /// Waits until the slot is empty.
  void awaitEmpty(const RingPosition &position) const;
  void write(const RingPosition &position, unsigned vector, mlir::Value contents, mlir::Value replica = {}) const;
  /// The role has written all vectors of the slot.
  void publish(mlir::Value slot) const;

  // A consumer.
  /// Waits until the slot is full.
  void await(const RingPosition &position) const;
  /// The buffer of a tile.
  mlir::Value tile(const RingPosition &position, unsigned tile, mlir::Value replica = {}) const;
  /// The buffers of a tile in all slots, [banks * stages, rows, columns]: what the consumers have of a slot until they
  /// release it is theirs to write as well. Of the only replica.
  mlir::Value slots(unsigned tile) const { return buffers_[tile]; }
  /// The contents of a tile, in registers. TMA may write the slot before such reads are done, unless they are before it
  /// is given back: `finishReads` sees to it.
  mlir::Value read(const RingPosition &position, unsigned tile, mlir::Value replica = {}) const;
  mlir::Value readVector(const RingPosition &position, unsigned vector, mlir::Value replica = {}) const;
  /// Gives a slot back, for the warp that executes it: its reads are done.
  void release(mlir::Value slot) const;
  /// What the warp has read to registers is there; its slots may be given back from now on.
  void finishReads() const;
  /// The same, and gives a slot back.
  void releaseRead(mlir::Value slot) const;

private:
  mlir::Value vector(const RingPosition &position, unsigned vector, mlir::Value replica) const;
  /// The first slot of a bank.
  mlir::Value firstSlot(mlir::Value bank) const;
  /// Where what is of `replica`, or of all, lies in a buffer.
  mlir::Value indexOf(mlir::Value slot, mlir::Value replica) const;
  bool isJoined(size_t tile) const { return tile >= firstJoined_; }
  /// Piece `number` (i32; null where it is the whole) of a joined tile.
  mlir::Value joinedPiece(mlir::Value slot, size_t tile, const SharedTile &piece, mlir::Value number) const;

  KernelBuilder &builder_;
  int64_t stages_, numSlots_, replicas_;
  size_t ownTiles_, firstJoined_;
  unsigned sharers_, gathererWarps_;
  SharedTile unit_; ///< of joined tiles
  llvm::SmallVector<SharedTile> tiles_;
  llvm::SmallVector<mlir::Value> buffers_; ///< of each tile: [places, rows, columns], one of each replica that has it
  llvm::SmallVector<mlir::Value> vectors_; ///< of each vector: [slots * replicas that have one, numbers]
  mlir::Value full_, empty_;               ///< [slots, 1] barriers
};

} // namespace jitk::kernels
