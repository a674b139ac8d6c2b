// The scales of both operands, brought by TMA a few blocks of K at a time, in a ring beside that of the operands.
//
//    As [M, K / 128], row major:      a slot, for each 64 rows of a tile:     rows x 4 scales, 16 bytes a row
//    Bs [N / 128, K / 128]:           and for each part of its columns:       8 x 4 scales, of which the first row
//    counts
//
// 16 bytes of a row are the least that TMA moves, and 8 rows of them keep a tile of every slot aligned to 128 bytes. As
// a load of each thread a scale takes as long as a product of few columns, and each consumer waits for its own.

#pragma once

#include "src/kernels/matmul/PersistentProduct.h"

namespace jitk::kernels {

/// What the sums of one block of K are multiplied with: of the rows to the left, [rows or 1, 1], and of each part of
/// the columns, [1, columns or 1].
struct Scales {
  mlir::Value left;
  llvm::SmallVector<mlir::Value> right;
};

class ScaleFeed {
public:
  /// Before the roles.
  ScaleFeed(KernelBuilder &builder, const ProductShapes &shapes);

  /// Adds the tiles in which As and Bs are moved.
  static void addTiles(const ProductShapes &shapes, llvm::SmallVectorImpl<SharedTile> &a,
                       llvm::SmallVectorImpl<SharedTile> &b);

  RingPosition start() const { return ring_.start(); }
  /// The loader: brings the scales of the blocks from number `block` on. `left` and `right` are the rows of As or of Bs
  /// where those of each consumer and of each part begin. Gives the next position.
  RingPosition load(const RingPosition &position, mlir::ValueRange left, mlir::ValueRange right,
                    mlir::Value block) const;
  /// A consumer: the scales of each block of a slot; moves the position.
  llvm::SmallVector<Scales> read(int64_t consumer, RingPosition &position) const;

private:
  static SharedTile tileOf(const ProductOperand &operand, int64_t rows, mlir::MLIRContext *context);
  static llvm::SmallVector<SharedTile> tilesOf(const ProductShapes &shapes);
  mlir::Value readColumn(const RingPosition &position, unsigned tile, const ProductOperand &operand,
                         int64_t block) const;

  KernelBuilder &b;
  const ProductShapes &shapes_;
  llvm::SmallVector<SharedTile> tiles_; ///< of each consumer, then of each part
  Ring ring_;
};

} // namespace jitk::kernels
