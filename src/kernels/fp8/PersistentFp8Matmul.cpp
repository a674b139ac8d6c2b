#include "src/kernels/fp8/PersistentFp8Matmul.h"

#include "src/kernels/matmul/PersistentProduct.h"

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
/// One consumer promotes while the other one's products run.
class PersistentFp8Matmul : public PersistentProduct {
public:
  using PersistentProduct::PersistentProduct;

private:
  llvm::SmallVector<Value> multiply(int64_t consumer, const TilePosition &at, RingPosition &position) override;
  Value partColumn(const TilePosition &at, size_t part) override;

  /// Where the scales of rows of A lie, from row `first` on.
  Value rowScales(Value first, int64_t rows);
  /// Where the scales of the block of B's rows lie that row `row` is of.
  Value blockScales(Value row);
  /// The products of scales for a part, as large as the part.
  Value scaleOf(size_t part, Value left, Value right);

  Value numBlocks() { return b.ceilDiv(b.size("k"), kBlock); }
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
  return b.pointers(b.tensorParameter("a_scale"), b.mul(b.toI64(row), b.splat(b.toI64(numBlocks()), {rows})));
}

Value PersistentFp8Matmul::blockScales(Value row) {
  // A part past the end of B reads the last block's.
  Value block = b.minimum(b.div(row, b.i32(kBlock)), b.sub(b.ceilDiv(b.size("n"), kBlock), b.i32(1)));
  return b.advance(b.tensorParameter("b_scale"), b.mul(b.toI64(block), b.toI64(numBlocks())));
}

Value PersistentFp8Matmul::scaleOf(size_t part, Value left, Value right) {
  int64_t columns = parts_[part];
  Value vector = tile_.transposed ? right : left, scalar = tile_.transposed ? left : right;
  Value scale = b.mulf(vector, b.splat(scalar, {tile_.transposed ? columns : kConsumerRows}));
  return tile_.transposed ? b.asRow(scale, kConsumerRows) : b.asColumn(scale, columns);
}

llvm::SmallVector<Value> PersistentFp8Matmul::multiply(int64_t consumer, const TilePosition &at,
                                                       RingPosition &position) {
  Value row = firstRow(at, consumer);
  Value left = tile_.transposed ? blockScales(row) : rowScales(row, kConsumerRows);
  llvm::SmallVector<Value> right;
  for (auto [part, columns] : llvm::enumerate(parts_)) {
    Value column = partColumn(at, part);
    right.push_back(tile_.transposed ? rowScales(column, columns) : blockScales(column));
  }
  auto scaleAt = [&](Value pointers, Value block) {
    auto tensor = dyn_cast<RankedTensorType>(pointers.getType());
    return b.load(b.advance(pointers, tensor ? b.splat(block, tensor.getShape()) : block));
  };

  llvm::SmallVector<Value> empty = zeros(), carried = empty;
  size_t numSums = parts_.size();
  carried.append({position.slot, position.phase});
  carried = b.loop(b.i32(0), numBlocks(), 1, carried, [&](Value block, ValueRange now) {
    RingPosition here = {now[numSums], now[numSums + 1]};
    ring_->await(here);
    llvm::SmallVector<Value> sums, rightScales;
    Value leftScale;
    for (size_t part = 0; part < numSums; ++part) {
      Value partial = startPart(consumer, here, part, empty[part], /*accumulates=*/false);
      if (part == 0) {
        // While the first products run.
        leftScale = scaleAt(left, block);
        rightScales = llvm::map_to_vector(right, [&](Value pointers) { return scaleAt(pointers, block); });
      }
      partial = b.awaitProducts(partial, 0);
      if (part + 1 == numSums) {
        ring_->release(here.slot);
      }
      sums.push_back(b.addf(now[part], b.mulf(partial, scaleOf(part, leftScale, rightScales[part]))));
    }
    RingPosition next = ring_->next(here);
    sums.append({next.slot, next.phase});
    return sums;
  });
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
  addProductSteps(program, signature, "fp8_block_matmul", variants, shapes,
                  [](KernelBuilder &b, const ProductShapes &shape) { PersistentFp8Matmul(b, shape).write(); });
  return std::move(program).finish();
}

} // namespace jitk::kernels
