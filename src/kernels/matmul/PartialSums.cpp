#include "src/kernels/matmul/PartialSums.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace jitk::kernels {

using Op = Expression::Op;

/// What a CTA of four warps sums: 16 bytes a thread and load, two rows of each part in flight.
static constexpr int64_t kRows = 8, kColumns = 128;

void declarePartialSums(KernelSignature &signature, llvm::ArrayRef<ProductShapes> variants) {
  llvm::StringSet<> declared;
  std::string first;
  for (const ProductShapes &shapes : variants) {
    if (!shapes.leavesPartialSums() || !declared.insert(shapes.result).second) {
      continue;
    }
    Type elementType = shapes.resultType();
    Expression n = signature.expression("n");
    Expression rows =
        Expression::binary(Op::Mul, paddedRows(signature, shapes), Expression::constant(shapes.tile.splits));
    Expression elements = Expression::binary(Op::Mul, rows, n);
    if (first.empty()) {
      first = shapes.result;
      signature.workspace(first, elementType, elements);
    } else {
      signature.workspaceOver(first, shapes.result, elementType, elements);
    }
    signature.tiles(shapes.result, rows, n, ProductTiles(shapes).partialSums);
  }
}

SumRegion::SumRegion(KernelBuilder &builder, const Side &rows, const Side &columns)
    : b(builder), numRows_(rows.count), rows_(b.add(b.splat(rows.first, {rows.count}), b.range(rows.count))),
      columns_(b.add(b.splat(columns.first, {columns.count}), b.range(columns.count))) {
  if (!columns.isInside) {
    inColumns_ = b.lessThan(columns_, b.splat(b.size("n"), {columns.count}));
    mask_ = b.asRow(inColumns_, rows.count);
  }
  if (!rows.isInside) {
    Value inRows = b.asColumn(b.lessThan(rows_, b.splat(b.size("m"), {rows.count})), columns.count);
    mask_ = mask_ ? b.both(mask_, inRows) : inRows;
  }
}

void SumRegion::store(Value sum, const Epilogue &epilogue, Type outputType) const {
  Value n = b.size("n"), bias, addend;
  if (epilogue.hasBias()) {
    bias = b.asRow(b.load(b.pointers(b.tensorParameter("bias"), columns_), inColumns_), numRows_);
  }
  if (epilogue.addend()) {
    addend = b.load(b.pointers(b.matrix(epilogue.addend(), n), rows_, columns_), mask_);
  }
  b.store(b.pointers(b.matrix("c", n), rows_, columns_), epilogue.apply(b, sum, bias, addend, outputType), mask_);
}

static void sumPartials(KernelBuilder &b, const ProductShapes &shapes, const Epilogue &epilogue) {
  Value m = b.size("m"), n = b.size("n");
  TilePosition at = rasterize(b, b.programId(0), {b.ceilDiv(m, kRows), b.ceilDiv(n, kColumns)});
  SumRegion region(b, {b.mul(at.row, b.i32(kRows)), kRows, b.isMultiple("m", kRows)},
                   {b.mul(at.column, b.i32(kColumns)), kColumns, b.isMultiple("n", kColumns)});
  Value stride = b.toI64(n), sum;
  Value depth = b.mul(b.ceilDiv(m, shapes.tile.rowsOfC()), b.i32(shapes.tile.rowsOfC()));
  for (int64_t split = 0; split < shapes.tile.splits; ++split) {
    Value row = b.add(region.rows(), b.splat(b.mul(b.i32(split), depth), {kRows}));
    Value part = b.load(b.pointers({b.tensorParameter(shapes.result), stride}, row, region.columns()), region.mask());
    sum = sum ? b.addf(sum, part) : part;
  }
  region.store(sum, epilogue, shapes.outputType);
}

void addPartialSums(KernelProgram &program, const KernelSignature &signature, llvm::StringRef symbol,
                    const Expression &isChosen, const ProductShapes &shapes, const Epilogue &epilogue) {
  std::array<Expression, 3> grid = rasterGrid(signature.expression("m"), kRows, signature.expression("n"), kColumns);
  grid[0] = Expression::binary(Op::Mul, grid[0], isChosen);
  program.step({.symbol = symbol, .numWarps = 4, .grid = grid},
               [&](KernelBuilder &b) { sumPartials(b, shapes, epilogue); });
}

} // namespace jitk::kernels
