#include "src/kernels/matmul/Matmul.h"

#include "src/kernels/MachineModel.h"
#include "src/kernels/matmul/Epilogue.h"
#include "src/kernels/matmul/PersistentMatmul.h"
#include "src/kernels/matmul/PersistentProduct.h"
#include "src/kernels/vocabulary/MatrixTile.h"
#include "src/kernels/vocabulary/Raster.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace jitk::kernels {

/// The power of two that covers a dimension, within [low, high]; a dynamic one without bound counts as large.
static int64_t coveringTile(const Dimension &dimension, int64_t low, int64_t high) {
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(assumedSize(dimension, high)), low, high);
}

/// Whether rows of the operands are known to be multiples of `elements`, and to lie so, so that as many are copied at a
/// time.
static bool haveRowsOf(const Description &description, int64_t elements) {
  const char *rowOfA = description.word("a_layout") == "row" ? "k" : "m";
  const char *rowOfB = description.word("b_layout") == "col" ? "k" : "n";
  return isMultipleOf(description.dimension(rowOfA), elements) &&
         isMultipleOf(description.dimension(rowOfB), elements) && haveStridesOf(description, {"a", "b"}, elements);
}

MatmulTile chooseMatmulTile(const Description &description, const Target &target) {
  MatmulTile tile;
  tile.m = coveringTile(description.dimension("m"), 16, 128);
  tile.n = coveringTile(description.dimension("n"), 16, 128);
  // Copies that are narrower than 16 bytes are many, and the address of each takes two registers. Single elements are
  // loaded and stored, which takes registers for the elements as well.
  bool hasNarrowCopies = !haveRowsOf(description, 8), movesElements = !haveRowsOf(description, 2);
  // 64 elements are one 128-byte swizzle row of the shared tile; 32 keep two sm_80 CTAs on an SM.
  tile.k = coveringTile(description.dimension("k"), 16, target.capability >= 90 && !movesElements ? 64 : 32);
  // The largest tile moves three quarters of the bytes that two half as wide ones do, where there are tiles enough; its
  // accumulators take half of the registers.
  constexpr int64_t kWideColumns = 256;
  auto tilesAlong = [](const Dimension &dimension, int64_t size) {
    return double(llvm::divideCeil(assumedSize(dimension), size));
  };
  if (target.capability == 90 && target.archSpecific && tile.m * tile.n == 128 * 128 && !hasNarrowCopies &&
      tilesAlong(description.dimension("m"), tile.m) * tilesAlong(description.dimension("n"), kWideColumns) >=
          kMultiprocessors) {
    tile.n = kWideColumns;
    tile.groupRows = 16; // 132 of them at a time are about a square
    tile.masksRows = true;
    // Where a tile's loads and stores are all TMA's, they go on beside the products of other tiles.
    tile.stays = isMultipleOf(description.dimension("k"), tile.k) && isMultipleOf(description.dimension("n"), 8) &&
                 haveStridesOf(description, {"c"}, 8) && !Epilogue(description).addend();
  }
  // Eight warps are two warpgroups of wgmma. They also share those addresses: beside half of the largest tile, four
  // warps have no room for them.
  bool isLarge = tile.m * tile.n >= 128 * 128;
  tile.numWarps = isLarge && (target.capability == 90 || hasNarrowCopies) ? 8 : 4;
  return tile;
}

namespace {

/// An operand of the dot: `size` elements of its outer dimension by k of the contraction at a time. In memory it is
/// [outer, K] where `isKContiguous`, else [K, outer].
class DotOperand {
public:
  struct Shape {
    const char *name, *outer; ///< of the tensor, and of its dimension that is not K
    int64_t size;
    bool isKContiguous;
  };

  /// The buffer that every tile of the operand is brought to.
  static Value bufferOf(KernelBuilder &b, const Shape &shape, const MatmulTile &tile, Type elementType) {
    std::array<int64_t, 2> size = {shape.size, tile.k};
    return b.buffer(shape.isKContiguous ? size : std::array{size[1], size[0]}, elementType);
  }

  /// The tile of the operand from `first` of its outer dimension on.
  DotOperand(KernelBuilder &b, const Shape &shape, const MatmulTile &tile, Value buffer, Value first)
      : b_(b), shape_(shape), depth_(tile.k), buffer_(buffer) {
    Value end = b.size(shape.outer);
    bool covered = b.isMultiple(shape.outer, shape.size);
    if (shape.isKContiguous) {
      rows_.emplace(b, b.matrix(shape.name, b.size("k")), first, end, shape.size, tile.k, covered, tile.masksRows);
      return;
    }
    columns_ = b.add(b.splat(first, {shape.size}), b.range(shape.size));
    if (!covered) {
      columnMask_ = b.lessThan(columns_, b.splat(end, {shape.size}));
    }
    view_ = b.matrix(shape.name, end);
  }

  /// Brings k0 ... k0 + k of the contraction in; with `tail`, what lies from K on is zero.
  void fill(Value k0, bool tail) {
    if (shape_.isKContiguous) {
      b_.fill(buffer_, rows_->pointers(k0), tail ? rows_->mask(k0, b_.size("k")) : rows_->mask());
      return;
    }
    Value k = b_.add(b_.splat(k0, {depth_}), b_.range(depth_));
    Value mask = columnMask_ ? b_.asRow(columnMask_, depth_) : Value();
    if (tail) {
      Value inRange = b_.asColumn(b_.lessThan(k, b_.splat(b_.size("k"), {depth_})), shape_.size);
      mask = mask ? b_.both(mask, inRange) : inRange;
    }
    b_.fill(buffer_, b_.pointers(view_, k, columns_), mask);
  }

  /// As [outer, K].
  Value readRows() { return shape_.isKContiguous ? b_.read(buffer_) : b_.transpose(b_.read(buffer_)); }
  /// As [K, outer].
  Value readColumns() { return shape_.isKContiguous ? b_.transpose(b_.read(buffer_)) : b_.read(buffer_); }

private:
  KernelBuilder &b_;
  Shape shape_;
  int64_t depth_;
  std::optional<RowTile> rows_;
  MatrixView view_;
  Value buffer_, columns_, columnMask_;
};

} // namespace

static void storeResult(KernelBuilder &b, const Epilogue &epilogue, const MatmulTile &tile, Value accumulator,
                        Value firstRow, Value firstColumn, Type elementType) {
  Value rows = b.add(b.splat(firstRow, {tile.m}), b.range(tile.m));
  Value columns = b.add(b.splat(firstColumn, {tile.n}), b.range(tile.n));
  Value mask, columnMask;
  if (!b.isMultiple("m", tile.m)) {
    mask = b.asColumn(b.lessThan(rows, b.splat(b.size("m"), {tile.m})), tile.n);
  }
  if (!b.isMultiple("n", tile.n)) {
    columnMask = b.lessThan(columns, b.splat(b.size("n"), {tile.n}));
    Value inColumns = b.asRow(columnMask, tile.m);
    mask = mask ? b.both(mask, inColumns) : inColumns;
  }
  Value bias, addend;
  if (epilogue.hasBias()) {
    bias = b.asRow(b.load(b.pointers(b.tensorParameter("bias"), columns), columnMask), tile.m);
  }
  if (epilogue.addend()) {
    addend = b.load(b.pointers(b.matrix(epilogue.addend(), b.size("n")), rows, columns), mask);
  }
  b.store(b.pointers(b.matrix("c", b.size("n")), rows, columns),
          epilogue.apply(b, accumulator, bias, addend, elementType), mask);
}

std::vector<Configuration> matmulConfigurations(const Description &description, const Target &target) {
  if (!servesPersistently(description, target)) {
    return {};
  }
  return namesOfTiles<PersistentTile>(persistentTiles(description),
                                      [&](const PersistentTile &tile) { return modelledClocks(description, tile); });
}

Result<BuiltKernel> buildMatmul(const Description &description, const Target &target, MLIRContext &context) {
  if (servesPersistently(description, target)) {
    return buildPersistentMatmul(description, choosePersistentVariants(description), target, context);
  }
  const MatmulTile tile = chooseMatmulTile(description, target);
  Type inputType = elementTypeOf(description.word("dtype"), context);
  Type outputType = elementTypeOf(description.word("out_dtype"), context);

  KernelSignature signature(description);
  signature.tensor("a", inputType);
  signature.tensor("b", inputType);
  Epilogue epilogue(description);
  for (const char *name : {"bias", "residual"}) {
    if (description.flag(name)) {
      signature.tensor(name, outputType);
    }
  }
  signature.tensor("c", outputType);
  for (const char *name : {"m", "n", "k"}) {
    signature.dimension(name, description.dimension(name));
  }

  KernelBuilder b(context, signature, target, "matmul", tile.numWarps);
  Value m = b.size("m"), n = b.size("n"), k = b.size("k");
  Value wholeBlocks = b.mul(b.div(k, b.i32(tile.k)), b.i32(tile.k));
  TileGrid grid = {b.ceilDiv(m, tile.m), b.ceilDiv(n, tile.n)};
  DotOperand::Shape left = {"a", "m", tile.m, description.word("a_layout") == "row"};
  DotOperand::Shape right = {"b", "n", tile.n, description.word("b_layout") == "col"};
  Value leftBuffer = DotOperand::bufferOf(b, left, tile, inputType);
  Value rightBuffer = DotOperand::bufferOf(b, right, tile, inputType);

  auto compute = [&](TilePosition position) {
    Value firstRow = b.mul(position.row, b.i32(tile.m)), firstColumn = b.mul(position.column, b.i32(tile.n));
    DotOperand rows(b, left, tile, leftBuffer, firstRow), columns(b, right, tile, rightBuffer, firstColumn);
    auto multiply = [&](Value k0, ValueRange carried, bool tail) -> llvm::SmallVector<Value> {
      rows.fill(k0, tail);
      columns.fill(k0, tail);
      return {b.dot(rows.readRows(), columns.readColumns(), carried.front())};
    };
    // Whole blocks of K need no mask and are copied; what is left of K comes last, masked.
    llvm::SmallVector<Value> sum = {b.full(0, {tile.m, tile.n}, b.getF32Type())};
    sum = b.loop(b.i32(0), wholeBlocks, tile.k, sum,
                 [&](Value k0, ValueRange carried) { return multiply(k0, carried, false); });
    if (!b.isMultiple("k", tile.k)) {
      sum = b.loop(wholeBlocks, k, tile.k, sum,
                   [&](Value k0, ValueRange carried) { return multiply(k0, carried, true); });
    }
    storeResult(b, epilogue, tile, sum.front(), firstRow, firstColumn, outputType);
  };

  const Expression rows = signature.expression("m"), columns = signature.expression("n");
  if (!tile.stays) {
    compute(rasterize(b, b.programId(0), grid, tile.groupRows));
    return std::move(b).finish(rasterGrid(rows, tile.m, columns, tile.n));
  }
  forEachTile(b, grid, tile.groupRows, {}, [&](TilePosition position, ValueRange) {
    compute(position);
    return llvm::SmallVector<Value>();
  });
  return std::move(b).finish(persistentGrid(rows, tile.m, columns, tile.n));
}

} // namespace jitk::kernels
