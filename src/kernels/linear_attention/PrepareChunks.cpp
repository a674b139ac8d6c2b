// Everything of a chunk that does not depend on the state: one CTA for a chunk and a value head.
//
//            keys of the chunk
//          +-------------------+
//   queries| Q K^T, then P     |       P = lower(Q K^T o D) / sqrt(key_dim)
//          +-------------------+
//   keys   | K K^T, then A     |       L = strict_lower(diag(beta) K K^T o D),  A = (I + L)^-1 diag(beta)
//          +-------------------+
//
// 16 rows of either product are a warp's. Value heads that share a key head compute both products again, from operands
// that are in L2 then: that costs less than keeping them in registers from one head to the next.

#include "src/kernels/linear_attention/ChunkSteps.h"
#include "src/kernels/vocabulary/Gates.h"
#include "src/kernels/vocabulary/Normalization.h"
#include "src/kernels/vocabulary/TriangularInverse.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <optional>

using namespace mlir;

namespace jitk::kernels {
namespace {

class PrepareWriter {
public:
  PrepareWriter(KernelBuilder &b, const ChunkPlan &plan)
      : b_(b), plan_(plan), problem_(plan.problem), square_({plan.size, plan.size}) {}

  void write();

private:
  void fill();
  void computeNorms();
  /// Stores the keys that the states are carried with, divided by the power of two nearest to their norm.
  void scaleKeys();
  void storeScores();
  void storeInverse();
  void storeFactors();
  Value loadGate(StringRef tensor);
  /// The products of rows of two buffers, [chunk, chunk].
  Value multiply(ArrayRef<Value> rows, ArrayRef<Value> columns);
  void storeMatrix(StringRef region, Value matrix);

  /// A factor of each row, or of each column, of a matrix; nothing to do where `factors` is null.
  Value scaleRows(Value matrix, Value factors) {
    return factors ? b_.mulf(matrix, b_.asColumn(factors, plan_.size)) : matrix;
  }
  Value scaleColumns(Value matrix, Value factors) {
    return factors ? b_.mulf(matrix, b_.asRow(factors, plan_.size)) : matrix;
  }

  KernelBuilder &b_;
  const ChunkPlan &plan_;
  const DeltaRuleProblem &problem_;
  SmallVector<int64_t> square_;
  Value chunk_, valueHead_;
  std::optional<ChunkRows> rows_;
  SmallVector<Value> keyBuffers_, queryBuffers_;
  CumulatedGates cumulated_;
  Value keyNorms_, queryNorms_; ///< inverse, f32 [chunk]; null where nothing is normalized
  Value carriedNorms_;          ///< what is left of the keys' where those are scaled
};

} // namespace

void PrepareWriter::fill() {
  KernelBuilder &b = b_;
  Value keyHead = problem_.keyHeadOf(b, valueHead_);
  MatrixView keys = rows_->of(b, problem_.tokensOf(b, "k", "qk_heads", keyHead, problem_.keyDim));
  MatrixView queries = rows_->of(b, problem_.tokensOf(b, "q", "qk_heads", keyHead, problem_.keyDim));
  for (const DimensionPart &part : plan_.keyParts) {
    keyBuffers_.push_back(b.buffer({plan_.size, part.size}, problem_.type));
    queryBuffers_.push_back(b.buffer({plan_.size, part.size}, problem_.type));
    plan_.fillRows(b, keyBuffers_.back(), keys, rows_->isValid, part);
    plan_.fillRows(b, queryBuffers_.back(), queries, rows_->isValid, part);
  }
}

void PrepareWriter::computeNorms() {
  KernelBuilder &b = b_;
  Value keySquares, querySquares;
  for (auto [key, query] : llvm::zip_equal(keyBuffers_, queryBuffers_)) {
    keySquares = addSquares(b, keySquares, b.read(key), 1);
    querySquares = addSquares(b, querySquares, b.read(query), 1);
  }
  keyNorms_ = inverseNorm(b, keySquares);
  queryNorms_ = inverseNorm(b, querySquares);
  carriedNorms_ = keyNorms_;
}

void PrepareWriter::scaleKeys() {
  KernelBuilder &b = b_;
  Value exponents = math::RoundEvenOp::create(b, b.log2(keyNorms_));
  Value zeros = b.full(0, {plan_.size}, b.getF32Type());
  carriedNorms_ = b.mulf(keyNorms_, b.exp2(b.subf(zeros, exponents)));
  // One for all value heads that share them.
  b.ifElse(b.equal(b.rem(valueHead_, problem_.groupSize(b)), b.i32(0)), [&] {
    MatrixView scaled = plan_.scaledKeys(b, chunk_, problem_.keyHeadOf(b, valueHead_));
    Value powers = b.convert(b.exp2(exponents), problem_.type);
    for (auto [part, key] : llvm::zip_equal(plan_.keyParts, keyBuffers_)) {
      b.store(b.pointers(columnsFrom(b, scaled, part), b.range(plan_.size), b.range(part.size)),
              b.mulf(b.read(key), b.asColumn(powers, part.size)), validColumns(b, part, plan_.size));
    }
  });
}

Value PrepareWriter::multiply(ArrayRef<Value> rows, ArrayRef<Value> columns) {
  Value product = b_.full(0, square_, b_.getF32Type());
  for (auto [row, column] : llvm::zip_equal(rows, columns)) {
    product = b_.dot(b_.read(row), b_.transpose(b_.read(column)), product);
  }
  return product;
}

Value PrepareWriter::loadGate(StringRef tensor) {
  MatrixView gates = rows_->of(b_, problem_.gatesOf(b_, tensor, valueHead_));
  Value offsets = b_.mul(b_.toI64(b_.range(plan_.size)), b_.splat(gates.rowStride, {plan_.size}));
  return b_.convert(b_.load(b_.pointers(gates.base, offsets), rows_->isValid), b_.getF32Type());
}

void PrepareWriter::storeMatrix(StringRef region, Value matrix) {
  KernelBuilder &b = b_;
  Value base = plan_.region(b, region, chunk_, valueHead_, plan_.size * plan_.size);
  Value index = b.range(plan_.size);
  b.store(b.pointers({base, b.i64(plan_.size)}, index, index), b.convert(matrix, problem_.type));
}

void PrepareWriter::storeScores() {
  KernelBuilder &b = b_;
  Value scores = scaleColumns(scaleRows(multiply(queryBuffers_, keyBuffers_), queryNorms_), keyNorms_);
  scores = b.mulf(scores, b.full(problem_.scale, square_, b.getF32Type()));
  storeMatrix(chunk_region::kScores, b.mulf(scores, decayMatrix(b, cumulated_, /*strict=*/false)));
}

void PrepareWriter::storeInverse() {
  KernelBuilder &b = b_;
  Value beta = loadGate("beta");
  Value overlaps = scaleColumns(scaleRows(multiply(keyBuffers_, keyBuffers_), keyNorms_), keyNorms_);
  Value corrections = b.mulf(scaleRows(overlaps, beta), decayMatrix(b, cumulated_, /*strict=*/true));
  Type operandType = problem_.type.isF32() ? problem_.type : b.getF16Type();
  storeMatrix(chunk_region::kInverses, scaleColumns(invertUnitLower(b, corrections, operandType), beta));
}

void PrepareWriter::storeFactors() {
  KernelBuilder &b = b_;
  auto scaled = [&](Value factors, Value norms) { return norms ? b.mulf(factors, norms) : factors; };
  Value decay = decayFromStart(b, cumulated_), rest = decayToLast(b, cumulated_);
  Value scale = b.full(problem_.scale, {plan_.size}, b.getF32Type());
  const std::pair<ChunkFactor, Value> factors[] = {{kKeyFactor, scaled(decay, carriedNorms_)},
                                                   {kUpdateFactor, scaled(rest, carriedNorms_)},
                                                   {kQueryFactor, scaled(b.mulf(decay, scale), queryNorms_)}};
  Value base = plan_.region(b, chunk_region::kFactors, chunk_, valueHead_, kNumFactors * plan_.size);
  for (auto [factor, values] : factors) {
    b.store(b.pointers(b.advance(base, b.i32(factor * plan_.size)), b.range(plan_.size)), values);
  }
  b.store(plan_.region(b, chunk_region::kDecays, chunk_, valueHead_, 1), decayOfAll(b, cumulated_));
}

void PrepareWriter::write() {
  KernelBuilder &b = b_;
  // Neighbours share the chunk.
  chunk_ = b.div(b.programId(0), b.size("v_heads"));
  valueHead_ = b.rem(b.programId(0), b.size("v_heads"));
  const Dimension &batch = problem_.description.dimension("batch");
  TokenRange tokens = plan_.chunks(b).tokens(b, chunk_, batch.isStatic() ? batch.value : batch.bound);
  rows_.emplace(b, plan_.size, tokens.begin, tokens.end);
  fill();
  if (problem_.normalizes) {
    computeNorms();
  }
  if (plan_.scalesKeys()) {
    scaleKeys();
  }
  cumulated_ = cumulateGates(b, loadGate("g"), problem_.type.isF32() ? GatePrecision::Single : GatePrecision::Half);
  storeFactors();
  storeScores();
  storeInverse();
}

void writePrepareChunks(KernelBuilder &b, const ChunkPlan &plan) { PrepareWriter(b, plan).write(); }

} // namespace jitk::kernels
