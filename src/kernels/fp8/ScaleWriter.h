// The scales of both operands, in the ring of the operands: a role of its own loads them and writes those of a block of
// K into the block's slot.
//
//    As [M, K / 128], row major:   16 bytes of a row are four blocks' scales, which one load of a thread brings
//    Bs [N / 128, K / 128]:        the same; a part of a tile's columns has one of them a block
//
//    a slot:  | 64 rows of A | 64 rows of A | 128 columns of B^T || 64 scales | 64 scales | 1 scale |
//
// TMA would take as long for 16 bytes of a row as for 128; loads of each consumer's thread would keep it waiting.

#pragma once

#include "src/kernels/matmul/PersistentProduct.h"

namespace jitk::kernels {

class ScaleWriter {
public:
  /// The vectors of a slot: of a consumer's rows, for each of them, then of each part's columns; one number where they
  /// lie in a block of B.
  static llvm::SmallVector<int64_t> vectorsOf(const ProductShapes &shapes);

  /// `numRowsOfA` i32, of all groups together. `hasColumns`: A's scales lie column by column.
  ScaleWriter(KernelBuilder &builder, const Ring &ring, const ProductShapes &shapes, mlir::Value numRowsOfA,
              bool hasColumns);

  /// The writer: the scales of a tile's blocks of K, from number `block` (i32, a multiple of four) on. `rows` are those
  /// of As or Bs where each vector begins; `group` (i32) is that of A's rows, null where groups have none of their own.
  /// Gives the next position.
  RingPosition write(mlir::ValueRange rows, mlir::Value block, mlir::Value group, RingPosition position) const;

  /// A consumer: what its sums of a block are multiplied with, for each part: [rows, 1] or [1, columns].
  llvm::SmallVector<mlir::Value> read(mlir::Value consumer, const RingPosition &position) const;

private:
  /// A vector of the ring, and whose it is: null if of all consumers.
  struct Target {
    unsigned vector;
    mlir::Value consumer;
  };
  /// Of all that a slot's block is scaled with, number `index`: of the consumers, then of the parts.
  Target target(size_t index) const;
  bool isOfA(unsigned vector) const { return (vector == 0) != shapes_.tile.transposed; }
  /// Pointers to the scales of four blocks, [numbers of the vector, 4]; of columns to those of one block.
  mlir::Value pointersTo(unsigned vector, mlir::Value row, mlir::Value block, mlir::Value group) const;
  /// The scales of `count` blocks from number `block` of the tile on: a vector's of each block, then the next one's.
  llvm::SmallVector<mlir::Value> load(mlir::ValueRange pointers, mlir::Value block, int64_t count) const;
  /// Writes them, each block's to a slot.
  RingPosition store(mlir::ValueRange scales, int64_t count, RingPosition position) const;

  KernelBuilder &b;
  const Ring &ring_;
  const ProductShapes &shapes_;
  mlir::Value numRowsOfA_;
  bool hasColumns_;
  int64_t rowBlocks_, tileBlocks_; ///< blocks of K, of a row of scales and of a tile
};

} // namespace jitk::kernels
