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

/// The kernel while it is built: what its roles share.
class PersistentMatmul {
public:
  PersistentMatmul(KernelBuilder &b, const PersistentTile &tile, bool columnMajorB, Type inputType, Type outputType);

  void build();

private:
  /// The tiles of a slot: A's rows of each consumer, then B.
  llvm::SmallVector<SharedTile> slotTiles() const;
  void produce();
  void consume(int64_t consumer);
  /// The products of a tile's blocks of K; moves the position past them.
  Value multiply(int64_t consumer, RingPosition &position);
  Value startBlock(int64_t consumer, const RingPosition &position, Value accumulator, bool accumulates);

  llvm::SmallVector<Value> forEachTileOf(ValueRange carried, TileBody body) {
    TileGrid grid = {b.ceilDiv(b.size("m"), tile_.m), b.ceilDiv(b.size("n"), tile_.n)};
    return forEachTile(b, grid, tile_.groupRows, carried, body);
  }

  KernelBuilder &b;
  PersistentTile tile_;
  bool columnMajorB_;
  Type inputType_, outputType_;
  unsigned right_; ///< number of B among the tiles of a slot
  Ring ring_;
  std::vector<TileStore> stores_; ///< of each consumer
};

} // namespace

static SharedTile leftTile(const PersistentTile &tile, Type type) { return {kConsumerRows, tile.k, type}; }

static SharedTile rightTile(const PersistentTile &tile, bool columnMajor, Type type) {
  return columnMajor ? SharedTile{tile.n, tile.k, type} : SharedTile{tile.k, tile.n, type};
}

static SharedTile resultTile(const PersistentTile &tile, Type type) { return {kConsumerRows, tile.n, type}; }

llvm::SmallVector<SharedTile> PersistentMatmul::slotTiles() const {
  llvm::SmallVector<SharedTile> tiles(size_t(tile_.numConsumers()), leftTile(tile_, inputType_));
  tiles.push_back(rightTile(tile_, columnMajorB_, inputType_));
  return tiles;
}

PersistentMatmul::PersistentMatmul(KernelBuilder &builder, const PersistentTile &tile, bool columnMajorB,
                                   Type inputType, Type outputType)
    : b(builder), tile_(tile), columnMajorB_(columnMajorB), inputType_(inputType), outputType_(outputType),
      right_(unsigned(tile.numConsumers())),
      ring_(b, tile.stages, slotTiles(), kWarpsOfConsumer * unsigned(tile.numConsumers())) {
  for (int64_t consumer = 0; consumer < tile.numConsumers(); ++consumer) {
    stores_.emplace_back(b, resultTile(tile, outputType));
  }
}

void PersistentMatmul::build() {
  auto produceAll = [&] { produce(); };
  auto consumeFirst = [&] { consume(0); };
  auto consumeSecond = [&] { consume(1); };
  if (tile_.numConsumers() == 1) {
    return specialize(
        b, {Role{.numWarps = kWarpsOfConsumer, .body = consumeFirst}, Role{.numWarps = 1, .body = produceAll}});
  }
  specialize(b, {Role{.numWarps = kWarpsOfConsumer, .body = consumeFirst},
                 Role{.numWarps = kWarpsOfConsumer, .registers = kConsumerRegisters, .body = consumeSecond},
                 Role{.numWarps = 1, .registers = kProducerRegisters, .body = produceAll}});
}

void PersistentMatmul::produce() {
  RingPosition start = ring_.start();
  forEachTileOf({start.slot, start.phase}, [&](TilePosition at, ValueRange carried) {
    Value row = b.mul(at.row, b.i32(tile_.m)), column = b.mul(at.column, b.i32(tile_.n));
    return b.loop(b.i32(0), b.size("k"), tile_.k, carried, [&](Value k, ValueRange now) -> llvm::SmallVector<Value> {
      RingPosition position = {now[0], now[1]};
      ring_.acquire(position);
      for (int64_t consumer = 0; consumer < tile_.numConsumers(); ++consumer) {
        ring_.load(position, unsigned(consumer), b.descriptorParameter("a"),
                   b.add(row, b.i32(consumer * kConsumerRows)), k);
      }
      ring_.load(position, right_, b.descriptorParameter("b"), columnMajorB_ ? column : k, columnMajorB_ ? k : column);
      RingPosition next = ring_.next(position);
      return {next.slot, next.phase};
    });
  });
}

Value PersistentMatmul::startBlock(int64_t consumer, const RingPosition &position, Value accumulator,
                                   bool accumulates) {
  ring_.await(position);
  Value right = ring_.tile(position, right_);
  return b.startProduct(ring_.tile(position, unsigned(consumer)), columnMajorB_ ? b.transposeBuffer(right) : right,
                        accumulator, accumulates);
}

Value PersistentMatmul::multiply(int64_t consumer, RingPosition &position) {
  // One product is in flight while the next one is started; a slot is given back when the product after it has begun.
  Value sum =
      startBlock(consumer, position, b.full(0, {kConsumerRows, tile_.n}, b.getF32Type()), /*accumulates=*/false);
  RingPosition next = ring_.next(position);
  llvm::SmallVector<Value> carried = {sum, position.slot, next.slot, next.phase};
  carried =
      b.loop(b.i32(tile_.k), b.size("k"), tile_.k, carried, [&](Value, ValueRange now) -> llvm::SmallVector<Value> {
        RingPosition last = {now[1], {}}, here = {now[2], now[3]};
        Value running = startBlock(consumer, here, now[0], /*accumulates=*/true);
        running = b.awaitProducts(running, /*inFlight=*/1);
        ring_.release(last);
        RingPosition after = ring_.next(here);
        return {running, here.slot, after.slot, after.phase};
      });
  sum = b.awaitProducts(carried[0], /*inFlight=*/0);
  ring_.release({carried[1], {}});
  position = {carried[2], carried[3]};
  return sum;
}

void PersistentMatmul::consume(int64_t consumer) {
  RingPosition start = ring_.start();
  const TileStore &store = stores_[size_t(consumer)];
  forEachTileOf({start.slot, start.phase}, [&](TilePosition at, ValueRange carried) -> llvm::SmallVector<Value> {
    RingPosition position = {carried[0], carried[1]};
    Value sum = multiply(consumer, position);
    Value row = b.add(b.mul(at.row, b.i32(tile_.m)), b.i32(consumer * kConsumerRows));
    store.store(b.convert(sum, outputType_), b.descriptorParameter("c"), row, b.mul(at.column, b.i32(tile_.n)));
    return {position.slot, position.phase};
  });
  store.drain();
}

Result<BuiltKernel> buildPersistentMatmul(const Description &description, const PersistentTile &tile,
                                          const Target &target, MLIRContext &context) {
  Type inputType = elementTypeOf(description.word("dtype"), context);
  Type outputType = elementTypeOf(description.word("out_dtype"), context);
  bool columnMajorB = description.word("b_layout") == "col";

  KernelSignature signature;
  for (const char *name : {"m", "n", "k"}) {
    signature.dimension(name, description.dimension(name));
  }
  Expression m = signature.expression("m"), n = signature.expression("n"), k = signature.expression("k");
  signature.tiledTensor("a", m, k, leftTile(tile, inputType));
  signature.tiledTensor("b", columnMajorB ? n : k, columnMajorB ? k : n, rightTile(tile, columnMajorB, inputType));
  signature.tiledTensor("c", m, n, TileStore::sliceOf(resultTile(tile, outputType)));

  KernelBuilder b(context, signature, target, "matmul", kWarpsOfConsumer);
  PersistentMatmul(b, tile, columnMajorB, inputType, outputType).build();
  return std::move(b).finish(persistentGrid(m, tile.m, n, tile.n));
}

} // namespace jitk::kernels
