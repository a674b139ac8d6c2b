#include "src/kernels/fp8/PersistentFp8Matmul.h"

#include "src/kernels/fp8/Fp8BlockMatmul.h"
#include "src/kernels/fp8/RowGroups.h"
#include "src/kernels/fp8/ScaleWriter.h"
#include "src/kernels/matmul/PartialSums.h"
#include "src/kernels/matmul/PersistentProduct.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <utility>

using namespace mlir;

namespace jitk::kernels {

bool servesFp8Persistently(const Description &description, const Target &target) {
  constexpr int64_t kRowBytes = 16;
  int64_t inputs = kRowBytes, outputs = kRowBytes / (description.word("out_dtype") == "fp32" ? 4 : 2);
  const Dimension &k = description.dimension("k");
  bool hasWholeTiles = rowGroupsOf(description) != RowGroups::Masked ||
                       isMultipleOf(description.dimension("m"), PersistentProduct::kConsumerRows);
  return hasWholeTiles && target.capability == 90 && target.archSpecific && k.isStatic() && k.value > 0 &&
         isMultipleOf(k, inputs) && isMultipleOf(description.dimension("n"), outputs) &&
         haveStridesOf(description, {"a", "b"}, inputs) && haveStridesOf(description, {"c"}, outputs);
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
  PersistentFp8Matmul(KernelBuilder &builder, const ProductShapes &shapes, RowGroups groups, bool hasColumnScales)
      : PersistentProduct(builder, shapes), groups_(groups), numBlocks_(llvm::divideCeil(shapes.depth(), kScaleBlock)),
        isTight_(isTight(tile_)), window_(isTight_ ? 1 : size_t(tile_.unrolled) * parts_.size()),
        scales_(b, *ring_, shapes, groups == RowGroups::Masked ? b.mul(b.size("groups"), b.size("m")) : b.size("m"),
                hasColumnScales) {}

  /// Whether the columns leave registers for one part's partial sums alone.
  static bool isTight(const PersistentTile &tile) {
    constexpr int64_t kWideColumns = 192;
    return tile.columns > kWideColumns;
  }

private:
  llvm::SmallVector<Value> multiply(Value consumer, const ProductTile &at, RingPosition &position) override;
  void writeVectors() override;
  Value partColumn(const TilePosition &at, size_t part) override;
  Value operandColumn(const TilePosition &at, size_t part) override;
  Value firstRow(const TilePosition &at, Value consumer) override;
  llvm::SmallVector<Value> forEachTileOf(ValueRange carried, TileBody body) override;
  llvm::SmallVector<Value> forEachNamedTile(ValueRange carried, TileBody body);
  llvm::SmallVector<Value> forEachMaskedTile(ValueRange carried, TileBody body);

  /// Products in flight, each with accumulators of its own, which are promoted in their order.
  struct InFlight {
    llvm::SmallVector<Value> partials, scales; ///< the oldest one first
    llvm::SmallVector<Value> slots;            ///< of their blocks
    RingPosition next;                         ///< of the block that is taken next
    bool isTaken = false;                      ///< the newest block has been taken, and nothing of it started
    Value promoted;                            ///< the last one that has been, whose registers are free
  };
  /// Reads what registers hold of the next block, which has arrived.
  void take(Value consumer, InFlight &products);
  /// Starts product number `product`: part after part, block after block.
  void start(Value consumer, size_t product, InFlight &products);
  /// Adds the oldest product in flight, of number `product`, to its sum; gives the block's slot back after the last.
  /// While it runs, takes the next block if `takesNext`.
  void promote(Value consumer, size_t product, InFlight &products, llvm::MutableArrayRef<Value> sums, bool takesNext);
  bool isLast(size_t product) const { return (product + 1) % parts_.size() == 0; }

  /// sums + the next `count` blocks; moves the position past them.
  llvm::SmallVector<Value> addBlocks(Value consumer, int64_t count, ValueRange sums, RingPosition &position);

  /// The row of Bs that row `row` of the group's B is scaled with.
  Value blockOfB(const TilePosition &at, Value row);

  RowGroups groups_;
  int64_t numBlocks_; ///< of the part of K that is summed for a tile
  bool isTight_;
  size_t window_; ///< products in flight
  ScaleWriter scales_;
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

Value PersistentFp8Matmul::firstRow(const TilePosition &at, Value consumer) {
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

void PersistentFp8Matmul::writeVectors() {
  RingPosition start = ring_->start();
  forEachProduct({start.slot, start.phase}, [&](const ProductTile &at, ValueRange carried) -> llvm::SmallVector<Value> {
    llvm::SmallVector<Value> rows;
    for (int64_t consumer = 0; consumer < tile_.numConsumers(); ++consumer) {
      Value row = firstRow(at, b.i32(consumer));
      rows.push_back(tile_.transposed ? blockOfB(at, row) : row);
    }
    for (size_t part = 0; part < parts_.size(); ++part) {
      Value column = partColumn(at, part);
      rows.push_back(tile_.transposed ? column : blockOfB(at, column));
    }
    Value block = at.split ? b.mul(at.split, b.i32(numBlocks_)) : b.i32(0);
    Value ownGroup = groups_ == RowGroups::Masked ? at.group : Value();
    RingPosition next = scales_.write(rows, block, ownGroup, {carried[0], carried[1]});
    return {next.slot, next.phase};
  });
}

// --- products

void PersistentFp8Matmul::take(Value consumer, InFlight &products) {
  RingPosition here = products.next;
  products.slots.push_back(here.slot);
  llvm::append_range(products.scales, scales_.read(consumer, here));
  products.next = ring_->next(here);
  products.isTaken = true;
}

void PersistentFp8Matmul::start(Value consumer, size_t product, InFlight &products) {
  size_t part = product % parts_.size();
  if (part == 0 && !std::exchange(products.isTaken, false)) {
    ring_->await(products.next);
    take(consumer, products);
    products.isTaken = false;
  }
  Value slot = products.slots.back();
  Value accumulator = b.full(0, {kConsumerRows, parts_[part]}, b.getF32Type()), accumulates = b.boolean(false);
  if (isTight_ && products.promoted) {
    // In the registers of the last product, which ptxas would not take by itself: it shall not know that nothing is
    // added to.
    accumulator = products.promoted;
    accumulates = b.lessThan(slot, b.i32(0));
  }
  products.partials.push_back(startPart(leftBuffer({slot, {}}, consumer), {slot, {}}, part, accumulator, accumulates));
}

void PersistentFp8Matmul::promote(Value consumer, size_t product, InFlight &products, llvm::MutableArrayRef<Value> sums,
                                  bool takesNext) {
  size_t part = product % parts_.size();
  if (takesNext) {
    ring_->await(products.next);
    take(consumer, products);
  }
  Value partial = b.awaitProducts(products.partials.front(), unsigned(products.partials.size() - 1));
  if (isLast(product)) {
    ring_->release(products.slots.front());
    products.slots.erase(products.slots.begin());
  }
  Value scale = b.spread(products.scales.front(), {kConsumerRows, parts_[part]});
  products.partials.erase(products.partials.begin());
  products.scales.erase(products.scales.begin());
  sums[part] = b.addf(sums[part], b.mulf(partial, scale));
  products.promoted = partial;
}

llvm::SmallVector<Value> PersistentFp8Matmul::addBlocks(Value consumer, int64_t count, ValueRange sums,
                                                        RingPosition &position) {
  size_t numProducts = size_t(count) * parts_.size(), window = std::min(window_, numProducts);
  llvm::SmallVector<Value> next(sums);
  InFlight products;
  products.next = position;
  for (size_t product = 0; product < window; ++product) {
    start(consumer, product, products);
  }
  for (size_t product = 0; product < numProducts; ++product) {
    // Nothing else is in flight: what is read of the next block comes beside the last product.
    bool takesNext = isTight_ && isLast(product) && product + 1 < numProducts;
    promote(consumer, product, products, next, takesNext);
    if (product + window < numProducts) {
      start(consumer, product + window, products);
    }
  }
  position = products.next;
  return next;
}

llvm::SmallVector<Value> PersistentFp8Matmul::multiply(Value consumer, const ProductTile &at, RingPosition &position) {
  // So many blocks are written out: nothing is in flight where a loop's turn ends, since ptxas does not see, over the
  // end of a loop, which sums are done.
  int64_t ofTurn = tile_.columns <= kScaleBlock ? 4 : 2;
  if (isTight_) {
    // Registers are so short that ptxas spills in the loop where blocks are written out beside it, in a tail, and where
    // other addresses are kept: of the slots that slices wait for, of groups, of rows that are cut.
    constexpr int64_t kFewestOfRuns = 24; // blocks: measured, 16 take longer in eights
    bool hasRoom = groups_ == RowGroups::None || (groups_ == RowGroups::Contiguous && numBlocks_ >= kFewestOfRuns);
    const int64_t most = !tile_.storesAtOnce ? 2 : hasRoom && b.isMultiple("m", tile_.rows) ? 8 : 4;
    ofTurn = std::gcd(numBlocks_, most);
  }
  llvm::SmallVector<Value> carried = zeros(at);
  carried.append({position.slot, position.phase});
  auto add = [&](int64_t count, ValueRange now) {
    RingPosition here = {now.drop_back().back(), now.back()};
    llvm::SmallVector<Value> next = addBlocks(consumer, count, now.drop_back(2), here);
    next.append({here.slot, here.phase});
    return next;
  };
  carried =
      b.loop(b.i32(0), b.i32(numBlocks_ / ofTurn), 1, carried, [&](Value, ValueRange now) { return add(ofTurn, now); });
  if (int64_t rest = numBlocks_ % ofTurn) {
    carried = add(rest, carried);
  }
  position = {carried.end()[-2], carried.back()};
  carried.truncate(parts_.size());
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
    return tile.transposed || tile.splits > 1 || tile.sharers > 1 || !fits;
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
  bool hasColumnScales = description.word("a_scale_layout") == "col";
  Type inputType = elementTypeOf("e4m3", context), outputType = elementTypeOf(description.word("out_dtype"), context);
  auto shapes = llvm::map_to_vector<5>(variants, [&](const PersistentVariant &variant) {
    ProductShapes shape(variant.tile, description.dimension("k").value, /*isColumnMajorA=*/false,
                        /*isColumnMajorB=*/true, inputType, outputType);
    shape.batch = groups == RowGroups::Masked ? "groups" : nullptr;
    shape.vectors = ScaleWriter::vectorsOf(shape);
    return shape;
  });
  KernelSignature signature(description);
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
  signature.tiledTensor("a", inputType, rows, k, tiles.a, kOperandPromotion);
  signature.tensor("a_scale", fp32);
  signature.tiledTensor("b", inputType, columns, k, tiles.b, kOperandPromotion);
  signature.tensor("b_scale", fp32);
  if (groups != RowGroups::None) {
    signature.tensor(groups == RowGroups::Masked ? "valid_rows" : "row_group", elementTypeOf("int32", context));
  }
  signature.tiledTensor("c", outputType, rows, n, tiles.c);
  declarePartialSums(signature, shapes);
  KernelProgram program(context, signature, target);
  addProductSteps(program, signature, "fp8_block_matmul", variants, shapes, Epilogue(),
                  [&](KernelBuilder &b, const ProductShapes &shape, const Epilogue &) {
                    PersistentFp8Matmul(b, shape, groups, hasColumnScales).write();
                  });
  return std::move(program).finish();
}

} // namespace jitk::kernels
