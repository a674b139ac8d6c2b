#include "src/kernels/fp8/PersistentFp8Matmul.h"

#include "src/kernels/fp8/Fp8BlockMatmul.h"
#include "src/kernels/fp8/RowGroups.h"
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
  PersistentFp8Matmul(KernelBuilder &builder, const ProductShapes &shapes, int64_t k, RowGroups groups)
      : PersistentProduct(builder, shapes), groups_(groups), numBlocks_(llvm::divideCeil(k, kScaleBlock)),
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

  llvm::SmallVector<Value> multiply(int64_t consumer, const ProductTile &at, RingPosition &position) override;
  Value partColumn(const TilePosition &at, size_t part) override;
  Value operandColumn(const TilePosition &at, size_t part) override;
  Value firstRow(const TilePosition &at, int64_t consumer) override;
  llvm::SmallVector<Value> forEachTileOf(ValueRange carried, TileBody body) override;
  llvm::SmallVector<Value> forEachNamedTile(ValueRange carried, TileBody body);
  llvm::SmallVector<Value> forEachMaskedTile(ValueRange carried, TileBody body);

  /// sums + `count` blocks from block `first` on; moves the position past them.
  llvm::SmallVector<Value> addBlocks(int64_t consumer, const Scales &pointers, Value first, int64_t count,
                                     ValueRange sums, RingPosition &position);

  Scales pointersToScales(int64_t consumer, const TilePosition &at);
  Scales load(const Scales &pointers, Value block);
  /// Where the scales of rows of A lie, from row `first` on.
  Value rowScales(Value first, int64_t rows);
  /// Where the scales of the block of B's rows lie that row `row` is of, of the group's B.
  Value blockScales(const TilePosition &at, Value row);
  /// The products of scales for a part, as large as the part.
  Value scaleOf(size_t part, const Scales &scales);

  RowGroups groups_;
  int64_t numBlocks_;
  size_t window_; ///< products in flight
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
    Value isOfGroup = b.select(b.lessThan(at.group, b.i32(0)), b.i32(0), b.i32(1));
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

Value PersistentFp8Matmul::rowScales(Value first, int64_t rows) {
  // Rows past the end read the last row's: their products are never stored.
  Value row = b.add(b.splat(first, {rows}), b.range(rows));
  if (!b.isMultiple("m", rows)) {
    row = b.minimum(row, b.splat(b.sub(b.size("m"), b.i32(1)), {rows}));
  }
  return b.pointers(b.tensorParameter("a_scale"), b.mul(b.toI64(row), b.splat(b.i64(numBlocks_), {rows})));
}

Value PersistentFp8Matmul::blockScales(const TilePosition &at, Value row) {
  // A part past the end of B reads the last block's.
  Value blocksOfB = b.ceilDiv(b.size("n"), kScaleBlock);
  Value block = b.minimum(b.div(row, b.i32(kScaleBlock)), b.sub(blocksOfB, b.i32(1)));
  if (at.group) {
    block = b.add(block, b.mul(at.group, blocksOfB));
  }
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
  Scales scales{tile_.transposed ? blockScales(at, row) : rowScales(row, kConsumerRows), {}};
  for (auto [part, columns] : llvm::enumerate(parts_)) {
    Value column = partColumn(at, part);
    scales.right.push_back(tile_.transposed ? rowScales(column, columns) : blockScales(at, column));
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

llvm::SmallVector<Value> PersistentFp8Matmul::multiply(int64_t consumer, const ProductTile &at,
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

llvm::SmallVector<PersistentVariant> chooseFp8Variants(const Description &description) {
  RowGroups groups = rowGroupsOf(description);
  if (groups == RowGroups::None) {
    return choosePersistentVariants(description);
  }
  Description modelled = withExpectedRows(description);
  int64_t expected = description.integer("expected_m");
  PersistentTile best;
  for (const PersistentTile &tile : persistentTiles(modelled)) {
    // Rows of a tile are of one group, and as few as its rows are.
    bool isFull = tile.rows == PersistentProduct::kConsumerRows || expected == 0 || expected > tile.rows / 2;
    bool fits = groups == RowGroups::Contiguous || (isMultipleOf(description.dimension("m"), tile.rows) && isFull);
    if (!tile.transposed && fits &&
        (best.rows == 0 || modelledClocks(modelled, tile) < modelledClocks(modelled, best))) {
      best = tile;
    }
  }
  return {PersistentVariant{best}};
}

Result<BuiltKernel> buildPersistentFp8Matmul(const Description &description, llvm::ArrayRef<PersistentVariant> variants,
                                             const Target &target, MLIRContext &context) {
  using Op = Expression::Op;
  RowGroups groups = rowGroupsOf(description);
  Type inputType = elementTypeOf("e4m3", context), outputType = elementTypeOf(description.word("out_dtype"), context);
  auto shapes = llvm::map_to_vector(variants, [&](const PersistentVariant &variant) {
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
  signature.tiledTensor("a", inputType, rows, k, tiles.a);
  signature.tensor("a_scale", fp32);
  signature.tiledTensor("b", inputType, columns, k, tiles.b);
  signature.tensor("b_scale", fp32);
  if (groups != RowGroups::None) {
    signature.tensor(groups == RowGroups::Masked ? "valid_rows" : "row_group", elementTypeOf("int32", context));
  }
  signature.tiledTensor("c", outputType, rows, n, tiles.c);
  KernelProgram program(context, signature, target);
  int64_t size = description.dimension("k").value;
  addProductSteps(program, signature, "fp8_block_matmul", variants, shapes, Epilogue(),
                  [&](KernelBuilder &b, const ProductShapes &shape, const Epilogue &) {
                    PersistentFp8Matmul(b, shape, size, groups).write();
                  });
  return std::move(program).finish();
}

} // namespace jitk::kernels
