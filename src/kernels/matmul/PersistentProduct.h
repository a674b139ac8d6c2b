// Tiles of a product on sm_90a: CTAs that stay, a producer warp that loads by TMA, consumer warpgroups that multiply
// and store. How a consumer sums the blocks of K is its heir's.

#pragma once

#include "src/kernels/Kernel.h"
#include "src/kernels/matmul/EpilogueFeed.h"
#include "src/kernels/matmul/PersistentTile.h"
#include "src/kernels/vocabulary/ClusterSum.h"
#include "src/kernels/vocabulary/KernelProgram.h"
#include "src/kernels/vocabulary/Raster.h"
#include "src/kernels/vocabulary/Ring.h"
#include "src/kernels/vocabulary/TileStore.h"

#include "llvm/Support/MathExtras.h"

#include <deque>
#include <functional>
#include <map>

namespace jitk::kernels {

/// One operand: [outer, k] where `kIsContiguous`, else [k, outer].
struct ProductOperand {
  const char *tensor;
  const char *outer; ///< its other dimension
  bool kIsContiguous;

  SharedTile tile(int64_t size, int64_t k, mlir::Type type) const {
    return kIsContiguous ? SharedTile{size, k, type} : SharedTile{k, size, type};
  }
};

/// What is moved and computed with one tile.
struct ProductShapes {
  /// A, which is [k, m] where `isColumnMajorA`, else [m, k], times B, which is [n, k] where `isColumnMajorB`, else
  /// [k, n].
  ProductShapes(const PersistentTile &tile, int64_t k, bool isColumnMajorA, bool isColumnMajorB, mlir::Type inputType,
                mlir::Type outputType);

  SharedTile leftTile() const;
  SharedTile rightTile(int64_t part) const { return right.tile(part, tile.k, inputType); }
  /// What one CTA of a cluster loads of a part for all of them.
  SharedTile rightPiece(int64_t part) const { return rightTile(part / tile.sharers); }
  /// What a consumer stores of a part, in `resultType`.
  SharedTile resultTile(int64_t part) const;

  PersistentTile tile;
  int64_t k; ///< of the whole product
  llvm::SmallVector<int64_t> parts;
  ProductOperand left, right; ///< results are rows of `left` by columns of `right`
  mlir::Type inputType, outputType;
  /// In each slot of the ring of operands, for the heir: vectors of so many fp32 numbers, which a role of its own
  /// writes; the first one is there for each consumer.
  llvm::SmallVector<int64_t> vectors;
  const char *batch = nullptr; ///< the dimension that counts problems of m rows each; null = one problem
  /// Where the step's results go: C; where K is split, a region of the workspace: a matrix of partial sums that has
  /// `tile.splits` times `paddedRows` rows.
  std::string result;

  bool isSplit() const { return tile.splits > 1; }
  /// Whether a second step adds up what this one leaves in the workspace.
  bool leavesPartialSums() const { return isSplit() && !tile.clustered; }
  /// Rows of C that the tiles cover which the CTAs of a cluster take at a time.
  int64_t rowsOfCluster() const { return tile.rowsOfC() * tile.sharers; }
  unsigned clusterSize() const { return unsigned(tile.clustered ? tile.splits : tile.sharers); }
  /// Of a part of K: whole blocks, so that the parts are alike; what lies past the end of K is zero.
  int64_t depth() const { return isSplit() ? llvm::divideCeil(llvm::divideCeil(k, tile.k), tile.splits) * tile.k : k; }
  /// What is stored: fp32 where K is split.
  mlir::Type resultType() const;
};

/// A tile, and the part of K that is summed for it.
struct ProductTile : TilePosition {
  mlir::Value split;  ///< which part; null where K is whole
  mlir::Value firstK; ///< where it begins
};

/// Rows of a partial sum of C: M rounded up to whole tiles, so that a tile ends where the next partial sum begins.
Expression paddedRows(const KernelSignature &signature, const ProductShapes &shapes);

/// Writes one step. The consumers are replicas of one role, so that their code is there once: `consumer` is the number
/// of one of them, i32.
class PersistentProduct {
public:
  static constexpr int64_t kConsumerRows = 64;
  static constexpr unsigned kWarpsOfConsumer = 4, kWarpsOfWriter = 2;

  PersistentProduct(KernelBuilder &builder, const ProductShapes &shapes, const Epilogue &epilogue = {});
  virtual ~PersistentProduct() = default;

  void write();

protected:
  /// The sums of a consumer's rows of a tile over its blocks of K, one a part, in fp32. `position` is that in the ring
  /// of the operands; moves it past the blocks.
  virtual llvm::SmallVector<mlir::Value> multiply(mlir::Value consumer, const ProductTile &at,
                                                  RingPosition &position) = 0;
  /// The role that writes the vectors of the ring, if there are any.
  virtual void writeVectors() {}
  /// Where a part of a tile lies among the columns of the result, and among the outer dimension of the right operand.
  virtual mlir::Value partColumn(const TilePosition &at, size_t part);
  virtual mlir::Value operandColumn(const TilePosition &at, size_t part) { return partColumn(at, part); }
  /// Where the consumer's rows of a tile begin, of the left operand and of the result.
  virtual mlir::Value firstRow(const TilePosition &at, mlir::Value consumer);
  /// Runs `body` for the CTA's tiles; the same ones in every role.
  virtual llvm::SmallVector<mlir::Value> forEachTileOf(mlir::ValueRange carried, TileBody body);

  /// The consumer's rows of the block that is in a slot: a buffer.
  mlir::Value leftBuffer(const RingPosition &position, mlir::Value consumer) const;
  /// accumulator + the product of `rows`, a buffer or in registers, and a part of the block in a slot; starts it.
  /// `accumulates` as in KernelBuilder::startProduct.
  mlir::Value startPart(mlir::Value rows, const RingPosition &position, size_t part, mlir::Value accumulator,
                        mlir::Value accumulates);
  /// The same of as many parts as there are accumulators. They are in flight as `numProducts` of them.
  llvm::SmallVector<mlir::Value> startParts(mlir::Value rows, const RingPosition &position,
                                            mlir::ValueRange accumulators, mlir::Value accumulates);
  unsigned numProducts(size_t numParts) const { return tile_.joinsParts ? 1 : unsigned(numParts); }
  /// The parts of a tile are the first so many.
  size_t numParts(const TilePosition &at) const { return at.isNarrow ? 1 : parts_.size(); }
  /// Zeros, an accumulator for each part of a tile.
  llvm::SmallVector<mlir::Value> zeros(const TilePosition &at);

  using ProductBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(const ProductTile &at, mlir::ValueRange now)>;
  /// Runs `body` for the CTA's tiles, or parts of K of tiles.
  llvm::SmallVector<mlir::Value> forEachProduct(mlir::ValueRange carried, ProductBody body);
  /// Does the next piece of the work that waits for a consumer's products to run beside it, if there is any. To be
  /// called when a block has been started.
  void workBesideProducts();
  bool hasWorkBesideProducts() const { return !waiting_.empty(); }
  size_t numWaiting() const { return waiting_.size(); }

  KernelBuilder &b;
  const ProductShapes &shapes_;
  const PersistentTile &tile_;
  const llvm::SmallVector<int64_t> &parts_;
  std::optional<Ring> ring_;

private:
  /// The part of the right operand that is in a slot, [k, columns].
  mlir::Value rightBuffer(const RingPosition &position, size_t part) const;
  /// The same for the tiles of one width, where there are two.
  TileGrid tileGrid(); ///< of all of C in tiles of one width
  llvm::SmallVector<mlir::Value> forEachTileOfWidth(bool isNarrow, mlir::ValueRange carried, TileBody body);
  void produce();
  void load(const RingPosition &position, unsigned tile, const ProductOperand &operand, const SharedTile &shape,
            mlir::Value outer, mlir::Value k, mlir::Value consumer = {});
  /// The part of the right operand, from `column` of its outer dimension on.
  void loadRight(const RingPosition &position, size_t part, mlir::Value column, mlir::Value k);
  /// The role that fills the feeds.
  void feed();
  /// Brings what the epilogues of one part of a tile read; moves the feeds' positions.
  void feedPart(size_t part, const ProductTile &at, llvm::MutableArrayRef<RingPosition> positions);
  void consume(mlir::Value consumer);
  /// The tile whose part of K the CTA has, and that part; of a cluster.
  ProductTile ownProduct();
  /// After the roles of a cluster: the slices of the sums that are this CTA's.
  void addUp();
  void store(mlir::Value consumer, mlir::ValueRange sums, const ProductTile &at,
             llvm::MutableArrayRef<RingPosition> feeds);
  void storeAtOnce(mlir::Value consumer, mlir::ValueRange sums, const ProductTile &at);
  /// The descriptor of what a part's slices are stored to.
  mlir::Value resultMatrix(size_t part);
  /// What is stored of slice `index` of a part.
  mlir::Value finish(mlir::Value consumer, size_t part, size_t index, mlir::Value slice,
                     llvm::MutableArrayRef<RingPosition> feeds);
  /// Whether results are staged where the epilogue's addend comes: stores that wait need the slots at other times.
  bool sharesSlots() const { return tile_.defersStores && packsResults() && epilogue_.addend(); }
  /// Whether two results fit into a register.
  bool packsResults() const { return shapes_.resultType().getIntOrFloatBitWidth() == 16; }
  /// The first of the slices of a tile that wait: the others are stored at once.
  size_t firstWaiting(size_t numSlices) const { return packsResults() ? 0 : numSlices / 2; }
  /// Results of a part on their way: the last of its slices, in registers, and where they go.
  struct Pending {
    llvm::SmallVector<mlir::Value> slices;
    mlir::Value row, column;
  };
  llvm::SmallVector<Pending> nothingPending();
  /// Finishes a tile's results; stores those that do not wait.
  llvm::SmallVector<Pending> hold(mlir::Value consumer, mlir::ValueRange sums, const ProductTile &at,
                                  llvm::MutableArrayRef<RingPosition> feeds);
  /// Leaves the stores to `workBesideProducts`.
  void defer(mlir::Value consumer, llvm::ArrayRef<Pending> pending);
  void consumeDeferring(mlir::Value consumer);
  llvm::SmallVector<RingPosition> startOf(mlir::Value consumer) const;
  /// Where a part of a consumer's results lies: row and column.
  std::pair<mlir::Value, mlir::Value> originOf(mlir::Value consumer, size_t part, const ProductTile &at);

  Epilogue epilogue_;
  std::deque<std::function<void()>> waiting_;
  std::map<int64_t, TileStore> stores_; ///< of each size of parts
  std::vector<TileStore> storesAtOnce_; ///< of each part, where all of its slices have slots
  std::vector<ClusterSum> sums_;        ///< of each part, where the CTAs of a cluster add up
  std::vector<EpilogueFeed> feeds_;     ///< of each part; none where the epilogue reads nothing
};

/// Of the operands: measured on an H200, few rows of A times a B that L2 does not hold take 4 to 6 % longer where lines
/// of 256 bytes are fetched, and nothing takes less.
inline constexpr L2Promotion kOperandPromotion = L2Promotion::None;

/// The tiles in which each operand is moved, of all variants.
struct ProductTiles {
  explicit ProductTiles(llvm::ArrayRef<ProductShapes> variants);

  llvm::SmallVector<SharedTile> a, b, c, bias, partialSums;
};

/// Adds a step for each of `variants`, which are in the order of their rows, and a second one where K is split; a
/// launch runs what M falls to. `write` writes the first one, with the epilogue that it has.
void addProductSteps(KernelProgram &program, const KernelSignature &signature, llvm::StringRef symbol,
                     llvm::ArrayRef<PersistentVariant> variants, llvm::ArrayRef<ProductShapes> shapes,
                     const Epilogue &epilogue,
                     llvm::function_ref<void(KernelBuilder &, const ProductShapes &, const Epilogue &)> write);

/// Whether the dimension is known to be a multiple of `factor`.
bool isMultipleOf(const Dimension &dimension, int64_t factor);

} // namespace jitk::kernels
