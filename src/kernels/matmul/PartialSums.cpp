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
    if (!shapes.isSplit() || !declared.insert(shapes.result).second) {
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

static void sumPartials(KernelBuilder &b, const ProductShapes &shapes, const Epilogue &epilogue) {
  Value m = b.size("m"), n = b.size("n");
  TilePosition at = rasterize(b, b.programId(0), {b.ceilDiv(m, kRows), b.ceilDiv(n, kColumns)});
  Value rows = b.add(b.splat(b.mul(at.row, b.i32(kRows)), {kRows}), b.range(kRows));
  Value columns = b.add(b.splat(b.mul(at.column, b.i32(kColumns)), {kColumns}), b.range(kColumns));
  Value inColumns, mask;
  if (!b.isMultiple("n", kColumns)) {
    inColumns = b.lessThan(columns, b.splat(n, {kColumns}));
    mask = b.asRow(inColumns, kRows);
  }
  if (!b.isMultiple("m", kRows)) {
    Value inRows = b.asColumn(b.lessThan(rows, b.splat(m, {kRows})), kColumns);
    mask = mask ? b.both(mask, inRows) : inRows;
  }
  Value stride = b.toI64(n), sum;
  Value depth = b.mul(b.ceilDiv(m, shapes.tile.rowsOfC()), b.i32(shapes.tile.rowsOfC()));
  for (int64_t split = 0; split < shapes.tile.splits; ++split) {
    Value row = b.add(rows, b.splat(b.mul(b.i32(split), depth), {kRows}));
    Value part = b.load(b.pointers({b.tensorParameter(shapes.result), stride}, row, columns), mask);
    sum = sum ? b.addf(sum, part) : part;
  }
  Value bias, addend;
  if (epilogue.hasBias()) {
    bias = b.asRow(b.load(b.pointers(b.tensorParameter("bias"), columns), inColumns), kRows);
  }
  if (epilogue.addend()) {
    addend = b.load(b.pointers(b.matrix(epilogue.addend(), n), rows, columns), mask);
  }
  b.store(b.pointers(b.matrix("c", n), rows, columns), epilogue.apply(b, sum, bias, addend, shapes.outputType), mask);
}

void addPartialSums(KernelProgram &program, const KernelSignature &signature, llvm::StringRef symbol,
                    const Expression &isChosen, const ProductShapes &shapes, const Epilogue &epilogue) {
  std::array<Expression, 3> grid = rasterGrid(signature.expression("m"), kRows, signature.expression("n"), kColumns);
  grid[0] = Expression::binary(Op::Mul, grid[0], isChosen);
  program.step({.symbol = symbol, .numWarps = 4, .grid = grid},
               [&](KernelBuilder &b) { sumPartials(b, shapes, epilogue); });
}

} // namespace jitk::kernels
