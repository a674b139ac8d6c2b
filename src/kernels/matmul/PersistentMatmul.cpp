#include "src/kernels/matmul/PersistentMatmul.h"

#include "src/kernels/vocabulary/Raster.h"
#include "src/kernels/vocabulary/Ring.h"
#include "src/kernels/vocabulary/Roles.h"
#include "src/kernels/vocabulary/TileStore.h"

using namespace mlir;

namespace jitk::kernels {

static constexpr int64_t kConsumerRows = 64;
static constexpr unsigned kWarpsOfConsumer = 4;
/// Of a thread. Two consumers hold 128 accumulators a thread; the producer holds next to nothing.
static constexpr unsigned kConsumerRegisters = 232, kProducerRegisters = 40;

static bool isMultipleOf(const Dimension &dimension, int64_t factor) {
  return (dimension.isStatic() ? dimension.value : dimension.divisor) % factor == 0;
}

bool servesPersistently(const Description &description, const Target &target) {
  constexpr int64_t kRowBytes = 16;
  int64_t inputs = kRowBytes / 2, outputs = kRowBytes / (description.word("out_dtype") == "fp32" ? 4 : 2);
  const Dimension &n = description.dimension("n"), &k = description.dimension("k");
  int64_t columns = description.word("b_layout") == "row" ? std::max(inputs, outputs) : outputs;
  return target.capability == 90 && target.archSpecific && k.isStatic() && k.value > 0 && isMultipleOf(k, inputs) &&
         isMultipleOf(n, columns);
}

namespace {

/// One operand: [outer, k] where `kIsContiguous`, else [k, outer].
struct Operand {
  const char *tensor;
  const char *outer; ///< its other dimension
  bool kIsContiguous;

  SharedTile tile(int64_t size, int64_t k, Type type) const {
    return kIsContiguous ? SharedTile{size, k, type} : SharedTile{k, size, type};
  }
};

/// The kernel while it is built: what its roles share. Results are rows of `left_` by columns of `right_`.
class PersistentMatmul {
public:
  PersistentMatmul(const Description &description, const PersistentTile &tile, const Target &target,
                   MLIRContext &context);

  BuiltKernel build() &&;

private:
  void declare(const Description &description);
  SharedTile leftTile() const { return left_.tile(kConsumerRows, tile_.k, inputType_); }
  SharedTile rightTile(int64_t part) const { return right_.tile(part, tile_.k, inputType_); }
  /// What a consumer stores of a part.
  SharedTile resultTile(int64_t part) const {
    return tile_.transposed ? SharedTile{part, kConsumerRows, outputType_}
                            : SharedTile{kConsumerRows, part, outputType_};
  }

  void produce();
  void load(const RingPosition &position, unsigned tile, const Operand &operand, const SharedTile &shape, Value outer,
            Value k);
  void consume(int64_t consumer);
  /// The products of a tile's blocks of K, one accumulator a part; moves the position past them.
  llvm::SmallVector<Value> multiply(int64_t consumer, RingPosition &position);
  llvm::SmallVector<Value> startBlock(int64_t consumer, const RingPosition &position, ValueRange sums,
                                      bool accumulates);
  llvm::SmallVector<Value> awaitBlocks(ValueRange sums, unsigned inFlight);
  void store(int64_t consumer, ValueRange sums, Value row, Value column);
  llvm::SmallVector<Value> forEachTileOf(ValueRange carried, TileBody body);

  PersistentTile tile_;
  llvm::SmallVector<int64_t> parts_;
  Operand left_, right_;
  Type inputType_, outputType_;
  KernelSignature signature_;
  std::optional<KernelBuilder> builder_;
  std::optional<Ring> ring_;
  std::vector<TileStore> stores_; ///< of each consumer, of each part
};

} // namespace

PersistentMatmul::PersistentMatmul(const Description &description, const PersistentTile &tile, const Target &target,
                                   MLIRContext &context)
    : tile_(tile), parts_(tile.parts()), left_{"a", "m", true}, right_{"b", "n", description.word("b_layout") == "col"},
      inputType_(elementTypeOf(description.word("dtype"), context)),
      outputType_(elementTypeOf(description.word("out_dtype"), context)) {
  if (tile.transposed) {
    std::swap(left_, right_);
  }
  declare(description);
  KernelBuilder &b = builder_.emplace(context, signature_, target, "matmul", kWarpsOfConsumer);

  // The tiles of a slot: the left operand's rows of each consumer, then the right operand's parts.
  llvm::SmallVector<SharedTile> tiles(size_t(tile.numConsumers()), leftTile());
  for (int64_t part : parts_) {
    tiles.push_back(rightTile(part));
  }
  ring_.emplace(b, tile.stages, tiles, kWarpsOfConsumer * unsigned(tile.numConsumers()));
  for (int64_t consumer = 0; consumer < tile.numConsumers(); ++consumer) {
    for (int64_t part : parts_) {
      stores_.emplace_back(b, resultTile(part));
    }
  }
}

void PersistentMatmul::declare(const Description &description) {
  for (const char *name : {"m", "n", "k"}) {
    signature_.dimension(name, description.dimension(name));
  }
  llvm::SmallVector<SharedTile> rightTiles, slices;
  for (int64_t part : parts_) {
    rightTiles.push_back(rightTile(part));
    slices.push_back(TileStore::sliceOf(resultTile(part)));
  }
  llvm::SmallVector<SharedTile> aTiles = {leftTile()}, bTiles = rightTiles;
  if (tile_.transposed) {
    std::swap(aTiles, bTiles);
  }
  Expression m = signature_.expression("m"), n = signature_.expression("n"), k = signature_.expression("k");
  bool isColumnMajor = (tile_.transposed ? left_ : right_).kIsContiguous;
  signature_.tiledTensor("a", m, k, aTiles);
  signature_.tiledTensor("b", isColumnMajor ? n : k, isColumnMajor ? k : n, bTiles);
  signature_.tiledTensor("c", m, n, slices);
}

BuiltKernel PersistentMatmul::build() && {
  KernelBuilder &b = *builder_;
  auto produceAll = [&] { produce(); };
  auto consumeFirst = [&] { consume(0); };
  auto consumeSecond = [&] { consume(1); };
  if (tile_.numConsumers() == 1) {
    specialize(b, {Role{.numWarps = kWarpsOfConsumer, .body = consumeFirst}, Role{.numWarps = 1, .body = produceAll}});
  } else {
    specialize(b, {Role{.numWarps = kWarpsOfConsumer, .body = consumeFirst},
                   Role{.numWarps = kWarpsOfConsumer, .registers = kConsumerRegisters, .body = consumeSecond},
                   Role{.numWarps = 1, .registers = kProducerRegisters, .body = produceAll}});
  }
  return std::move(b).finish(persistentGrid(signature_.expression(left_.outer), tile_.rows,
                                            signature_.expression(right_.outer), tile_.columns));
}

llvm::SmallVector<Value> PersistentMatmul::forEachTileOf(ValueRange carried, TileBody body) {
  KernelBuilder &b = *builder_;
  TileGrid grid = {b.ceilDiv(b.size(left_.outer), tile_.rows), b.ceilDiv(b.size(right_.outer), tile_.columns)};
  return forEachTile(b, grid, tile_.groupRows, carried, body);
}

// --- the producer

void PersistentMatmul::load(const RingPosition &position, unsigned tile, const Operand &operand,
                            const SharedTile &shape, Value outer, Value k) {
  ring_->load(position, tile, builder_->descriptorParameter(operand.tensor, shape), operand.kIsContiguous ? outer : k,
              operand.kIsContiguous ? k : outer);
}

void PersistentMatmul::produce() {
  KernelBuilder &b = *builder_;
  RingPosition start = ring_->start();
  forEachTileOf({start.slot, start.phase}, [&](TilePosition at, ValueRange carried) {
    Value row = b.mul(at.row, b.i32(tile_.rows)), column = b.mul(at.column, b.i32(tile_.columns));
    return b.loop(b.i32(0), b.size("k"), tile_.k, carried, [&](Value k, ValueRange now) -> llvm::SmallVector<Value> {
      RingPosition position = {now[0], now[1]};
      ring_->acquire(position);
      unsigned tile = 0;
      for (int64_t consumer = 0; consumer < tile_.numConsumers(); ++consumer) {
        load(position, tile++, left_, leftTile(), b.add(row, b.i32(consumer * kConsumerRows)), k);
      }
      int64_t offset = 0;
      for (int64_t part : parts_) {
        load(position, tile++, right_, rightTile(part), b.add(column, b.i32(offset)), k);
        offset += part;
      }
      RingPosition next = ring_->next(position);
      return {next.slot, next.phase};
    });
  });
}

// --- a consumer

llvm::SmallVector<Value> PersistentMatmul::startBlock(int64_t consumer, const RingPosition &position, ValueRange sums,
                                                      bool accumulates) {
  KernelBuilder &b = *builder_;
  ring_->await(position);
  Value rows = ring_->tile(position, unsigned(consumer));
  Value left = left_.kIsContiguous ? rows : b.transposeBuffer(rows);
  llvm::SmallVector<Value> next;
  for (auto [index, sum] : llvm::enumerate(sums)) {
    Value columns = ring_->tile(position, unsigned(tile_.numConsumers()) + unsigned(index));
    Value right = right_.kIsContiguous ? b.transposeBuffer(columns) : columns;
    next.push_back(b.startProduct(left, right, sum, accumulates));
  }
  return next;
}

llvm::SmallVector<Value> PersistentMatmul::awaitBlocks(ValueRange sums, unsigned inFlight) {
  return llvm::map_to_vector(
      sums, [&](Value sum) { return builder_->awaitProducts(sum, inFlight * unsigned(parts_.size())); });
}

llvm::SmallVector<Value> PersistentMatmul::multiply(int64_t consumer, RingPosition &position) {
  KernelBuilder &b = *builder_;
  // One block's products are in flight while the next ones are started; a slot is given back when those have begun.
  llvm::SmallVector<Value> zeros =
      llvm::map_to_vector(parts_, [&](int64_t part) { return b.full(0, {kConsumerRows, part}, b.getF32Type()); });
  llvm::SmallVector<Value> carried = startBlock(consumer, position, zeros, /*accumulates=*/false);
  size_t numSums = parts_.size();
  RingPosition next = ring_->next(position);
  carried.append({position.slot, next.slot, next.phase});
  carried = b.loop(b.i32(tile_.k), b.size("k"), tile_.k, carried, [&](Value, ValueRange now) {
    Value last = now[numSums];
    RingPosition here = {now[numSums + 1], now[numSums + 2]};
    llvm::SmallVector<Value> sums = startBlock(consumer, here, now.take_front(numSums), /*accumulates=*/true);
    sums = awaitBlocks(sums, /*inFlight=*/1);
    ring_->release(last);
    RingPosition after = ring_->next(here);
    sums.append({here.slot, after.slot, after.phase});
    return sums;
  });
  llvm::SmallVector<Value> sums = awaitBlocks(ValueRange(carried).take_front(numSums), /*inFlight=*/0);
  ring_->release(carried[numSums]);
  position = {carried[numSums + 1], carried[numSums + 2]};
  return sums;
}

void PersistentMatmul::store(int64_t consumer, ValueRange sums, Value row, Value column) {
  KernelBuilder &b = *builder_;
  int64_t offset = 0;
  for (auto [index, sum] : llvm::enumerate(sums)) {
    const TileStore &store = stores_[size_t(consumer) * parts_.size() + index];
    Value result = b.convert(sum, outputType_), at = b.add(column, b.i32(offset));
    Value matrix = b.descriptorParameter("c", TileStore::sliceOf(resultTile(parts_[index])));
    store.store(tile_.transposed ? b.transpose(result) : result, matrix, tile_.transposed ? at : row,
                tile_.transposed ? row : at);
    offset += parts_[index];
  }
}

void PersistentMatmul::consume(int64_t consumer) {
  KernelBuilder &b = *builder_;
  RingPosition start = ring_->start();
  forEachTileOf({start.slot, start.phase}, [&](TilePosition at, ValueRange carried) -> llvm::SmallVector<Value> {
    RingPosition position = {carried[0], carried[1]};
    llvm::SmallVector<Value> sums = multiply(consumer, position);
    Value row = b.add(b.mul(at.row, b.i32(tile_.rows)), b.i32(consumer * kConsumerRows));
    store(consumer, sums, row, b.mul(at.column, b.i32(tile_.columns)));
    return {position.slot, position.phase};
  });
  TileStore::drain(b);
}

Result<BuiltKernel> buildPersistentMatmul(const Description &description, const PersistentTile &tile,
                                          const Target &target, MLIRContext &context) {
  return PersistentMatmul(description, tile, target, context).build();
}

} // namespace jitk::kernels
