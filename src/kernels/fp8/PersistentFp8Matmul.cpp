#include "src/kernels/fp8/PersistentFp8Matmul.h"

#include "src/kernels/fp8/Fp8BlockMatmul.h"
#include "src/kernels/fp8/RowGroups.h"
#include "src/kernels/fp8/ScaleFeed.h"
#include "src/kernels/matmul/PartialSums.h"
#include "src/kernels/matmul/PersistentProduct.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace jitk::kernels {

bool servesFp8Persistently(const Description &description, const Target &target) {
  constexpr int64_t kInputs = 16, kOutputs = 8; // in 16 bytes
  const Dimension &k = description.dimension("k");
  bool hasWholeTiles = rowGroupsOf(description) != RowGroups::Masked ||
                       isMultipleOf(description.dimension("m"), PersistentProduct::kConsumerRows);
  return hasWholeTiles && target.capability == 90 && target.archSpecific && k.isStatic() && k.value > 0 &&
         isMultipleOf(k, kInputs) && isMultipleOf(description.dimension("n"), kOutputs);
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
  PersistentFp8Matmul(KernelBuilder &builder, const ProductShapes &shapes, RowGroups groups)
      : PersistentProduct(builder, shapes), groups_(groups), numBlocks_(llvm::divideCeil(shapes.k, kScaleBlock)),
        numOwnBlocks_(llvm::divideCeil(shapes.depth(), kScaleBlock)),
        window_(tile_.columns > kWindowColumns ? 1 : size_t(tile_.unrolled) * parts_.size()) {
    if (tile_.scaleSlots > 0) {
      feed_.emplace(b, shapes);
    }
  }

private:
  /// More columns leave registers for one part's partial sums alone.
  static constexpr int64_t kWindowColumns = 192;

  llvm::SmallVector<Value> multiply(int64_t consumer, const ProductTile &at,
                                    llvm::MutableArrayRef<RingPosition> positions) override;
  llvm::SmallVector<RingPosition> startsOfOwnRings() const override;
  void fillOwnRings() override;
  Value partColumn(const TilePosition &at, size_t part) override;
  Value operandColumn(const TilePosition &at, size_t part) override;
  Value firstRow(const TilePosition &at, int64_t consumer) override;
  llvm::SmallVector<Value> forEachTileOf(ValueRange carried, TileBody body) override;
  llvm::SmallVector<Value> forEachNamedTile(ValueRange carried, TileBody body);
  llvm::SmallVector<Value> forEachMaskedTile(ValueRange carried, TileBody body);

  using LoadScales = llvm::function_ref<llvm::SmallVector<Scales>()>;
  /// sums + `count` blocks, whose scales are loaded while the first products run; moves the position past them.
  llvm::SmallVector<Value> addBlocks(int64_t consumer, int64_t count, LoadScales loadScales, ValueRange sums,
                                     RingPosition &position);

  /// The same of the blocks of a slot of scales; carries the sums and both positions.
  llvm::SmallVector<Value> addSlot(int64_t consumer, ValueRange carried);
  /// The same of blocks one by one, whose scales are in registers; carries the sums and the operands' position.
  llvm::SmallVector<Value> addInLoop(int64_t consumer, llvm::ArrayRef<Scales> scales, ValueRange carried);

  /// The row of Bs that row `row` of the group's B is scaled with.
  Value blockOfB(const TilePosition &at, Value row);
  /// The rows of As or of Bs where the scales of a consumer's rows and of each part begin.
  Value leftScaleRow(int64_t consumer, const TilePosition &at);
  llvm::SmallVector<Value> rightScaleRows(const TilePosition &at);

  // Without a feed.
  /// Pointers to the scales of the first block.
  Scales pointersToScales(int64_t consumer, const TilePosition &at);
  /// Where the scales of rows of A lie, from row `first` on: a vector.
  Value rowPointers(Value first, int64_t rows);
  Value blockPointer(Value row);
  Scales load(const Scales &pointers, Value block);

  /// The products of scales for a part, as large as the part.
  Value scaleOf(size_t part, const Scales &scales);

  RowGroups groups_;
  int64_t numBlocks_;    ///< of K
  int64_t numOwnBlocks_; ///< of the part of K that is summed for a tile
  size_t window_;        ///< products in flight
  std::optional<ScaleFeed> feed_;
};

} // namespace

Value PersistentFp8Matmul::partColumn(const TilePosition &at, size_t part) {
  // Of the 128 + 64 columns of a tile the part of 128 lies where a block of B begins: right of the 64 in odd tiles.
  if (tile_.transposed || tile_.columns != kScaleBlock + kScaleBlock / 2) {
    return PersistentProduct::partColumn(at, part);
  }
  Value isOdd = b.rem(at.column, b.i32(2)), first = b.mul(at.column, b.i32(tile_.columns));
  Value offset = part == 0 ? isOdd : b.mul(b.sub(b.i32(1), isOdd), b.i32(2));
  return b.add(first, b.mul(offset, b.i32(kScaleBlock / 2)));
}

// --- groups

Value PersistentFp8Matmul::operandColumn(const TilePosition &at, size_t part) {
  // Those of a group's B follow those of the one before. Columns past the end are not stored.
  Value column = partColumn(at, part);
  return at.group ? b.add(column, b.mul(at.group, b.size("n"))) : column;
}

Value PersistentFp8Matmul::firstRow(const TilePosition &at, int64_t consumer) {
  Value row = PersistentProduct::firstRow(at, consumer);
  return groups_ == RowGroups::Masked ? b.add(row, b.mul(at.group, b.size("m"))) : row;
}

llvm::SmallVector<Value> PersistentFp8Matmul::forEachTileOf(ValueRange carried, TileBody body) {
  switch (groups_) {
  case RowGroups::None:
    return PersistentProduct::forEachTileOf(carried, body);
  case RowGroups::Contiguous:
    return forEachNamedTile(carried, body);
  case RowGroups::Masked:
    return forEachMaskedTile(carried, body);
  }
  llvm_unreachable("groups are of one of the three kinds");
}

llvm::SmallVector<Value> PersistentFp8Matmul::forEachNamedTile(ValueRange carried, TileBody body) {
  return PersistentProduct::forEachTileOf(carried, [&](TilePosition at, ValueRange now) {
    at.group = b.load(b.advance(b.tensorParameter("row_group"), b.mul(at.row, b.i32(tile_.rows))));
    // A tile of no group is a loop that does not run.
    Value isOfGroup = b.select(isGroup(b, at.group), b.i32(1), b.i32(0));
    return b.loop(b.i32(0), isOfGroup, 1, now, [&](Value, ValueRange inner) { return body(at, inner); });
  });
}

llvm::SmallVector<Value> PersistentFp8Matmul::forEachMaskedTile(ValueRange carried, TileBody body) {
  // The tiles of all groups are numbered one after the other; the CTA's next one is counted from the group's first.
  Value numPrograms = b.numPrograms(0);
  llvm::SmallVector<Value> state(carried);
  state.push_back(b.programId(0));
  state = b.loop(b.i32(0), b.size("groups"), 1, state, [&](Value group, ValueRange now) {
    Value valid = b.load(b.advance(b.tensorParameter("valid_rows"), group));
    valid = b.maximum(b.minimum(valid, b.size("m")), b.i32(0));
    TileGrid grid = {b.ceilDiv(valid, tile_.rows), b.ceilDiv(b.size("n"), tile_.columns)};
    Value numTiles = b.mul(grid.rows, grid.columns), next = now.back();
    llvm::SmallVector<Value> after =
        b.loop(next, numTiles, numPrograms, now.drop_back(), [&](Value tile, ValueRange inner) {
          TilePosition at = rasterize(b, tile, grid, tile_.groupRows);
          at.group = group;
          return body(at, inner);
        });
    Value left = b.maximum(b.sub(numTiles, next), b.i32(0));
    Value rounds = b.div(b.add(left, b.sub(numPrograms, b.i32(1))), numPrograms);
    after.push_back(b.sub(b.add(next, b.mul(rounds, numPrograms)), numTiles));
    return after;
  });
  state.pop_back();
  return state;
}

// --- scales

Value PersistentFp8Matmul::blockOfB(const TilePosition &at, Value row) {
  // A part past the end of B reads the last block's.
  Value blocks = b.ceilDiv(b.size("n"), kScaleBlock);
  Value block = b.minimum(b.div(row, b.i32(kScaleBlock)), b.sub(blocks, b.i32(1)));
  return at.group ? b.add(block, b.mul(at.group, blocks)) : block;
}

Value PersistentFp8Matmul::leftScaleRow(int64_t consumer, const TilePosition &at) {
  Value row = firstRow(at, consumer);
  return tile_.transposed ? blockOfB(at, row) : row;
}

llvm::SmallVector<Value> PersistentFp8Matmul::rightScaleRows(const TilePosition &at) {
  llvm::SmallVector<Value> rows;
  for (size_t part = 0; part < parts_.size(); ++part) {
    Value column = partColumn(at, part);
    rows.push_back(tile_.transposed ? column : blockOfB(at, column));
  }
  return rows;
}

Value PersistentFp8Matmul::scaleOf(size_t part, const Scales &scales) {
  auto left = cast<RankedTensorType>(scales.left.getType());
  auto right = cast<RankedTensorType>(scales.right[part].getType());
  int64_t shape[] = {left.getShape()[0], right.getShape()[1]}; // of which one is 1
  Value scale = b.mulf(b.spread(scales.left, shape), b.spread(scales.right[part], shape));
  return b.spread(scale, {kConsumerRows, parts_[part]});
}

llvm::SmallVector<RingPosition> PersistentFp8Matmul::startsOfOwnRings() const {
  return feed_ ? llvm::SmallVector<RingPosition>{feed_->start()} : llvm::SmallVector<RingPosition>();
}

void PersistentFp8Matmul::fillOwnRings() {
  RingPosition start = feed_->start();
  forEachProduct({start.slot, start.phase}, [&](const ProductTile &at, ValueRange carried) {
    llvm::SmallVector<Value> left, right = rightScaleRows(at);
    for (int64_t consumer = 0; consumer < tile_.numConsumers(); ++consumer) {
      left.push_back(leftScaleRow(consumer, at));
    }
    Value first = b.div(at.firstK, b.i32(kScaleBlock));
    return b.loop(b.i32(0), b.i32(numOwnBlocks_), PersistentTile::kBlocksOfScales, carried,
                  [&](Value block, ValueRange now) -> llvm::SmallVector<Value> {
                    RingPosition next = feed_->load({now[0], now[1]}, left, right, b.add(first, block));
                    return {next.slot, next.phase};
                  });
  });
}

Value PersistentFp8Matmul::rowPointers(Value first, int64_t rows) {
  // Rows past the end read the last row's: their products are never stored.
  Value row = b.add(b.splat(first, {rows}), b.range(rows));
  if (!b.isMultiple("m", rows)) {
    row = b.minimum(row, b.splat(b.sub(b.size("m"), b.i32(1)), {rows}));
  }
  return b.pointers(b.tensorParameter("a_scale"), b.mul(b.toI64(row), b.splat(b.i64(numBlocks_), {rows})));
}

Value PersistentFp8Matmul::blockPointer(Value row) {
  return b.advance(b.tensorParameter("b_scale"), b.mul(b.toI64(row), b.i64(numBlocks_)));
}

Scales PersistentFp8Matmul::pointersToScales(int64_t consumer, const TilePosition &at) {
  Value row = leftScaleRow(consumer, at);
  Scales scales{tile_.transposed ? blockPointer(row) : rowPointers(row, kConsumerRows), {}};
  for (auto [first, columns] : llvm::zip_equal(rightScaleRows(at), parts_)) {
    scales.right.push_back(tile_.transposed ? rowPointers(first, columns) : blockPointer(first));
  }
  return scales;
}

Scales PersistentFp8Matmul::load(const Scales &pointers, Value block) {
  auto loadAt = [&](Value pointer, unsigned axis) {
    auto vector = dyn_cast<RankedTensorType>(pointer.getType());
    Value scale = b.load(b.advance(pointer, vector ? b.splat(block, vector.getShape()) : block));
    return vector ? b.expand(scale, axis) : b.splat(scale, {1, 1});
  };
  Scales scales{loadAt(pointers.left, 1), {}};
  for (Value pointer : pointers.right) {
    scales.right.push_back(loadAt(pointer, 0));
  }
  return scales;
}

// --- products

llvm::SmallVector<Value> PersistentFp8Matmul::addBlocks(int64_t consumer, int64_t count, LoadScales loadScales,
                                                        ValueRange sums, RingPosition &position) {
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
    }
    if (scales.empty()) {
      scales = loadScales();
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

llvm::SmallVector<Value> PersistentFp8Matmul::addSlot(int64_t consumer, ValueRange carried) {
  constexpr int64_t kBlocks = PersistentTile::kBlocksOfScales;
  size_t numSums = parts_.size();
  RingPosition position = {carried[numSums], carried[numSums + 1]}, ofScales = {carried[numSums + 2], carried.back()};
  llvm::SmallVector<Value> after;
  if (tile_.columns <= kScaleBlock) {
    auto read = [&] { return feed_->read(consumer, ofScales); };
    after = addBlocks(consumer, kBlocks, read, carried.take_front(numSums), position);
    after.append({position.slot, position.phase});
  } else {
    after.assign(carried.begin(), carried.begin() + ptrdiff_t(numSums) + 2);
    after = addInLoop(consumer, feed_->read(consumer, ofScales), after);
  }
  after.append({ofScales.slot, ofScales.phase});
  return after;
}

llvm::SmallVector<Value> PersistentFp8Matmul::addInLoop(int64_t consumer, llvm::ArrayRef<Scales> scales,
                                                        ValueRange carried) {
  // Written out, the blocks would have partial sums in registers of their own, more than there are. The scales move up,
  // in a ring, so that all of them have one layout.
  size_t numSums = parts_.size(), numOfBlock = 1 + numSums;
  llvm::SmallVector<Value> state(carried);
  for (const Scales &ofBlock : scales) {
    state.push_back(ofBlock.left);
    llvm::append_range(state, ofBlock.right);
  }
  state = b.loop(b.i32(0), b.i32(int64_t(scales.size())), 1, state, [&](Value, ValueRange now) {
    RingPosition position = {now[numSums], now[numSums + 1]};
    ValueRange ring = now.drop_front(numSums + 2);
    auto first = [&] { return llvm::SmallVector<Scales>{{ring.front(), llvm::to_vector(ring.slice(1, numSums))}}; };
    llvm::SmallVector<Value> next = addBlocks(consumer, 1, first, now.take_front(numSums), position);
    next.append({position.slot, position.phase});
    llvm::append_range(next, ring.drop_front(numOfBlock));
    llvm::append_range(next, ring.take_front(numOfBlock));
    return next;
  });
  state.truncate(numSums + 2);
  return state;
}

llvm::SmallVector<Value> PersistentFp8Matmul::multiply(int64_t consumer, const ProductTile &at,
                                                       llvm::MutableArrayRef<RingPosition> positions) {
  llvm::SmallVector<Value> carried = zeros();
  size_t numSums = parts_.size();
  for (const RingPosition &position : positions) {
    carried.append({position.slot, position.phase});
  }
  if (feed_) {
    carried = b.loop(b.i32(0), b.i32(numOwnBlocks_), PersistentTile::kBlocksOfScales, carried,
                     [&](Value, ValueRange now) { return addSlot(consumer, now); });
  } else {
    Scales pointers = pointersToScales(consumer, at);
    auto add = [&](Value first, int64_t count, ValueRange now) {
      RingPosition position = {now[numSums], now[numSums + 1]};
      auto loadAll = [&] {
        llvm::SmallVector<Scales> scales;
        for (int64_t block = 0; block < count; ++block) {
          scales.push_back(load(pointers, b.add(first, b.i32(block))));
        }
        return scales;
      };
      llvm::SmallVector<Value> after = addBlocks(consumer, count, loadAll, now.take_front(numSums), position);
      after.append({position.slot, position.phase});
      return after;
    };
    int64_t rest = numBlocks_ % tile_.unrolled, whole = numBlocks_ - rest;
    carried = b.loop(b.i32(0), b.i32(whole), tile_.unrolled, carried,
                     [&](Value block, ValueRange now) { return add(block, tile_.unrolled, now); });
    if (rest) {
      carried = add(b.i32(whole), rest, carried);
    }
  }
  for (auto [ring, position] : llvm::enumerate(positions)) {
    position = {carried[numSums + 2 * ring], carried[numSums + 2 * ring + 1]};
  }
  carried.truncate(numSums);
  return carried;
}

/// The description with the rows that a launch is expected to have, of all groups together.
static Description withExpectedRows(const Description &description) {
  auto attributes = description.attributes();
  auto &m = std::get<Dimension>(attributes.find("m")->second);
  const Dimension &groups = description.dimension("groups");
  int64_t expected = description.integer("expected_m");
  int64_t rows = expected ? expected : m.isStatic() ? m.value : m.bound;
  if (rowGroupsOf(description) == RowGroups::Masked && rows && groups.isStatic()) {
    int64_t ofGroup = int64_t(llvm::alignTo(rows, PersistentProduct::kConsumerRows));
    m.value = std::min<int64_t>(groups.value * ofGroup, INT32_MAX);
  }
  return {description.op(), std::move(attributes)};
}

/// The tiles that can serve it, the cheapest first.
static llvm::SmallVector<PersistentTile> fp8Tiles(const Description &description) {
  RowGroups groups = rowGroupsOf(description);
  if (groups == RowGroups::None) {
    return persistentTiles(description);
  }
  int64_t expected = description.integer("expected_m");
  llvm::SmallVector<PersistentTile> tiles = persistentTiles(withExpectedRows(description));
  llvm::erase_if(tiles, [&](const PersistentTile &tile) {
    // Rows of a tile are of one group, and as few as its rows are.
    bool isFull = tile.rows == PersistentProduct::kConsumerRows || expected == 0 || expected > tile.rows / 2;
    bool fits = groups == RowGroups::Contiguous || (isMultipleOf(description.dimension("m"), tile.rows) && isFull);
    return tile.transposed || tile.splits > 1 || !fits;
  });
  return tiles;
}

/// What a tile costs for the rows that are expected.
static double fp8Clocks(const Description &description, const PersistentTile &tile) {
  bool isGrouped = rowGroupsOf(description) != RowGroups::None;
  return modelledClocks(isGrouped ? withExpectedRows(description) : description, tile);
}

std::vector<Configuration> persistentFp8Configurations(const Description &description) {
  return namesOfTiles<PersistentTile>(fp8Tiles(description),
                                      [&](const PersistentTile &tile) { return fp8Clocks(description, tile); });
}

llvm::SmallVector<PersistentVariant> chooseFp8Variants(const Description &description) {
  if (rowGroupsOf(description) == RowGroups::None) {
    return choosePersistentVariants(description);
  }
  llvm::SmallVector<PersistentTile> tiles = fp8Tiles(description);
  if (auto named = namedTile<PersistentTile>(description, tiles)) {
    return {PersistentVariant{*named}};
  }
  return {PersistentVariant{tiles.front()}};
}

Result<BuiltKernel> buildPersistentFp8Matmul(const Description &description, llvm::ArrayRef<PersistentVariant> variants,
                                             const Target &target, MLIRContext &context) {
  using Op = Expression::Op;
  RowGroups groups = rowGroupsOf(description);
  Type inputType = elementTypeOf("e4m3", context), outputType = elementTypeOf(description.word("out_dtype"), context);
  auto shapes = llvm::map_to_vector<5>(variants, [&](const PersistentVariant &variant) {
    ProductShapes shape(variant.tile, description.dimension("k").value, /*isColumnMajorB=*/true, inputType, outputType);
    shape.batch = groups == RowGroups::Masked ? "groups" : nullptr;
    return shape;
  });
  KernelSignature signature;
  for (const char *name : {"m", "n", "k"}) {
    signature.dimension(name, description.dimension(name));
  }
  Expression rows = signature.expression("m"), n = signature.expression("n"), k = signature.expression("k");
  Expression columns = n;
  if (groups != RowGroups::None) {
    signature.dimension("groups", description.dimension("groups"));
    columns = Expression::binary(Op::Mul, signature.expression("groups"), n);
  }
  if (groups == RowGroups::Masked) {
    rows = Expression::binary(Op::Mul, signature.expression("groups"), rows);
  }
  ProductTiles tiles(shapes);
  Type fp32 = elementTypeOf("fp32", context);
  llvm::SmallVector<SharedTile> scalesOfA, scalesOfB;
  for (const ProductShapes &shape : shapes) {
    if (shape.tile.scaleSlots > 0) {
      ScaleFeed::addTiles(shape, scalesOfA, scalesOfB);
    }
  }
  auto blocksOf = [](const Expression &size) {
    return Expression::binary(Op::CeilDiv, size, Expression::constant(kScaleBlock));
  };
  Expression blocksOfB = blocksOf(n);
  if (groups != RowGroups::None) {
    blocksOfB = Expression::binary(Op::Mul, signature.expression("groups"), blocksOfB);
  }
  signature.tiledTensor("a", inputType, rows, k, tiles.a);
  signature.tiledTensor("a_scale", fp32, rows, blocksOf(k), scalesOfA);
  signature.tiledTensor("b", inputType, columns, k, tiles.b);
  signature.tiledTensor("b_scale", fp32, blocksOfB, blocksOf(k), scalesOfB);
  if (groups != RowGroups::None) {
    signature.tensor(groups == RowGroups::Masked ? "valid_rows" : "row_group", elementTypeOf("int32", context));
  }
  signature.tiledTensor("c", outputType, rows, n, tiles.c);
  declarePartialSums(signature, shapes);
  KernelProgram program(context, signature, target);
  addProductSteps(program, signature, "fp8_block_matmul", variants, shapes, Epilogue(),
                  [&](KernelBuilder &b, const ProductShapes &shape, const Epilogue &) {
                    PersistentFp8Matmul(b, shape, groups).write();
                  });
  return std::move(program).finish();
}

} // namespace jitk::kernels
