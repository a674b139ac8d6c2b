#include "src/kernels/fp8/PersistentFp8Matmul.h"

#include "src/kernels/matmul/PersistentProduct.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace jitk::kernels {

/// Scales are given per 128 of K, and of N; one block of K is one promotion.
static constexpr int64_t kBlock = 128;

bool servesFp8Persistently(const Description &description, const Target &target) {
  constexpr int64_t kInputs = 16, kOutputs = 8; // in 16 bytes
  const Dimension &k = description.dimension("k");
  return target.capability == 90 && target.archSpecific && k.isStatic() && k.value > 0 && isMultipleOf(k, kInputs) &&
         isMultipleOf(description.dimension("n"), kOutputs);
}

namespace {

/// Sums outside of the tensor cores, whose accumulators keep fewer bits:
///
///   for each block of K and each part:  partial = rows * columns       tensor cores, from zero
///                                       sum += partial * scales        fp32, in registers
///
/// A partial sum is promoted while the next products run: the consumer's own, as many as registers allow, and those of
/// the other consumer.
class PersistentFp8Matmul : public PersistentProduct {
public:
  PersistentFp8Matmul(KernelBuilder &builder, const ProductShapes &shapes, int64_t k)
      : PersistentProduct(builder, shapes), numBlocks_(llvm::divideCeil(k, kBlock)),
        window_(tile_.columns > kWindowColumns ? 1 : size_t(tile_.unrolled) * parts_.size()) {}

private:
  /// More columns leave registers for one part's partial sums alone.
  static constexpr int64_t kWindowColumns = 192;

  /// Of A's or B's rows to the left, of those of each part to the right: pointers to the scales of the first block, or
  /// the scales of one.
  struct Scales {
    Value left;
    llvm::SmallVector<Value> right;
  };

  llvm::SmallVector<Value> multiply(int64_t consumer, const TilePosition &at, RingPosition &position) override;
  Value partColumn(const TilePosition &at, size_t part) override;

  /// sums + `count` blocks from block `first` on; moves the position past them.
  llvm::SmallVector<Value> addBlocks(int64_t consumer, const Scales &pointers, Value first, int64_t count,
                                     ValueRange sums, RingPosition &position);

  Scales pointersToScales(int64_t consumer, const TilePosition &at);
  Scales load(const Scales &pointers, Value block);
  /// Where the scales of rows of A lie, from row `first` on.
  Value rowScales(Value first, int64_t rows);
  /// Where the scales of the block of B's rows lie that row `row` is of.
  Value blockScales(Value row);
  /// The products of scales for a part, as large as the part.
  Value scaleOf(size_t part, const Scales &scales);

  int64_t numBlocks_;
  size_t window_; ///< products in flight
};

} // namespace

Value PersistentFp8Matmul::partColumn(const TilePosition &at, size_t part) {
  // Of the 128 + 64 columns of a tile the part of 128 lies where a block of B begins: right of the 64 in odd tiles.
  if (tile_.transposed || tile_.columns != kBlock + kBlock / 2) {
    return PersistentProduct::partColumn(at, part);
  }
  Value isOdd = b.rem(at.column, b.i32(2)), first = b.mul(at.column, b.i32(tile_.columns));
  Value offset = part == 0 ? isOdd : b.mul(b.sub(b.i32(1), isOdd), b.i32(2));
  return b.add(first, b.mul(offset, b.i32(kBlock / 2)));
}

Value PersistentFp8Matmul::rowScales(Value first, int64_t rows) {
  // Rows past the end read the last row's: their products are never stored.
  Value row = b.add(b.splat(first, {rows}), b.range(rows));
  if (!b.isMultiple("m", rows)) {
    row = b.minimum(row, b.splat(b.sub(b.size("m"), b.i32(1)), {rows}));
  }
  return b.pointers(b.tensorParameter("a_scale"), b.mul(b.toI64(row), b.splat(b.i64(numBlocks_), {rows})));
}

Value PersistentFp8Matmul::blockScales(Value row) {
  // A part past the end of B reads the last block's.
  Value block = b.minimum(b.div(row, b.i32(kBlock)), b.sub(b.ceilDiv(b.size("n"), kBlock), b.i32(1)));
  return b.advance(b.tensorParameter("b_scale"), b.mul(b.toI64(block), b.i64(numBlocks_)));
}

Value PersistentFp8Matmul::scaleOf(size_t part, const Scales &scales) {
  int64_t columns = parts_[part];
  Value right = scales.right[part];
  Value vector = tile_.transposed ? right : scales.left, scalar = tile_.transposed ? scales.left : right;
  Value scale = b.mulf(vector, b.splat(scalar, {tile_.transposed ? columns : kConsumerRows}));
  return tile_.transposed ? b.asRow(scale, kConsumerRows) : b.asColumn(scale, columns);
}

PersistentFp8Matmul::Scales PersistentFp8Matmul::pointersToScales(int64_t consumer, const TilePosition &at) {
  Value row = firstRow(at, consumer);
  Scales scales{tile_.transposed ? blockScales(row) : rowScales(row, kConsumerRows), {}};
  for (auto [part, columns] : llvm::enumerate(parts_)) {
    Value column = partColumn(at, part);
    scales.right.push_back(tile_.transposed ? rowScales(column, columns) : blockScales(column));
  }
  return scales;
}

PersistentFp8Matmul::Scales PersistentFp8Matmul::load(const Scales &pointers, Value block) {
  auto loadAt = [&](Value pointer) {
    auto tensor = dyn_cast<RankedTensorType>(pointer.getType());
    return b.load(b.advance(pointer, tensor ? b.splat(block, tensor.getShape()) : block));
  };
  return {loadAt(pointers.left), llvm::map_to_vector(pointers.right, loadAt)};
}

llvm::SmallVector<Value> PersistentFp8Matmul::addBlocks(int64_t consumer, const Scales &pointers, Value first,
                                                        int64_t count, ValueRange sums, RingPosition &position) {
  // Block after block, part after part; `window_` products are in flight, each in accumulators of its own.
  size_t numParts = parts_.size(), numProducts = size_t(count) * numParts;
  llvm::SmallVector<Value> next(sums), empty = zeros(), partials, slots;
  llvm::SmallVector<Scales> scales;
  auto start = [&] {
    size_t part = partials.size() % numParts;
    if (part == 0) {
      ring_->await(position);
      slots.push_back(position.slot);
    }
    partials.push_back(startPart(consumer, position, part, empty[part], /*accumulates=*/false));
    position = part + 1 == numParts ? ring_->next(position) : position;
  };
  for (size_t product = 0; product < numProducts; ++product) {
    while (partials.size() < std::min(numProducts, product + window_)) {
      start();
      // Loaded while the first products run.
      for (int64_t block = int64_t(scales.size()); block < count; ++block) {
        scales.push_back(load(pointers, b.add(first, b.i32(block))));
      }
    }
    size_t block = product / numParts, part = product % numParts;
    Value partial = b.awaitProducts(partials[product], unsigned(partials.size() - 1 - product));
    if (part + 1 == numParts) {
      ring_->release(slots[block]);
    }
    next[part] = b.addf(next[part], b.mulf(partial, scaleOf(part, scales[block])));
  }
  return next;
}

llvm::SmallVector<Value> PersistentFp8Matmul::multiply(int64_t consumer, const TilePosition &at,
                                                       RingPosition &position) {
  Scales pointers = pointersToScales(consumer, at);
  int64_t rest = numBlocks_ % tile_.unrolled, whole = numBlocks_ - rest;
  llvm::SmallVector<Value> carried = zeros();
  size_t numSums = parts_.size();
  auto add = [&](Value first, int64_t count, ValueRange now) {
    RingPosition here = {now[numSums], now[numSums + 1]};
    llvm::SmallVector<Value> sums = addBlocks(consumer, pointers, first, count, now.take_front(numSums), here);
    sums.append({here.slot, here.phase});
    return sums;
  };
  carried.append({position.slot, position.phase});
  carried = b.loop(b.i32(0), b.i32(whole), tile_.unrolled, carried,
                   [&](Value block, ValueRange now) { return add(block, tile_.unrolled, now); });
  if (rest) {
    carried = add(b.i32(whole), rest, carried);
  }
  position = {carried[numSums], carried[numSums + 1]};
  carried.truncate(numSums);
  return carried;
}

Result<BuiltKernel> buildPersistentFp8Matmul(const Description &description, llvm::ArrayRef<PersistentVariant> variants,
                                             const Target &target, MLIRContext &context) {
  auto shapes = llvm::map_to_vector(variants, [&](const PersistentVariant &variant) {
    return ProductShapes(variant.tile, /*isColumnMajorB=*/true, elementTypeOf("e4m3", context),
                         elementTypeOf(description.word("out_dtype"), context));
  });
  KernelSignature signature;
  for (const char *name : {"m", "n", "k"}) {
    signature.dimension(name, description.dimension(name));
  }
  Expression m = signature.expression("m"), n = signature.expression("n"), k = signature.expression("k");
  ProductTiles tiles(shapes);
  Type fp32 = elementTypeOf("fp32", context);
  signature.tiledTensor("a", m, k, tiles.a);
  signature.tensor("a_scale", fp32);
  signature.tiledTensor("b", n, k, tiles.b);
  signature.tensor("b_scale", fp32);
  signature.tiledTensor("c", m, n, tiles.c);
  KernelProgram program(context, signature, target);
  int64_t size = description.dimension("k").value;
  addProductSteps(program, signature, "fp8_block_matmul", variants, shapes,
                  [&](KernelBuilder &b, const ProductShapes &shape) { PersistentFp8Matmul(b, shape, size).write(); });
  return std::move(program).finish();
}

} // namespace jitk::kernels
