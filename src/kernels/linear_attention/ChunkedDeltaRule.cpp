#include "src/kernels/linear_attention/ChunkedDeltaRule.h"

#include "src/kernels/linear_attention/ChunkSteps.h"
#include "src/kernels/vocabulary/Raster.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace jitk::kernels {

/// Rows of a product that one warp computes.
static constexpr int64_t kRowsOfWarp = 16;

Value ChunkPlan::region(KernelBuilder &b, StringRef name, Value chunk, Value head, int64_t elements,
                        StringRef heads) const {
  Value index = b.add(b.mul(b.toI64(chunk), b.toI64(b.size(heads))), b.toI64(head));
  return b.advance(b.tensorParameter(name), b.mul(index, b.i64(elements)));
}

MatrixView ChunkPlan::scaledKeys(KernelBuilder &b, Value chunk, Value keyHead) const {
  return {region(b, chunk_region::kKeys, chunk, keyHead, size * problem.keyDim, "qk_heads"), b.i64(problem.keyDim)};
}

void ChunkPlan::fillRows(KernelBuilder &b, Value buffer, const MatrixView &matrix, Value isValid,
                         const DimensionPart &part) const {
  Value mask = b.asColumn(isValid, part.size);
  if (Value columns = validColumns(b, part, size)) {
    mask = b.both(mask, columns);
  }
  b.fill(buffer, b.pointers(columnsFrom(b, matrix, part), b.range(size), b.range(part.size)), mask);
}

ChunkRows::ChunkRows(KernelBuilder &b, int64_t size, Value firstToken, Value endOfSequence)
    : first(firstToken), isValid(b.lessThan(b.range(size), b.splat(b.sub(endOfSequence, firstToken), {size}))) {}

MatrixView ChunkRows::of(KernelBuilder &b, MatrixView matrix) const {
  matrix.base = b.advance(matrix.base, b.mul(b.toI64(first), matrix.rowStride));
  return matrix;
}

/// Chunks times heads.
static Expression countHeads(const KernelSignature &signature, const ChunkPlan &plan, StringRef heads = "v_heads") {
  Expression chunks = TokenChunks::count(plan.problem.description.flag("varlen"), signature.expression("batch"),
                                         signature.expression("tokens"), plan.size);
  return Expression::binary(Expression::Op::Mul, chunks, signature.expression(heads));
}

static void declareRegions(KernelSignature &signature, const ChunkPlan &plan, MLIRContext &context) {
  using Op = Expression::Op;
  Expression heads = countHeads(signature, plan);
  auto elements = [&](int64_t each) { return Expression::binary(Op::Mul, heads, Expression::constant(each)); };
  Type fp32 = elementTypeOf("fp32", context);
  signature.workspace(chunk_region::kInverses, plan.problem.type, elements(plan.size * plan.size));
  signature.workspace(chunk_region::kScores, plan.problem.type, elements(plan.size * plan.size));
  signature.workspace(chunk_region::kFactors, fp32, elements(kNumFactors * plan.size));
  signature.workspace(chunk_region::kDecays, fp32, elements(1));
  if (plan.scalesKeys()) {
    Expression keys = Expression::constant(plan.size * plan.problem.keyDim);
    signature.workspace(chunk_region::kKeys, plan.problem.type,
                        Expression::binary(Op::Mul, countHeads(signature, plan, "qk_heads"), keys));
  }
}

/// Of a state that leaves registers for what is invariant in the loop that carries it. In fp32 operands are two
/// numbers.
static int64_t mostKeysBesideInvariants(const DeltaRuleProblem &problem) {
  return problem.type.isF32() ? kMostKeysInRegisters / 2 : kMostKeysInRegisters;
}

Result<BuiltKernel> buildChunkedDeltaRule(const Description &description, const Target &target, MLIRContext &context) {
  DeltaRuleProblem problem(description, context);
  ChunkPlan plan{problem, description.integer("chunk"), splitDimension(problem.keyDim, kLeastPart)};
  KernelSignature signature = problem.signature(context);
  declareRegions(signature, plan, context);

  KernelProgram program(context, signature, target);
  Expression heads = countHeads(signature, plan);
  program.step({.symbol = "prepare_chunks",
                .numWarps = unsigned(plan.size / kRowsOfWarp),
                .grid = {heads, Expression::constant(1), Expression::constant(1)}},
               [&](KernelBuilder &b) { writePrepareChunks(b, plan); });
  int64_t tile = valueTileOf(plan), tiles = llvm::divideCeil(problem.valueDim, tile);
  program.step({.symbol = "carry_states",
                .numWarps = unsigned(tile / kRowsOfWarp),
                .grid = foldedGrid(
                    {Expression::constant(tiles), signature.expression("v_heads"), signature.expression("batch")}),
                .keepsInvariants = problem.keyDim > mostKeysBesideInvariants(problem)},
               [&](KernelBuilder &b) { writeCarryStates(b, plan); });
  return std::move(program).finish();
}

} // namespace jitk::kernels
