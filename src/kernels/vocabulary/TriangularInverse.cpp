#include "src/kernels/vocabulary/TriangularInverse.h"

using namespace mlir;

namespace jitk::kernels {
namespace {

constexpr int64_t kBlock = 16;

class Inverter {
public:
  Inverter(KernelBuilder &b, Value strictLower, Type operandType)
      : b_(b), lower_(strictLower), operandType_(operandType),
        size_(cast<RankedTensorType>(strictLower.getType()).getShape().front()), numBlocks_(size_ / kBlock) {}

  Value run() {
    Value inverse = spread(substitute(gather()));
    for (int64_t block = kBlock; block < size_; block *= 2) {
      inverse = merge(inverse, block);
    }
    return inverse;
  }

private:
  /// The blocks on the diagonal: f32 [numBlocks, 16, 16].
  Value gather();
  /// The inverse of each of them.
  Value substitute(Value blocks);
  /// The matrix that has them on its diagonal.
  Value spread(Value blocks);
  /// From the inverse of diagonal blocks of size `block` to that of blocks twice as large.
  Value merge(Value inverse, int64_t block);

  /// i32 of a shape: the index along an axis.
  Value index(ArrayRef<int64_t> shape, unsigned axis);
  Value isEqual(Value indices, int64_t value);
  /// i1 of a shape [rows, blocks, 16]: whether the row lies in the block.
  Value isOfOwnBlock(ArrayRef<int64_t> shape);
  Value zeros(ArrayRef<int64_t> shape) { return b_.full(0, shape, b_.getF32Type()); }

  KernelBuilder &b_;
  Value lower_;
  Type operandType_;
  int64_t size_, numBlocks_;
};

} // namespace

Value Inverter::index(ArrayRef<int64_t> shape, unsigned axis) {
  Value indices = b_.range(shape[axis]);
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (dim != axis) {
      indices = b_.expand(indices, dim);
    }
  }
  return b_.spread(indices, shape);
}

Value Inverter::isOfOwnBlock(ArrayRef<int64_t> shape) {
  Value ownBlock = b_.div(index(shape, 0), b_.full(kBlock, shape, b_.getI32Type()));
  return b_.equal(ownBlock, index(shape, 1));
}

Value Inverter::gather() {
  KernelBuilder &b = b_;
  SmallVector<int64_t> shape = {size_, numBlocks_, kBlock};
  // Row r keeps the columns of its own block.
  Value isOwn = isOfOwnBlock(shape);
  Value own = b.reduceSum(b.select(isOwn, b.reshape(lower_, shape), zeros(shape)), 1);
  return b.reshape(own, {numBlocks_, kBlock, kBlock});
}

Value Inverter::substitute(Value blocks) {
  KernelBuilder &b = b_;
  SmallVector<int64_t> shape = {numBlocks_, kBlock, kBlock};
  Value rows = index(shape, 1), columns = index(shape, 2);
  Value identity = b.select(b.equal(rows, columns), b.full(1, shape, b.getF32Type()), zeros(shape));
  // When row j is reached it is final, and is taken from all rows below it.
  return b
      .loop(b.i32(0), b.i32(kBlock - 1), 1, {identity},
            [&](Value j, ValueRange carried) {
              Value inverse = carried.front(), number = b.splat(j, shape);
              Value column = b.reduceSum(b.select(b.equal(columns, number), blocks, zeros(shape)), 2);
              Value row = b.reduceSum(b.select(b.equal(rows, number), inverse, zeros(shape)), 1);
              Value outer = b.mulf(b.spread(b.expand(column, 2), shape), b.spread(b.expand(row, 1), shape));
              return SmallVector<Value>{b.subf(inverse, outer)};
            })
      .front();
}

Value Inverter::spread(Value blocks) {
  KernelBuilder &b = b_;
  SmallVector<int64_t> shape = {size_, numBlocks_, kBlock};
  Value isOwn = isOfOwnBlock(shape);
  Value repeated = b.spread(b.expand(b.reshape(blocks, {size_, kBlock}), 1), shape);
  return b.reshape(b.select(isOwn, repeated, zeros(shape)), {size_, size_});
}

Value Inverter::merge(Value inverse, int64_t block) {
  KernelBuilder &b = b_;
  SmallVector<int64_t> shape = {size_, size_};
  auto blockOf = [&](unsigned axis, int64_t size) {
    return b.div(index(shape, axis), b.full(double(size), shape, b.getI32Type()));
  };
  Value isBeside =
      b.both(b.equal(blockOf(0, 2 * block), blockOf(1, 2 * block)), b.lessThan(blockOf(1, block), blockOf(0, block)));
  Value beside = b.convert(b.select(isBeside, lower_, zeros(shape)), operandType_);
  Value rounded = b.convert(inverse, operandType_);
  Value product = b.convert(b.dot(beside, rounded, zeros(shape)), operandType_);
  Value negated = b.convert(b.subf(zeros(shape), inverse), operandType_);
  return b.dot(negated, product, inverse);
}

Value invertUnitLower(KernelBuilder &b, Value strictLower, Type operandType) {
  return Inverter(b, strictLower, operandType).run();
}

} // namespace jitk::kernels
