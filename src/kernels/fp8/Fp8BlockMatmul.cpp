#include "src/kernels/fp8/Fp8BlockMatmul.h"

#include "src/kernels/MachineModel.h"
#include "src/kernels/fp8/PersistentFp8Matmul.h"
#include "src/kernels/fp8/RowGroups.h"
#include "src/kernels/vocabulary/MatrixTile.h"
#include "src/kernels/vocabulary/Raster.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace jitk::kernels {

static constexpr int64_t kMostRows = 64;

namespace {
struct Fp8Tile {
  int64_t m, n;
  unsigned numWarps;
};
} // namespace

static Fp8Tile chooseTile(const Description &description, const Target &target) {
  const Dimension &m = description.dimension("m");
  int64_t rows = std::clamp<int64_t>(llvm::PowerOf2Ceil(assumedSize(m, kMostRows)), 16, kMostRows);
  // Two accumulators of m x n live at once: 64 x 128 fp32 twice are 128 registers of 128 threads. wgmma reads the rest
  // from shared memory; mma.sync holds operands in registers too, so that more warps share the largest tile. More warps
  // also share the addresses of copies, which are many where K allows but 4 bytes each. A tile of 128 columns has one
  // weight scale a block.
  const Dimension &k = description.dimension("k");
  bool hasWgmma = target.capability == 90,
       hasNarrowCopies = (k.isStatic() ? k.value : k.divisor) % 16 != 0 || !haveStridesOf(description, {"a", "b"}, 16);
  bool isLarge = rows == kMostRows && !hasWgmma;
  return {rows, kScaleBlock, isLarge || hasNarrowCopies ? 8u : 4u};
}

namespace {
/// The matrices that one CTA works on, and its rows.
struct Problem {
  MatrixView a;
  MatrixView scaleOfA; ///< its rows are blocks where `hasColumnScales`
  MatrixView b;
  Value scaleOfB;
  MatrixView c;
  Value endOfRows;
  Value isActive; ///< whether the tile has rows of a group; null = it has
};
} // namespace

/// Declares the tensors and dimensions, those of groups where there are any.
static KernelSignature declare(const Description &description, RowGroups groups, MLIRContext &context) {
  Type fp8 = elementTypeOf("e4m3", context), fp32 = elementTypeOf("fp32", context);
  KernelSignature signature(description);
  signature.tensor("a", fp8);
  signature.tensor("a_scale", fp32);
  signature.tensor("b", fp8);
  signature.tensor("b_scale", fp32);
  if (groups != RowGroups::None) {
    signature.tensor(groups == RowGroups::Masked ? "valid_rows" : "row_group", elementTypeOf("int32", context));
    signature.dimension("groups", description.dimension("groups"));
  }
  signature.tensor("c", elementTypeOf(description.word("out_dtype"), context));
  for (const char *name : {"m", "n", "k"}) {
    signature.dimension(name, description.dimension(name));
  }
  return signature;
}

/// The matrices of the tile's group: `ownGroup` (i32) where groups have rows of their own.
static Problem problemOf(KernelBuilder &b, RowGroups groups, bool hasColumnScales, Value ownGroup, Value firstRow,
                         Value numBlocks) {
  Problem problem = {b.matrix("a", b.size("k")),
                     b.matrix("a_scale", hasColumnScales ? b.size("m") : numBlocks),
                     b.matrix("b", b.size("k")),
                     b.tensorParameter("b_scale"),
                     b.matrix("c", b.size("n")),
                     b.size("m"),
                     Value()};
  if (groups == RowGroups::None) {
    return problem;
  }
  auto product = [&](Value first, Value second, Value third) {
    return b.mul(b.mul(b.toI64(first), b.toI64(second)), b.toI64(third));
  };
  auto skipRows = [&](MatrixView &matrix, Value groups, Value rows) {
    matrix.base = b.advance(matrix.base, product(groups, rows, matrix.rowStride));
  };
  Value m = b.size("m"), n = b.size("n"), group;
  if (groups == RowGroups::Masked) {
    group = ownGroup;
    Value valid = b.minimum(b.load(b.advance(b.tensorParameter("valid_rows"), group)), m);
    problem.isActive = b.lessThan(firstRow, valid);
    // Where no row is valid none is read, nor stored.
    problem.endOfRows = valid;
    skipRows(problem.a, group, m);
    skipRows(problem.scaleOfA, group, hasColumnScales ? numBlocks : m);
    skipRows(problem.c, group, m);
  } else {
    Value named = b.load(b.advance(b.tensorParameter("row_group"), firstRow));
    problem.isActive = isGroup(b, named);
    problem.endOfRows = b.select(problem.isActive, m, b.i32(0));
    group = b.select(problem.isActive, named, b.i32(0));
  }
  skipRows(problem.b, group, n);
  problem.scaleOfB = b.advance(problem.scaleOfB, product(group, b.ceilDiv(n, kScaleBlock), numBlocks));
  return problem;
}

std::vector<Configuration> fp8Configurations(const Description &description, const Target &target) {
  return servesFp8Persistently(description, target) ? persistentFp8Configurations(description)
                                                    : std::vector<Configuration>();
}

Result<BuiltKernel> buildFp8BlockMatmul(const Description &description, const Target &target, MLIRContext &context) {
  if (servesFp8Persistently(description, target)) {
    return buildPersistentFp8Matmul(description, chooseFp8Variants(description), target, context);
  }
  const Fp8Tile tile = chooseTile(description, target);
  static_assert(kRowsOfRun % kMostRows == 0);
  const RowGroups groups = rowGroupsOf(description);
  Type fp8 = elementTypeOf("e4m3", context), fp32 = elementTypeOf("fp32", context);
  Type outputType = elementTypeOf(description.word("out_dtype"), context);
  KernelSignature signature = declare(description, groups, context);

  KernelBuilder b(context, signature, target, "fp8_block_matmul", tile.numWarps);
  Value m = b.size("m"), n = b.size("n"), k = b.size("k");
  Value numBlocks = b.ceilDiv(k, kScaleBlock);
  TileGrid tiles = {b.ceilDiv(m, tile.m), b.ceilDiv(n, tile.n)};
  // Groups with rows of their own lie along y, where they cost no register, if there are not too many for it.
  const bool isFolded = groups == RowGroups::Masked && !fitsAxisY(signature.size("groups"));
  llvm::SmallVector<Value> place = {b.programId(0), groups == RowGroups::Masked ? b.programId(1) : Value()};
  if (isFolded) {
    place = placeInFoldedGrid(b, {b.mul(tiles.rows, tiles.columns)});
  }
  TilePosition position = rasterize(b, place[0], tiles);
  Value firstRow = b.mul(position.row, b.i32(tile.m));
  Value firstColumn = b.mul(position.column, b.i32(tile.n));
  const bool hasColumnScales = description.word("a_scale_layout") == "col";
  Problem problem = problemOf(b, groups, hasColumnScales, place[1], firstRow, numBlocks);
  Value lastRow = b.maximum(problem.endOfRows, b.i32(1));

  bool hasAllRows = groups != RowGroups::Masked && b.isMultiple("m", tile.m);
  RowTile left(b, problem.a, firstRow, lastRow, tile.m, kScaleBlock, hasAllRows);
  RowTile right(b, problem.b, firstColumn, n, tile.n, kScaleBlock, b.isMultiple("n", tile.n));
  MatrixView scaleOfA = hasColumnScales ? MatrixView{problem.scaleOfA.base, b.i64(1)} : problem.scaleOfA;
  RowTile leftScale(b, scaleOfA, firstRow, lastRow, tile.m, 1, hasAllRows);
  Value rightScale = b.advance(problem.scaleOfB, b.mul(b.toI64(position.column), b.toI64(numBlocks)));
  Value leftBuffer = b.buffer({tile.m, kScaleBlock}, fp8);
  Value rightBuffer = b.buffer({tile.n, kScaleBlock}, fp8);
  Value zero = b.full(0, {tile.m, tile.n}, fp32);

  auto promote = [&](Value k0, ValueRange carried, bool tail) -> llvm::SmallVector<Value> {
    b.fill(leftBuffer, left.pointers(k0), tail ? left.mask(k0, k) : Value());
    b.fill(rightBuffer, right.pointers(k0), tail ? right.mask(k0, k) : Value());
    Value block = b.div(k0, b.i32(kScaleBlock));
    Value offset = hasColumnScales ? b.mul(b.toI64(block), problem.scaleOfA.rowStride) : block;
    Value scaleOfA = b.load(leftScale.pointers(offset)); // [m, 1]
    Value scaleOfB = b.load(b.advance(rightScale, block));
    Value product = b.dot(b.read(leftBuffer), b.transpose(b.read(rightBuffer)), zero);
    Value scale = b.mulf(scaleOfA, b.splat(scaleOfB, {tile.m, 1}));
    Value spread = ir::tt::BroadcastOp::create(b, b.tensorType({tile.m, tile.n}, fp32), scale);
    return {b.addf(carried.front(), b.mulf(product, spread))};
  };

  Value end = problem.isActive ? b.select(problem.isActive, k, b.i32(0)) : k;
  Value wholeBlocks = b.mul(b.div(end, b.i32(kScaleBlock)), b.i32(kScaleBlock));
  llvm::SmallVector<Value> sum = {zero};
  sum = b.loop(b.i32(0), wholeBlocks, kScaleBlock, sum,
               [&](Value k0, ValueRange carried) { return promote(k0, carried, false); });
  if (!b.isMultiple("k", kScaleBlock)) {
    sum = b.loop(wholeBlocks, end, kScaleBlock, sum,
                 [&](Value k0, ValueRange carried) { return promote(k0, carried, true); });
  }

  RowTile output(b, problem.c, firstRow, m, tile.m, tile.n, true);
  Value rows = b.add(b.splat(firstRow, {tile.m}), b.range(tile.m));
  Value mask = output.mask(firstColumn, n);
  mask = b.both(mask, b.asColumn(b.lessThan(rows, b.splat(problem.endOfRows, {tile.m})), tile.n));
  b.store(output.pointers(firstColumn), b.convert(sum.front(), outputType), mask);
  auto grid = rasterGrid(signature.expression("m"), tile.m, signature.expression("n"), tile.n);
  if (groups == RowGroups::Masked) {
    Expression numGroups = signature.expression("groups");
    grid = isFolded ? foldedGrid({grid[0], numGroups}) : std::array{grid[0], numGroups, grid[2]};
  }
  return std::move(b).finish(grid);
}

} // namespace jitk::kernels
