#include "src/kernels/matmul/PersistentProduct.h"

#include "src/ir/tt/TensorParts.h"
#include "src/kernels/matmul/PartialSums.h"
#include "src/kernels/vocabulary/Roles.h"

using namespace mlir;

namespace jitk::kernels {

/// Of a thread. Two consumers hold up to 192 accumulators a thread; the producer holds next to nothing.
static constexpr unsigned kConsumerRegisters = 240, kProducerRegisters = 24;
/// The same where vectors pass through the registers of a role beside the producer.
static constexpr unsigned kConsumerRegistersBesideWriter = 232, kWriterRegisters = 40;

bool isMultipleOf(const Dimension &dimension, int64_t factor) {
  return (dimension.isStatic() ? dimension.value : dimension.divisor) % factor == 0;
}

ProductShapes::ProductShapes(const PersistentTile &chosen, int64_t depth, bool isColumnMajorA, bool isColumnMajorB,
                             Type inputType, Type outputType)
    : tile(chosen), k(depth), parts(chosen.parts()), left{"a", "m", !isColumnMajorA}, right{"b", "n", isColumnMajorB},
      inputType(inputType), outputType(outputType), result("c") {
  if (leavesPartialSums()) {
    result = (llvm::Twine("partial_sums_") + llvm::Twine(tile.rows) + "x" + llvm::Twine(tile.columns) + "x" +
              llvm::Twine(tile.splits) + (tile.transposed ? "t" : ""))
                 .str();
  }
  if (tile.transposed) {
    std::swap(left, right);
  }
}

Type ProductShapes::resultType() const {
  return leavesPartialSums() ? Type(Float32Type::get(outputType.getContext())) : outputType;
}

SharedTile ProductShapes::leftTile() const { return left.tile(PersistentProduct::kConsumerRows, tile.k, inputType); }

SharedTile ProductShapes::resultTile(int64_t part) const {
  constexpr int64_t kRows = PersistentProduct::kConsumerRows;
  return tile.transposed ? SharedTile{part, kRows, resultType()} : SharedTile{kRows, part, resultType()};
}

PersistentProduct::PersistentProduct(KernelBuilder &builder, const ProductShapes &shapes, const Epilogue &epilogue)
    : b(builder), shapes_(shapes), tile_(shapes.tile), parts_(shapes.parts),
      epilogue_(epilogue.canAddInMemory() && !tile_.clustered ? epilogue.addingInMemory() : epilogue) {
  // The tiles of a slot: the left operand's rows, which each consumer has, then the right operand's parts.
  llvm::SmallVector<SharedTile> tiles = {shapes.leftTile()};
  for (int64_t part : parts_) {
    tiles.push_back(shapes.rightTile(part));
  }
  int64_t numConsumers = tile_.numConsumers();
  ring_.emplace(b, tile_.stages, tiles, kWarpsOfConsumer * unsigned(numConsumers),
                RingOptions{
                    .sharers = unsigned(tile_.sharers),
                    .vectors = {shapes.vectors, shapes.vectors.empty() ? 0 : kWarpsOfWriter, b.getF32Type()},
                    .replicas = numConsumers,
                    .ownTiles = 1,
                    .ownVectors = 1,
                    .firstJoined = tile_.joinsParts ? 1 : SIZE_MAX,
                    .unit = shapes.rightPiece(parts_.back()),
                });
  if (tile_.clustered) {
    assert(numConsumers == 1 && "the sums of one consumer are handed over");
    for (int64_t part : parts_) {
      sums_.emplace_back(b, kConsumerRows, part, tile_.slicesOf(part), tile_.transposed);
    }
    return;
  }
  for (int64_t part : parts_) {
    SharedTile result = shapes.resultTile(part);
    if (epilogue_.readsTensors()) {
      feeds_.emplace_back(b, epilogue_, result, numConsumers, kWarpsOfConsumer, sharesSlots());
    }
    if (sharesSlots()) {
      bool isNew = stores_.emplace(part, TileStore(b, result, feeds_.back().slots(), numConsumers)).second;
      assert(isNew && "parts of one size would share a feed's slots");
      (void)isNew;
    } else if (tile_.storesAtOnce) {
      storesAtOnce_.emplace_back(b, result, /*mostSlots=*/2, TileStore::Kind::Store, numConsumers);
    } else if (!stores_.contains(part)) {
      TileStore::Kind kind = epilogue.canAddInMemory() ? TileStore::Kind::Add : TileStore::Kind::Store;
      stores_.emplace(part, TileStore(b, result, /*mostSlots=*/2, kind, numConsumers));
    }
  }
}

void PersistentProduct::write() {
  auto produceAll = [&] { produce(); };
  auto feedAll = [&] { feed(); };
  auto writeAll = [&] { writeVectors(); };
  auto consumeAll = [&] { consume(tile_.numConsumers() > 1 ? replicaId(b) : Value(b.i32(0))); };
  // One consumer has registers enough as launched.
  bool isPair = tile_.numConsumers() == 2;
  bool isWriting = !shapes_.vectors.empty();
  unsigned many = isWriting ? kConsumerRegistersBesideWriter : kConsumerRegisters;
  unsigned few = !isPair ? 0 : isWriting ? kWriterRegisters : kProducerRegisters;
  llvm::SmallVector<Role> roles;
  roles.push_back(Role{.numWarps = kWarpsOfConsumer,
                       .replicas = unsigned(tile_.numConsumers()),
                       .registers = isPair ? many : 0,
                       .body = consumeAll});
  roles.push_back(Role{.numWarps = 1, .registers = few, .body = produceAll});
  if (!feeds_.empty()) {
    roles.push_back(Role{.numWarps = 1, .registers = few, .body = feedAll});
  }
  if (isWriting) {
    roles.push_back(Role{.numWarps = kWarpsOfWriter, .registers = few, .body = writeAll});
  }
  specialize(b, roles);
  if (tile_.clustered) {
    addUp();
  }
}

Expression paddedRows(const KernelSignature &signature, const ProductShapes &shapes) {
  using Op = Expression::Op;
  Expression tile = Expression::constant(shapes.tile.rowsOfC());
  return Expression::binary(Op::Mul, Expression::binary(Op::CeilDiv, signature.expression("m"), tile), tile);
}

llvm::SmallVector<Value> PersistentProduct::forEachTileOfWidth(bool isNarrow, ValueRange carried, TileBody body) {
  const PersistentTile::Mix &mix = tile_.mix;
  const std::array<int64_t, 2> &columns = isNarrow ? mix.narrow : mix.wide;
  Value numRows = b.ceilDiv(b.size(shapes_.left.outer), tile_.rows), firstRows = b.i32(mix.rows);
  Value otherRows = b.sub(numRows, firstRows), firstTiles = b.i32(mix.rows * columns[0]);
  Value numTiles = b.add(firstTiles, b.mul(otherRows, b.i32(columns[1])));
  return b.loop(b.programId(0), numTiles, b.numPrograms(0), carried, [&](Value number, ValueRange now) {
    Value isFirst = b.lessThan(number, firstTiles);
    auto choose = [&](Value ofFirst, Value ofOthers) { return b.select(isFirst, ofFirst, ofOthers); };
    TileGrid grid = {choose(firstRows, otherRows), choose(b.i32(columns[0]), b.i32(columns[1]))};
    TilePosition at = rasterize(b, b.sub(number, choose(b.i32(0), firstTiles)), grid, tile_.groupRows);
    at.row = b.add(at.row, choose(b.i32(0), firstRows));
    at.firstColumn = b.mul(at.column, b.i32(isNarrow ? parts_.front() : tile_.columns));
    if (isNarrow) {
      Value wide = choose(b.i32(mix.wide[0]), b.i32(mix.wide[1]));
      at.firstColumn = b.add(at.firstColumn, b.mul(wide, b.i32(tile_.columns)));
    }
    at.isNarrow = isNarrow;
    return body(at, now);
  });
}

TileGrid PersistentProduct::tileGrid() {
  return {b.ceilDiv(b.size(shapes_.left.outer), tile_.rows), b.ceilDiv(b.size(shapes_.right.outer), tile_.columns)};
}

llvm::SmallVector<Value> PersistentProduct::forEachTileOf(ValueRange carried, TileBody body) {
  if (tile_.mix.rows > 0) {
    llvm::SmallVector<Value> afterWide = forEachTileOfWidth(/*isNarrow=*/false, carried, body);
    return forEachTileOfWidth(/*isNarrow=*/true, afterWide, body);
  }
  return forEachTile(b, tileGrid(), tile_.groupRows, carried, body);
}

llvm::SmallVector<Value> PersistentProduct::forEachProduct(ValueRange carried, ProductBody body) {
  if (!shapes_.isSplit()) {
    return forEachTileOf(carried,
                         [&](TilePosition at, ValueRange now) { return body({at, /*split=*/{}, b.i32(0)}, now); });
  }
  if (tile_.clustered) {
    return body(ownProduct(), carried);
  }
  TileGrid grid = tileGrid();
  // All tiles of one part of K before the next part: CTAs side by side share operands.
  Value tiles = b.mul(grid.rows, grid.columns);
  return b.loop(b.programId(0), b.mul(tiles, b.i32(tile_.splits)), b.numPrograms(0), carried,
                [&](Value number, ValueRange now) {
                  TilePosition at = rasterize(b, b.rem(number, tiles), grid, tile_.groupRows);
                  Value split = b.div(number, tiles);
                  return body({at, split, b.mul(split, b.i32(shapes_.depth()))}, now);
                });
}

ProductTile PersistentProduct::ownProduct() {
  TilePosition at = rasterize(b, b.clusterId(), tileGrid(), tile_.groupRows);
  Value split = b.clusterRank();
  return {at, split, b.mul(split, b.i32(shapes_.depth()))};
}

Value PersistentProduct::firstRow(const TilePosition &at, Value consumer) {
  return b.add(b.mul(at.row, b.i32(tile_.rows)), b.mul(consumer, b.i32(kConsumerRows)));
}

Value PersistentProduct::partColumn(const TilePosition &at, size_t part) {
  int64_t offset = 0;
  for (int64_t before : llvm::ArrayRef(parts_).take_front(part)) {
    offset += before;
  }
  Value first = at.firstColumn ? at.firstColumn : b.mul(at.column, b.i32(tile_.columns));
  return b.add(first, b.i32(offset));
}

// --- the producer

void PersistentProduct::load(const RingPosition &position, unsigned tile, const ProductOperand &operand,
                             const SharedTile &shape, Value outer, Value k, Value consumer) {
  Value row = operand.kIsContiguous ? outer : k, column = operand.kIsContiguous ? k : outer;
  ring_->load(position, tile, b.descriptorParameter(operand.tensor, shape), {row, column}, consumer);
}

void PersistentProduct::loadRight(const RingPosition &position, size_t part, Value column, Value k) {
  unsigned tile = 1 + unsigned(part);
  if (tile_.sharers == 1) {
    load(position, tile, shapes_.right, shapes_.rightTile(parts_[part]), column, k);
    return;
  }
  SharedTile piece = shapes_.rightPiece(parts_[part]);
  Value outer = b.add(column, b.mul(b.clusterRank(), b.i32(parts_[part] / tile_.sharers)));
  ring_->loadShared(position, tile, piece, b.descriptorParameter(shapes_.right.tensor, piece),
                    shapes_.right.kIsContiguous ? outer : k, shapes_.right.kIsContiguous ? k : outer);
}

void PersistentProduct::produce() {
  RingPosition start = ring_->start();
  forEachProduct({start.slot, start.phase}, [&](const ProductTile &at, ValueRange carried) {
    llvm::SmallVector<Value> rows, columns;
    for (int64_t consumer = 0; consumer < tile_.numConsumers(); ++consumer) {
      rows.push_back(firstRow(at, b.i32(consumer)));
    }
    for (size_t part = 0; part < numParts(at); ++part) {
      columns.push_back(operandColumn(at, part));
    }
    return b.loop(b.i32(0), b.i32(shapes_.depth()), tile_.k, carried,
                  [&](Value offset, ValueRange now) -> llvm::SmallVector<Value> {
                    Value k = b.add(at.firstK, offset);
                    RingPosition position = {now[0], now[1]};
                    ring_->acquire(position, 1 + columns.size());
                    for (auto [consumer, row] : llvm::enumerate(rows)) {
                      load(position, 0, shapes_.left, shapes_.leftTile(), row, k, b.i32(int64_t(consumer)));
                    }
                    for (auto [part, column] : llvm::enumerate(columns)) {
                      loadRight(position, part, column, k);
                    }
                    RingPosition next = ring_->next(position);
                    return {next.slot, next.phase};
                  });
  });
}

// --- a consumer

llvm::SmallVector<Value> PersistentProduct::zeros(const TilePosition &at) {
  return llvm::map_to_vector(llvm::ArrayRef(parts_).take_front(numParts(at)),
                             [&](int64_t part) -> Value { return b.full(0, {kConsumerRows, part}, b.getF32Type()); });
}

Value PersistentProduct::leftBuffer(const RingPosition &position, Value consumer) const {
  Value rows = ring_->tile(position, 0, consumer);
  return shapes_.left.kIsContiguous ? rows : b.transposeBuffer(rows);
}

Value PersistentProduct::rightBuffer(const RingPosition &position, size_t part) const {
  Value columns = ring_->tile(position, 1 + unsigned(part));
  return shapes_.right.kIsContiguous ? b.transposeBuffer(columns) : columns;
}

Value PersistentProduct::startPart(Value rows, const RingPosition &position, size_t part, Value accumulator,
                                   Value accumulates) {
  return b.startProduct(rows, rightBuffer(position, part), accumulator, accumulates);
}

llvm::SmallVector<Value> PersistentProduct::startParts(Value rows, const RingPosition &position,
                                                       ValueRange accumulators, Value accumulates) {
  llvm::SmallVector<Value> sums, columns;
  if (tile_.joinsParts && accumulators.size() > 1) {
    for (size_t part = 0; part < accumulators.size(); ++part) {
      columns.push_back(rightBuffer(position, part));
    }
    return b.startProductOfParts(rows, columns, accumulators, accumulates);
  }
  for (auto [part, accumulator] : llvm::enumerate(accumulators)) {
    sums.push_back(startPart(rows, position, part, accumulator, accumulates));
  }
  return sums;
}

std::pair<Value, Value> PersistentProduct::originOf(Value consumer, size_t part, const ProductTile &at) {
  Value row = firstRow(at, consumer), column = partColumn(at, part);
  if (tile_.transposed) {
    std::swap(row, column);
  }
  if (at.split && !tile_.clustered) {
    Value rows = b.mul(b.ceilDiv(b.size("m"), tile_.rowsOfC()), b.i32(tile_.rowsOfC()));
    row = b.add(row, b.mul(at.split, rows));
  }
  return {row, column};
}

Value PersistentProduct::resultMatrix(size_t part) {
  return b.descriptorParameter(shapes_.result, TileStore::sliceOf(shapes_.resultTile(parts_[part])));
}

Value PersistentProduct::finish(Value consumer, size_t part, size_t index, Value slice,
                                llvm::MutableArrayRef<RingPosition> feeds) {
  return feeds.empty() ? epilogue_.apply(b, slice, {}, {}, shapes_.resultType())
                       : feeds_[part].apply(consumer, slice, index, feeds[part]);
}

void PersistentProduct::store(Value consumer, ValueRange sums, const ProductTile &at,
                              llvm::MutableArrayRef<RingPosition> feeds) {
  if (tile_.storesAtOnce) {
    storeAtOnce(consumer, sums, at);
    return;
  }
  for (auto [part, sum] : llvm::enumerate(sums)) {
    size_t index = 0;
    auto [row, column] = originOf(consumer, part, at);
    Value matrix = resultMatrix(part);
    Value tile = tile_.transposed ? b.transpose(sum) : sum;
    stores_.at(parts_[part]).of(consumer).store(tile, matrix, row, column, [&](Value slice) {
      return finish(consumer, part, index++, slice, feeds);
    });
  }
}

void PersistentProduct::storeAtOnce(Value consumer, ValueRange sums, const ProductTile &at) {
  llvm::SmallVector<llvm::SmallVector<Value>> finished;
  for (auto [part, sum] : llvm::enumerate(sums)) {
    finished.push_back(llvm::map_to_vector(storesAtOnce_[part].slices(sum), [&](Value slice) {
      return epilogue_.apply(b, slice, {}, {}, shapes_.resultType());
    }));
  }
  // Those of the tile before.
  TileStore::drain(b);
  for (auto [part, slices] : llvm::enumerate(finished)) {
    storesAtOnce_[part].of(consumer).fill(slices);
  }
  for (size_t part = 0; part < sums.size(); ++part) {
    auto [row, column] = originOf(consumer, part, at);
    storesAtOnce_[part].of(consumer).copyOut(resultMatrix(part), {row, column});
  }
}

// --- stores beside the next tile's products

void PersistentProduct::workBesideProducts() {
  if (!waiting_.empty()) {
    waiting_.front()();
    waiting_.pop_front();
  }
}

llvm::SmallVector<PersistentProduct::Pending> PersistentProduct::nothingPending() {
  // Slices of zeros past the last row: TMA clips all of them. Above the first row would not do: at a store of a box at
  // negative coordinates alone an H200 ends the kernel with an illegal instruction.
  constexpr int64_t kPastRows = (int64_t(1) << 31) - 256; // the bound of every size
  llvm::SmallVector<Pending> pending;
  for (int64_t part : parts_) {
    SharedTile result = shapes_.resultTile(part), slice = TileStore::sliceOf(result);
    auto numSlices = size_t(result.columns / slice.columns);
    Value none = packsResults() ? b.full(0, {slice.rows, slice.columns / 2}, b.getI32Type())
                                : b.full(0, {slice.rows, slice.columns}, shapes_.resultType());
    pending.push_back(
        {llvm::SmallVector<Value>(numSlices - firstWaiting(numSlices), none), b.i32(kPastRows), b.i32(0)});
  }
  return pending;
}

llvm::SmallVector<PersistentProduct::Pending> PersistentProduct::hold(Value consumer, ValueRange sums,
                                                                      const ProductTile &at,
                                                                      llvm::MutableArrayRef<RingPosition> feeds) {
  // Of parts that the tile does not have nothing is stored.
  llvm::SmallVector<Pending> pending = nothingPending();
  for (auto [part, sum] : llvm::enumerate(sums)) {
    Pending &next = pending[part];
    next.slices.clear();
    std::tie(next.row, next.column) = originOf(consumer, part, at);
    TileStore store = stores_.at(parts_[part]).of(consumer);
    llvm::SmallVector<Value> slices = store.slices(sum);
    for (auto [index, slice] : llvm::enumerate(slices)) {
      Value finished = finish(consumer, part, index, slice, feeds);
      if (index < firstWaiting(slices.size())) {
        store.storeSlice(index, finished, resultMatrix(part), {next.row, next.column});
      } else {
        next.slices.push_back(packsResults() ? ir::tt::packPairs(b, b.getLoc(), finished) : finished);
      }
    }
  }
  return pending;
}

void PersistentProduct::defer(Value consumer, llvm::ArrayRef<Pending> pending) {
  for (auto [part, results] : llvm::enumerate(pending)) {
    TileStore store = stores_.at(parts_[part]).of(consumer);
    Value matrix = resultMatrix(part);
    size_t numSlices = size_t(parts_[part] / TileStore::sliceOf(shapes_.resultTile(parts_[part])).columns);
    for (auto [offset, slice] : llvm::enumerate(results.slices)) {
      size_t index = firstWaiting(numSlices) + offset;
      waiting_.push_back([this, store, matrix, index, slice, row = results.row, column = results.column] {
        Value finished = packsResults() ? ir::tt::unpackPairs(b, b.getLoc(), slice, shapes_.resultType()) : slice;
        store.storeSlice(index, finished, matrix, {row, column});
      });
    }
  }
  if (sharesSlots()) {
    waiting_.push_back([this, consumer] {
      TileStore::drain(b);
      // One thread has waited.
      ir::ttg::LocalBarrierOp::create(b);
      for (size_t part = 0; part < parts_.size(); ++part) {
        feeds_[part].giveBack(consumer);
      }
    });
  }
}

/// Positions in rings as a loop carries them.
static void append(llvm::SmallVector<Value> &carried, llvm::ArrayRef<RingPosition> positions) {
  for (const RingPosition &position : positions) {
    carried.append({position.slot, position.phase});
  }
}

static llvm::SmallVector<RingPosition> positionsOf(ValueRange carried) {
  llvm::SmallVector<RingPosition> positions;
  for (; !carried.empty(); carried = carried.drop_front(2)) {
    positions.push_back({carried[0], carried[1]});
  }
  return positions;
}

llvm::SmallVector<RingPosition> PersistentProduct::startOf(Value consumer) const {
  llvm::SmallVector<RingPosition> start = {ring_->start()};
  for (size_t part = 0; part < parts_.size() && !feeds_.empty(); ++part) {
    start.push_back(feeds_[part].start(consumer));
  }
  return start;
}

void PersistentProduct::consume(Value consumer) {
  if (tile_.defersStores) {
    consumeDeferring(consumer);
    return;
  }
  llvm::SmallVector<Value> carried;
  append(carried, startOf(consumer));
  forEachProduct(carried, [&](const ProductTile &at, ValueRange now) {
    llvm::SmallVector<RingPosition> positions = positionsOf(now);
    llvm::SmallVector<Value> sums = multiply(consumer, at, positions.front());
    if (tile_.clustered) {
      for (auto [clusterSum, sum] : llvm::zip_equal(sums_, sums)) {
        clusterSum.handOver(sum);
      }
    } else {
      store(consumer, sums, at, llvm::MutableArrayRef(positions).drop_front());
    }
    llvm::SmallVector<Value> next;
    append(next, positions);
    return next;
  });
  if (!tile_.clustered) {
    TileStore::drain(b);
  }
}

void PersistentProduct::addUp() {
  ProductTile at = ownProduct();
  for (auto [part, clusterSum] : llvm::enumerate(sums_)) {
    auto [row, column] = originOf(b.i32(0), part, at);
    int64_t slice = clusterSum.sliceColumns();
    Value offset = b.mul(b.clusterRank(), b.i32(slice));
    (tile_.transposed ? row : column) = b.add(tile_.transposed ? row : column, offset);
    SumRegion::Side across = {row, kConsumerRows, b.isMultiple(shapes_.left.outer, tile_.rows)};
    SumRegion::Side along = {column, slice, b.isMultiple(shapes_.right.outer, tile_.columns)};
    if (tile_.transposed) {
      std::swap(across.count, along.count);
      std::swap(across.isInside, along.isInside);
    }
    SumRegion region(b, across, along);
    clusterSum.addUp([&](Value sum) { region.store(sum, epilogue_, shapes_.outputType); });
  }
}

void PersistentProduct::consumeDeferring(Value consumer) {
  llvm::SmallVector<Value> carried;
  llvm::SmallVector<RingPosition> start = startOf(consumer);
  append(carried, start);
  llvm::SmallVector<Pending> pending = nothingPending();
  auto appendPending = [&](llvm::SmallVector<Value> &values) {
    for (const Pending &results : pending) {
      values.append(results.slices);
      values.append({results.row, results.column});
    }
  };
  auto takePending = [&](ValueRange values) {
    for (Pending &results : pending) {
      llvm::copy(values.take_front(results.slices.size()), results.slices.begin());
      values = values.drop_front(results.slices.size());
      results.row = values[0];
      results.column = values[1];
      values = values.drop_front(2);
    }
  };
  appendPending(carried);
  size_t numPositions = 2 * start.size();
  carried = forEachProduct(carried, [&](const ProductTile &at, ValueRange now) {
    llvm::SmallVector<RingPosition> positions = positionsOf(now.take_front(numPositions));
    takePending(now.drop_front(numPositions));
    defer(consumer, pending);
    llvm::SmallVector<Value> sums = multiply(consumer, at, positions.front());
    while (hasWorkBesideProducts()) {
      workBesideProducts();
    }
    pending = hold(consumer, sums, at, llvm::MutableArrayRef(positions).drop_front());
    llvm::SmallVector<Value> next;
    append(next, positions);
    appendPending(next);
    return next;
  });
  takePending(ValueRange(carried).drop_front(numPositions));
  defer(consumer, pending);
  while (hasWorkBesideProducts()) {
    workBesideProducts();
  }
  TileStore::drain(b);
}

// --- the feeds of the epilogue

void PersistentProduct::feedPart(size_t part, const ProductTile &at, llvm::MutableArrayRef<RingPosition> positions) {
  SharedTile result = shapes_.resultTile(parts_[part]);
  // In the order in which the consumers, side by side, ask for them.
  for (int64_t offset = 0; offset < result.columns; offset += TileStore::sliceOf(result).columns) {
    for (int64_t consumer = 0; consumer < tile_.numConsumers(); ++consumer) {
      Value number = b.i32(consumer);
      RingPosition &position = positions[size_t(consumer) * parts_.size() + part];
      auto [row, column] = originOf(number, part, at);
      position = feeds_[part].load(number, position, row, b.add(column, b.i32(offset)));
    }
  }
}

void PersistentProduct::feed() {
  llvm::SmallVector<Value> carried;
  for (int64_t consumer = 0; consumer < tile_.numConsumers(); ++consumer) {
    for (const EpilogueFeed &feed : feeds_) {
      append(carried, feed.loaderStart(b.i32(consumer)));
    }
  }
  forEachProduct(carried, [&](const ProductTile &at, ValueRange now) {
    llvm::SmallVector<RingPosition> positions = positionsOf(now);
    for (size_t part = 0; part < numParts(at); ++part) {
      feedPart(part, at, positions);
    }
    llvm::SmallVector<Value> next;
    append(next, positions);
    return next;
  });
}

// --- the program

ProductTiles::ProductTiles(llvm::ArrayRef<ProductShapes> variants) {
  for (const ProductShapes &shapes : variants) {
    (shapes.tile.transposed ? b : a).push_back(shapes.leftTile());
    for (int64_t part : shapes.parts) {
      (shapes.tile.transposed ? a : b).push_back(shapes.rightPiece(part));
      SharedTile slice = TileStore::sliceOf(shapes.resultTile(part));
      if (shapes.tile.clustered) {
        continue;
      }
      (shapes.isSplit() ? partialSums : c).push_back(slice);
      if (!shapes.isSplit()) {
        bias.push_back(EpilogueFeed::biasTile(slice));
      }
    }
  }
}

/// 1 where value > limit, else 0.
static Expression exceeds(const Expression &value, int64_t limit) {
  using Op = Expression::Op;
  Expression excess = Expression::binary(Op::Sub, value, Expression::constant(limit));
  return Expression::binary(Op::Max, Expression::constant(0),
                            Expression::binary(Op::Min, Expression::constant(1), excess));
}

/// 1 where M has more than `least` and at most `most` rows, else 0.
static Expression hasRows(const Expression &m, int64_t least, int64_t most) {
  using Op = Expression::Op;
  Expression isMore = least > 0 ? exceeds(m, least) : Expression::constant(1);
  if (most == INT64_MAX) {
    return isMore;
  }
  return Expression::binary(Op::Mul, isMore, Expression::binary(Op::Sub, Expression::constant(1), exceeds(m, most)));
}

static std::array<Expression, 3> gridOf(const KernelSignature &signature, const ProductShapes &shapes) {
  using Op = Expression::Op;
  Expression numTiles = rasterGrid(signature.expression(shapes.left.outer), shapes.tile.rows * shapes.tile.sharers,
                                   signature.expression(shapes.right.outer), shapes.tile.columns)[0];
  numTiles = Expression::binary(Op::Mul, numTiles, Expression::constant(shapes.tile.splits));
  if (shapes.tile.clustered) {
    return {numTiles, Expression::constant(1), Expression::constant(1)};
  }
  return persistentGrid(shapes.batch ? Expression::binary(Op::Mul, numTiles, signature.expression(shapes.batch))
                                     : numTiles,
                        unsigned(shapes.tile.sharers));
}

void addProductSteps(KernelProgram &program, const KernelSignature &signature, llvm::StringRef symbol,
                     llvm::ArrayRef<PersistentVariant> variants, llvm::ArrayRef<ProductShapes> shapes,
                     const Epilogue &epilogue,
                     llvm::function_ref<void(KernelBuilder &, const ProductShapes &, const Epilogue &)> write) {
  int64_t least = 0;
  for (auto [variant, shape] : llvm::zip_equal(variants, shapes)) {
    std::string name = (variant.mostRows < INT64_MAX ? symbol + "_" + llvm::Twine(variant.mostRows) : symbol).str();
    Expression isChosen = hasRows(signature.expression("m"), least, variant.mostRows);
    std::array<Expression, 3> grid = gridOf(signature, shape);
    grid[0] = Expression::binary(Expression::Op::Mul, grid[0], isChosen);
    program.step({.symbol = name,
                  .numWarps = PersistentProduct::kWarpsOfConsumer,
                  .grid = grid,
                  .clusterSize = shape.clusterSize()},
                 [&](KernelBuilder &b) { write(b, shape, shape.leavesPartialSums() ? Epilogue() : epilogue); });
    if (shape.leavesPartialSums()) {
      addPartialSums(program, signature, name + "_sums", isChosen, shape, epilogue);
    }
    least = variant.mostRows;
  }
}

} // namespace jitk::kernels
