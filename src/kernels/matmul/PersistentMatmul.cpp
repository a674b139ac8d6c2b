#include "src/kernels/matmul/PersistentMatmul.h"

#include "src/kernels/vocabulary/KernelProgram.h"
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

/// What is moved and computed with one tile.
struct Shapes {
  Shapes(const Description &description, const PersistentTile &tile, MLIRContext &context);

  SharedTile leftTile() const { return left.tile(kConsumerRows, tile.k, inputType); }
  SharedTile rightTile(int64_t part) const { return right.tile(part, tile.k, inputType); }
  /// What a consumer stores of a part.
  SharedTile resultTile(int64_t part) const {
    return tile.transposed ? SharedTile{part, kConsumerRows, outputType} : SharedTile{kConsumerRows, part, outputType};
  }

  PersistentTile tile;
  llvm::SmallVector<int64_t> parts;
  Operand left, right; ///< results are rows of `left` by columns of `right`
  Type inputType, outputType;
};

/// Writes one step.
class PersistentMatmul {
public:
  PersistentMatmul(KernelBuilder &builder, const Shapes &shapes);

  void write();

private:
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

  KernelBuilder &b;
  const Shapes &shapes_;
  const PersistentTile &tile_;
  const llvm::SmallVector<int64_t> &parts_;
  const Operand &left_, &right_;
  std::optional<Ring> ring_;
  std::vector<TileStore> stores_; ///< of each consumer, of each part
};

} // namespace

Shapes::Shapes(const Description &description, const PersistentTile &chosen, MLIRContext &context)
    : tile(chosen), parts(chosen.parts()), left{"a", "m", true}, right{"b", "n", description.word("b_layout") == "col"},
      inputType(elementTypeOf(description.word("dtype"), context)),
      outputType(elementTypeOf(description.word("out_dtype"), context)) {
  if (tile.transposed) {
    std::swap(left, right);
  }
}

PersistentMatmul::PersistentMatmul(KernelBuilder &builder, const Shapes &shapes)
    : b(builder), shapes_(shapes), tile_(shapes.tile), parts_(shapes.parts), left_(shapes.left), right_(shapes.right) {
  // The tiles of a slot: the left operand's rows of each consumer, then the right operand's parts.
  llvm::SmallVector<SharedTile> tiles(size_t(tile_.numConsumers()), shapes.leftTile());
  for (int64_t part : parts_) {
    tiles.push_back(shapes.rightTile(part));
  }
  ring_.emplace(b, tile_.stages, tiles, kWarpsOfConsumer * unsigned(tile_.numConsumers()));
  for (int64_t consumer = 0; consumer < tile_.numConsumers(); ++consumer) {
    for (int64_t part : parts_) {
      stores_.emplace_back(b, shapes.resultTile(part));
    }
  }
}

void PersistentMatmul::write() {
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
}

llvm::SmallVector<Value> PersistentMatmul::forEachTileOf(ValueRange carried, TileBody body) {
  TileGrid grid = {b.ceilDiv(b.size(left_.outer), tile_.rows), b.ceilDiv(b.size(right_.outer), tile_.columns)};
  return forEachTile(b, grid, tile_.groupRows, carried, body);
}

// --- the producer

void PersistentMatmul::load(const RingPosition &position, unsigned tile, const Operand &operand,
                            const SharedTile &shape, Value outer, Value k) {
  ring_->load(position, tile, b.descriptorParameter(operand.tensor, shape), operand.kIsContiguous ? outer : k,
              operand.kIsContiguous ? k : outer);
}

void PersistentMatmul::produce() {
  RingPosition start = ring_->start();
  forEachTileOf({start.slot, start.phase}, [&](TilePosition at, ValueRange carried) {
    Value row = b.mul(at.row, b.i32(tile_.rows)), column = b.mul(at.column, b.i32(tile_.columns));
    return b.loop(b.i32(0), b.size("k"), tile_.k, carried, [&](Value k, ValueRange now) -> llvm::SmallVector<Value> {
      RingPosition position = {now[0], now[1]};
      ring_->acquire(position);
      unsigned tile = 0;
      for (int64_t consumer = 0; consumer < tile_.numConsumers(); ++consumer) {
        load(position, tile++, left_, shapes_.leftTile(), b.add(row, b.i32(consumer * kConsumerRows)), k);
      }
      int64_t offset = 0;
      for (int64_t part : parts_) {
        load(position, tile++, right_, shapes_.rightTile(part), b.add(column, b.i32(offset)), k);
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
  return llvm::map_to_vector(sums, [&](Value sum) { return b.awaitProducts(sum, inFlight * unsigned(parts_.size())); });
}

llvm::SmallVector<Value> PersistentMatmul::multiply(int64_t consumer, RingPosition &position) {
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
  int64_t offset = 0;
  for (auto [index, sum] : llvm::enumerate(sums)) {
    const TileStore &store = stores_[size_t(consumer) * parts_.size() + index];
    Value result = b.convert(sum, shapes_.outputType), at = b.add(column, b.i32(offset));
    Value matrix = b.descriptorParameter("c", TileStore::sliceOf(shapes_.resultTile(parts_[index])));
    store.store(tile_.transposed ? b.transpose(result) : result, matrix, tile_.transposed ? at : row,
                tile_.transposed ? row : at);
    offset += parts_[index];
  }
}

void PersistentMatmul::consume(int64_t consumer) {
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

// --- the program

/// Declares the operands with the tiles of all variants.
static KernelSignature declare(const Description &description, llvm::ArrayRef<Shapes> variants) {
  llvm::SmallVector<SharedTile> a, b, c;
  for (const Shapes &shapes : variants) {
    (shapes.tile.transposed ? b : a).push_back(shapes.leftTile());
    for (int64_t part : shapes.parts) {
      (shapes.tile.transposed ? a : b).push_back(shapes.rightTile(part));
      c.push_back(TileStore::sliceOf(shapes.resultTile(part)));
    }
  }
  KernelSignature signature;
  for (const char *name : {"m", "n", "k"}) {
    signature.dimension(name, description.dimension(name));
  }
  Expression m = signature.expression("m"), n = signature.expression("n"), k = signature.expression("k");
  bool isColumnMajor = description.word("b_layout") == "col";
  signature.tiledTensor("a", m, k, a);
  signature.tiledTensor("b", isColumnMajor ? n : k, isColumnMajor ? k : n, b);
  signature.tiledTensor("c", m, n, c);
  return signature;
}

/// 1 where value > limit, else 0.
static Expression exceeds(const Expression &value, int64_t limit) {
  using Op = Expression::Op;
  Expression excess = Expression::binary(Op::Sub, value, Expression::constant(limit));
  return Expression::binary(Op::Max, Expression::constant(0),
                            Expression::binary(Op::Min, Expression::constant(1), excess));
}

/// The grid where M has more than `least` and at most `most` rows, else nothing.
static std::array<Expression, 3> gridOf(const KernelSignature &signature, const Shapes &shapes, int64_t least,
                                        int64_t most) {
  using Op = Expression::Op;
  std::array<Expression, 3> grid = persistentGrid(signature.expression(shapes.left.outer), shapes.tile.rows,
                                                  signature.expression(shapes.right.outer), shapes.tile.columns);
  Expression m = signature.expression("m");
  if (least > 0) {
    grid[0] = Expression::binary(Op::Mul, grid[0], exceeds(m, least));
  }
  if (most < INT64_MAX) {
    Expression isFew = Expression::binary(Op::Sub, Expression::constant(1), exceeds(m, most));
    grid[0] = Expression::binary(Op::Mul, grid[0], isFew);
  }
  return grid;
}

Result<BuiltKernel> buildPersistentMatmul(const Description &description, llvm::ArrayRef<PersistentVariant> variants,
                                          const Target &target, MLIRContext &context) {
  llvm::SmallVector<Shapes> shapes = llvm::map_to_vector(
      variants, [&](const PersistentVariant &variant) { return Shapes(description, variant.tile, context); });
  KernelSignature signature = declare(description, shapes);
  KernelProgram program(context, signature, target);
  int64_t least = 0;
  for (auto [variant, shape] : llvm::zip_equal(variants, shapes)) {
    std::string symbol = variant.mostRows < INT64_MAX ? "matmul_" + std::to_string(variant.mostRows) : "matmul";
    program.step(
        {.symbol = symbol, .numWarps = kWarpsOfConsumer, .grid = gridOf(signature, shape, least, variant.mostRows)},
        [&](KernelBuilder &b) { PersistentMatmul(b, shape).write(); });
    least = variant.mostRows;
  }
  return std::move(program).finish();
}

} // namespace jitk::kernels
