#include "src/kernels/fp8/ScaleWriter.h"

#include "src/kernels/fp8/Fp8BlockMatmul.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace jitk::kernels {

static constexpr int64_t kBlocksAtOnce = 4;

llvm::SmallVector<int64_t> ScaleWriter::vectorsOf(const ProductShapes &shapes) {
  bool isTransposed = shapes.tile.transposed;
  llvm::SmallVector<int64_t> sizes = {isTransposed ? 1 : PersistentProduct::kConsumerRows};
  for (int64_t part : shapes.parts) {
    sizes.push_back(isTransposed ? part : 1);
  }
  return sizes;
}

ScaleWriter::ScaleWriter(KernelBuilder &builder, const Ring &ring, const ProductShapes &shapes, Value numRowsOfA,
                         bool hasColumns)
    : b(builder), ring_(ring), shapes_(shapes), numRowsOfA_(numRowsOfA), hasColumns_(hasColumns),
      rowBlocks_(llvm::divideCeil(shapes.k, kScaleBlock)), tileBlocks_(llvm::divideCeil(shapes.depth(), kScaleBlock)) {}

ScaleWriter::Target ScaleWriter::target(size_t index) const {
  auto numConsumers = size_t(shapes_.tile.numConsumers());
  return index < numConsumers ? Target{0, b.i32(int64_t(index))} : Target{unsigned(1 + index - numConsumers), {}};
}

Value ScaleWriter::pointersTo(unsigned vector, Value row, Value block, Value group) const {
  int64_t size = shapes_.vectors[vector];
  bool isA = isOfA(vector);
  Value local = b.range(size);
  if (isA && !b.isMultiple("m", shapes_.rowsOfCluster())) {
    // Rows past the end read the last row's: their products are never stored.
    local = b.minimum(local, b.splat(b.sub(b.sub(numRowsOfA_, b.i32(1)), row), {size}));
  }
  if (isA && hasColumns_) {
    if (group) {
      row = b.sub(row, b.mul(group, b.size("m")));
      block = b.add(block, b.mul(group, b.i32(rowBlocks_)));
    }
    Value first = b.add(b.mul(b.toI64(block), b.rowStride("a_scale", b.size("m"))), b.toI64(row));
    return b.pointers(b.advance(b.tensorParameter("a_scale"), first), local);
  }
  llvm::StringRef tensor = isA ? "a_scale" : "b_scale";
  int64_t stride = b.rowStride(tensor).value_or(rowBlocks_);
  Value first = b.add(b.mul(b.toI64(row), b.i64(stride)), b.toI64(block));
  Value offsets = b.asColumn(b.mul(local, b.splat(b.i32(stride), {size})), kBlocksAtOnce);
  return b.pointers(b.advance(b.tensorParameter(tensor), first), b.add(offsets, b.asRow(b.range(kBlocksAtOnce), size)));
}

llvm::SmallVector<Value> ScaleWriter::load(ValueRange pointers, Value block, int64_t count) const {
  llvm::SmallVector<Value> scales;
  for (Value first : pointers) {
    auto shape = cast<RankedTensorType>(first.getType()).getShape();
    if (shape.size() == 1) {
      for (int64_t next = 0; next < count; ++next) {
        Value number = b.toI64(b.add(block, b.i32(next)));
        Value offset = b.mul(number, b.rowStride("a_scale", b.size("m")));
        scales.push_back(b.load(b.advance(first, b.splat(offset, shape))));
      }
      continue;
    }
    Value mask;
    if (count < kBlocksAtOnce) {
      Value isIn = b.lessThan(b.range(kBlocksAtOnce), b.splat(b.i32(count), {kBlocksAtOnce}));
      mask = b.asRow(isIn, shape.front());
    }
    Value ofBlocks = b.load(b.advance(first, b.splat(block, shape)), mask);
    for (Value ofBlock : llvm::ArrayRef(b.splitColumns(ofBlocks, 1)).take_front(size_t(count))) {
      scales.push_back(b.reshape(ofBlock, {shape.front()}));
    }
  }
  return scales;
}

RingPosition ScaleWriter::store(ValueRange scales, int64_t count, RingPosition position) const {
  for (int64_t block = 0; block < count; ++block) {
    ring_.awaitEmpty(position);
    for (int64_t index = block; index < int64_t(scales.size()); index += count) {
      Target to = target(size_t(index / count));
      ring_.write(position, to.vector, scales[size_t(index)], to.consumer);
    }
    ring_.publish(position.slot);
    position = ring_.next(position);
  }
  return position;
}

RingPosition ScaleWriter::write(ValueRange rows, Value block, Value group, RingPosition position) const {
  auto pointers = llvm::map_to_vector(llvm::enumerate(rows), [&](const auto &row) {
    return pointersTo(target(row.index()).vector, row.value(), block, group);
  });
  int64_t rest = tileBlocks_ % kBlocksAtOnce, numWhole = tileBlocks_ / kBlocksAtOnce;
  auto loadWhole = [&](Value number) { return load(pointers, b.mul(number, b.i32(kBlocksAtOnce)), kBlocksAtOnce); };
  // The next blocks' are on their way while those that are here wait for their slots, where registers allow.
  bool loadsAhead = shapes_.tile.numConsumers() == 1;
  llvm::SmallVector<Value> state = {position.slot, position.phase};
  if (loadsAhead && numWhole > 0) {
    llvm::append_range(state, loadWhole(b.i32(0)));
  }
  state = b.loop(b.i32(0), b.i32(numWhole), 1, state, [&](Value number, ValueRange now) {
    llvm::SmallVector<Value> here = llvm::to_vector(now.drop_front(2)), ahead;
    if (loadsAhead) {
      ahead = loadWhole(b.minimum(b.add(number, b.i32(1)), b.i32(numWhole - 1)));
    } else {
      here = loadWhole(number);
    }
    RingPosition after = store(here, kBlocksAtOnce, {now[0], now[1]});
    llvm::SmallVector<Value> next = {after.slot, after.phase};
    llvm::append_range(next, ahead);
    return next;
  });
  position = {state[0], state[1]};
  return rest ? store(load(pointers, b.i32(numWhole * kBlocksAtOnce), rest), rest, position) : position;
}

llvm::SmallVector<Value> ScaleWriter::read(Value consumer, const RingPosition &position) const {
  const PersistentTile &tile = shapes_.tile;
  Value left = b.expand(ring_.readVector(position, 0, consumer), 1);
  llvm::SmallVector<Value> scales;
  for (auto [part, columns] : llvm::enumerate(shapes_.parts)) {
    Value right = b.expand(ring_.readVector(position, 1 + unsigned(part)), 0);
    int64_t shape[] = {tile.transposed ? 1 : PersistentProduct::kConsumerRows, tile.transposed ? columns : 1};
    scales.push_back(b.mulf(b.spread(left, shape), b.spread(right, shape)));
  }
  return scales;
}

} // namespace jitk::kernels
