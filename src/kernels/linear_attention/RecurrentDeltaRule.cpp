// One CTA holds some columns of one state in registers while it walks over the tokens of its sequence.
//
//                 values, `tileValues` a CTA
//               +------+------+------+
//     key_dim   |      |  S   |      |      u = beta (v - S^T k): a sum down each column
//               |      |      |      |      S += k u^T
//               +------+------+------+
//
// Value-major states are held transposed, so that either layout is read along its contiguous dimension. Key dimensions
// that are no power of two are filled up with zeros in registers.

#include "src/kernels/linear_attention/RecurrentDeltaRule.h"

#include "src/kernels/linear_attention/DeltaRuleProblem.h"
#include "src/kernels/vocabulary/Normalization.h"
#include "src/kernels/vocabulary/Raster.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numbers>

using namespace mlir;

namespace jitk::kernels {
namespace {

constexpr unsigned kNumWarps = 4;
/// Elements of a state in one CTA: 32 registers a thread keep enough loads in flight.
constexpr int64_t kTileElements = 4096;

struct RecurrentTile {
  int64_t keys, values; ///< powers of two
};

class RecurrentWriter {
public:
  RecurrentWriter(KernelBuilder &b, const DeltaRuleProblem &problem, const RecurrentTile &tile)
      : b_(b), problem_(problem), tile_(tile) {}

  void write();

private:
  /// One token: the next state, after the token's output is stored.
  Value advance(Value token, Value state);
  Value loadVector(const MatrixView &matrix, Value token, Value columns, Value mask);
  Value loadScalar(const MatrixView &matrix, Value token);
  Value statePointers(const StateView &state);
  Value stateMask(const StateView &state);

  // A state is [keys, values], or [values, keys] where it is value-major.
  unsigned keyAxis() const { return problem_.isValueMajor ? 1 : 0; }
  Value alongKeys(Value keys) {
    return problem_.isValueMajor ? b_.asRow(keys, tile_.values) : b_.asColumn(keys, tile_.values);
  }
  Value alongValues(Value values) {
    return problem_.isValueMajor ? b_.asColumn(values, tile_.keys) : b_.asRow(values, tile_.keys);
  }
  Value scaled(Value vector, Value factor) {
    return b_.mulf(vector, b_.splat(factor, cast<RankedTensorType>(vector.getType()).getShape()));
  }

  KernelBuilder &b_;
  const DeltaRuleProblem &problem_;
  const RecurrentTile tile_;
  HeadOfSequence head_;
  Value keys_, keyMask_, values_, valueMask_; ///< of the tile
  MatrixView q_, k_, v_, g_, beta_, o_;
  Value hasState_; ///< i1; null = always
};

} // namespace

Value RecurrentWriter::loadVector(const MatrixView &matrix, Value token, Value columns, Value mask) {
  Value row = b_.advance(matrix.base, b_.mul(b_.toI64(token), matrix.rowStride));
  return b_.convert(b_.load(b_.pointers(row, columns), mask), b_.getF32Type());
}

Value RecurrentWriter::loadScalar(const MatrixView &matrix, Value token) {
  return b_.convert(b_.load(b_.advance(matrix.base, b_.mul(b_.toI64(token), matrix.rowStride))), b_.getF32Type());
}

Value RecurrentWriter::statePointers(const StateView &state) {
  return problem_.isValueMajor ? b_.pointers({state.base, b_.i64(problem_.keyDim)}, values_, keys_)
                               : b_.pointers({state.base, b_.i64(problem_.valueDim)}, keys_, values_);
}

Value RecurrentWriter::stateMask(const StateView &state) {
  Value inside = b_.both(alongKeys(keyMask_), alongValues(valueMask_));
  if (!state.exists) {
    return inside;
  }
  return b_.both(inside, b_.splat(state.exists, cast<RankedTensorType>(inside.getType()).getShape()));
}

Value RecurrentWriter::advance(Value token, Value state) {
  KernelBuilder &b = b_;
  Value query = loadVector(q_, token, keys_, keyMask_), key = loadVector(k_, token, keys_, keyMask_);
  Value value = loadVector(v_, token, values_, valueMask_);
  Value queryScale = b.f32(problem_.scale);
  if (problem_.normalizes) {
    queryScale = b.mulf(queryScale, inverseNorm(b, addSquares(b, {}, query, 0)));
    key = scaled(key, inverseNorm(b, addSquares(b, {}, key, 0)));
  }
  Value decay = b.exp2(b.mulf(loadScalar(g_, token), b.f32(std::numbers::log2e)));
  Value decayed = scaled(state, decay);
  Value known = b.reduceSum(b.mulf(decayed, alongKeys(key)), keyAxis());
  Value update = scaled(b.subf(value, known), loadScalar(beta_, token));
  Value next = b.addf(decayed, b.mulf(alongKeys(key), alongValues(update)));
  Value output = b.reduceSum(b.mulf(next, alongKeys(scaled(query, queryScale))), keyAxis());
  if (hasState_) {
    output = b.select(b.splat(hasState_, {tile_.values}), output, b.full(0, {tile_.values}, b.getF32Type()));
  }
  Value row = b.advance(o_.base, b.mul(b.toI64(token), o_.rowStride));
  b.store(b.pointers(row, values_), b.convert(output, problem_.type), valueMask_);
  return next;
}

void RecurrentWriter::write() {
  KernelBuilder &b = b_;
  Value tiles = b.i32(llvm::divideCeil(problem_.valueDim, tile_.values));
  SmallVector<Value> place = placeInFoldedGrid(b, {tiles, b.size("v_heads")});
  head_ = problem_.head(b, place[2], place[1]);
  keys_ = b.range(tile_.keys);
  keyMask_ = b.lessThan(keys_, b.splat(b.i32(problem_.keyDim), {tile_.keys}));
  Value firstValue = b.mul(place[0], b.i32(tile_.values));
  values_ = b.add(b.splat(firstValue, {tile_.values}), b.range(tile_.values));
  valueMask_ = b.lessThan(values_, b.splat(b.i32(problem_.valueDim), {tile_.values}));
  q_ = problem_.tokensOf(b, "q", "qk_heads", head_.keyHead, problem_.keyDim);
  k_ = problem_.tokensOf(b, "k", "qk_heads", head_.keyHead, problem_.keyDim);
  v_ = problem_.tokensOf(b, "v", "v_heads", head_.valueHead, problem_.valueDim);
  o_ = problem_.tokensOf(b, "o", "v_heads", head_.valueHead, problem_.valueDim);
  g_ = problem_.gatesOf(b, "g", head_.valueHead);
  beta_ = problem_.gatesOf(b, "beta", head_.valueHead);

  StateView initial = problem_.initialState(b, head_), last = problem_.finalState(b, head_);
  hasState_ = last.exists;
  SmallVector<int64_t> shape = {tile_.keys, tile_.values};
  if (problem_.isValueMajor) {
    std::swap(shape[0], shape[1]);
  }
  Value state = initial.base ? b.load(statePointers(initial), stateMask(initial)) : b.full(0, shape, b.getF32Type());
  state = b.loop(head_.tokens.begin, head_.tokens.end, 1, {state}, [&](Value token, ValueRange carried) {
             return SmallVector<Value>{advance(token, carried.front())};
           }).front();
  b.store(statePointers(last), state, stateMask(last));
}

static RecurrentTile chooseTile(const DeltaRuleProblem &problem) {
  RecurrentTile tile;
  tile.keys = llvm::PowerOf2Ceil(problem.keyDim);
  tile.values = std::min<int64_t>(kTileElements / tile.keys, llvm::PowerOf2Ceil(problem.valueDim));
  return tile;
}

Result<BuiltKernel> buildRecurrentDeltaRule(const Description &description, const Target &target,
                                            MLIRContext &context) {
  DeltaRuleProblem problem(description, context);
  KernelSignature signature = problem.signature(context);
  RecurrentTile tile = chooseTile(problem);
  KernelBuilder b(context, signature, target, "recurrent_delta_rule", kNumWarps);
  RecurrentWriter(b, problem, tile).write();
  int64_t tiles = llvm::divideCeil(problem.valueDim, tile.values);
  return std::move(b).finish(
      foldedGrid({Expression::constant(tiles), signature.expression("v_heads"), signature.expression("batch")}));
}

} // namespace jitk::kernels
