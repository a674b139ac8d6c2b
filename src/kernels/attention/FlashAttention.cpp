// One CTA computes `tile.m` query rows of one head.
//
//                keys, tile.n at a time ->
//             +------+------+------+------+
//   queries   |  S0  |  S1  |  S2  |//S3//|    S = Q K^T in registers; P = 2^(S - m) becomes the left operand of
//   (tile.m)  |      |      |     /|//////|    P V without leaving them. Blocks that need no mask come first.
//             +------+------+------+------+
//
// A head dimension that is no power of two (192) is a list of chunks that are (128 + 64).

#include "src/kernels/attention/FlashAttention.h"

#include "src/kernels/attention/AttentionSequences.h"
#include "src/kernels/attention/AttentionWindow.h"
#include "src/kernels/attention/PersistentAttention.h"
#include "src/kernels/attention/ScoreScale.h"
#include "src/kernels/vocabulary/AttentionStep.h"
#include "src/kernels/vocabulary/Raster.h"

#include <limits>

using namespace mlir;

namespace jitk::kernels {
namespace {

struct PlainTile {
  int64_t m, n;
  unsigned numWarps;
};

/// Where a sequence of one head lies in a [batch, sequence, heads, dim] tensor, or in a packed one.
struct HeadView {
  MatrixView matrix;
  SmallVector<DimensionPart> chunks;
};

} // namespace

static PlainTile chooseTile(const Description &description, const Target &target) {
  const Dimension &queries = description.dimension("seq_q");
  int64_t most = queries.isStatic() ? queries.value : queries.bound;
  bool few = most > 0 && most <= 64;
  // 16 rows a warp keep a row within one warp. A 256-wide accumulator of 64 rows is 128 registers of 128 threads.
  if (target.capability == 90 && !few && description.integer("value_dim") <= 128) {
    return {128, 64, 8};
  }
  // Of a wider one eight warps hold the halves.
  constexpr int64_t kWideDim = 256;
  const bool isWide = std::max(description.integer("head_dim"), description.integer("value_dim")) > kWideDim;
  return {64, description.integer("head_dim") > 128 ? 32 : 64, isWide ? 8u : 4u};
}

namespace {

/// Writes the kernel; its members are what the steps share.
class FlashAttentionWriter {
public:
  FlashAttentionWriter(KernelBuilder &b, const Description &description, const PlainTile &tile)
      : b_(b), description_(description), tile_(tile), type_(elementTypeOf(description.word("dtype"), *b.getContext())),
        sequences_(description), window_(description) {}

  void write() {
    place();
    if (sequences_.arePacked()) {
      // A sequence without queries may begin where the tensors end.
      b_.ifElse(b_.lessThan(firstQuery_, queryRange_.count), [&] { writeTile(); });
    } else {
      writeTile();
    }
  }

private:
  void writeTile() {
    locate();
    loadQueries();
    storeResult(loopOverKeys());
  }
  void place();
  void locate();
  void loadQueries();
  AttentionState loopOverKeys();
  AttentionState attend(Value firstKey, const AttentionState &state, bool masked);
  Value scores(Value keyRows, Value firstKey, bool masked);
  void storeResult(const AttentionState &state);

  HeadView headView(StringRef tensor, StringRef sequence, const SequenceRows &rows, StringRef heads, Value head,
                    int64_t dim);
  Value chunkPointers(const HeadView &view, Value rows, const DimensionPart &chunk);

  KernelBuilder &b_;
  const Description &description_;
  const PlainTile tile_;
  Type type_;
  AttentionSequences sequences_;
  AttentionWindow window_;
  Value batch_, head_, firstQuery_;
  SequenceRows queryRange_, keyRange_;
  Value numQueries_, numKeys_;
  Value queryRows_; ///< i32 [m]
  Value diagonal_;  ///< numKeys - numQueries: the window of query i lies around key i + diagonal
  HeadView queries_, keys_, values_, output_;
  SmallVector<Value> queryBuffers_, keyBuffers_, valueBuffers_;
};

} // namespace

HeadView FlashAttentionWriter::headView(StringRef tensor, StringRef sequence, const SequenceRows &rows, StringRef heads,
                                        Value head, int64_t dim) {
  KernelBuilder &b = b_;
  Value row = rows.first ? b.toI64(rows.first) : b.mul(b.toI64(batch_), b.toI64(b.size(sequence)));
  MatrixView matrix = b.matrix(tensor, b.mul(b.toI64(b.size(heads)), b.i64(dim)));
  // Where tokens lie side by side, heads are counted, which takes one product less.
  Value first = b.rowStride(tensor) ? b.add(b.mul(row, matrix.rowStride), b.mul(b.toI64(head), b.i64(dim)))
                                    : b.mul(b.add(b.mul(row, b.toI64(b.size(heads))), b.toI64(head)), b.i64(dim));
  return {{b.advance(matrix.base, first), matrix.rowStride}, splitDimension(dim, kLeastPart)};
}

void FlashAttentionWriter::place() {
  KernelBuilder &b = b_;
  SmallVector<Value> place = placeInFoldedGrid(b, {b.ceilDiv(b.size("seq_q"), tile_.m), b.size("heads")});
  firstQuery_ = b.mul(place[0], b.i32(tile_.m));
  head_ = place[1];
  batch_ = place[2];
  queryRange_ = sequences_.queries(b, batch_);
  keyRange_ = sequences_.keys(b, batch_);
  numQueries_ = queryRange_.count;
  numKeys_ = keyRange_.count;
}

void FlashAttentionWriter::locate() {
  KernelBuilder &b = b_;
  diagonal_ = b.sub(numKeys_, numQueries_);
  queryRows_ = b.add(b.splat(firstQuery_, {tile_.m}), b.range(tile_.m));

  Value group = b.div(b.size("heads"), b.size("kv_heads"));
  Value keyHead = b.div(head_, group);
  int64_t headDim = description_.integer("head_dim"), valueDim = description_.integer("value_dim");
  queries_ = headView("q", "seq_q", queryRange_, "heads", head_, headDim);
  keys_ = headView("k", "seq_k", keyRange_, "kv_heads", keyHead, headDim);
  values_ = headView("v", "seq_k", keyRange_, "kv_heads", keyHead, valueDim);
  output_ = headView("o", "seq_q", queryRange_, "heads", head_, valueDim);
}

Value FlashAttentionWriter::chunkPointers(const HeadView &view, Value rows, const DimensionPart &chunk) {
  return b_.pointers(columnsFrom(b_, view.matrix, chunk), rows, b_.range(chunk.size));
}

void FlashAttentionWriter::loadQueries() {
  KernelBuilder &b = b_;
  // Rows past the end read row 0 or the last one; nothing of them is stored.
  Value last = b.maximum(b.sub(numQueries_, b.i32(1)), b.i32(0));
  Value rows = b.minimum(queryRows_, b.splat(last, {tile_.m}));
  for (const DimensionPart &chunk : queries_.chunks) {
    queryBuffers_.push_back(b.buffer({tile_.m, chunk.size}, type_));
    b.copyIn(chunkPointers(queries_, rows, chunk), queryBuffers_.back());
  }
  for (const DimensionPart &chunk : keys_.chunks) {
    keyBuffers_.push_back(b.buffer({tile_.n, chunk.size}, type_));
  }
  for (const DimensionPart &chunk : values_.chunks) {
    valueBuffers_.push_back(b.buffer({tile_.n, chunk.size}, type_));
  }
}

AttentionState FlashAttentionWriter::loopOverKeys() {
  KernelBuilder &b = b_;
  SmallVector<Value> carried = packAttention(initialAttention(b, tile_.m, values_.chunks));
  // Keys that every row of the tile sees, then those that some row sees.
  Value seenByAll = numKeys_, seenBySome = numKeys_;
  if (window_.right) {
    Value firstRowEnd = b.add(b.add(firstQuery_, diagonal_), b.i32(*window_.right + 1));
    Value lastRowEnd = b.add(firstRowEnd, b.i32(tile_.m - 1));
    seenByAll = b.maximum(b.minimum(numKeys_, firstRowEnd), b.i32(0));
    seenBySome = b.minimum(numKeys_, lastRowEnd);
  }
  Value wholeBlocks = b.mul(b.div(seenByAll, b.i32(tile_.n)), b.i32(tile_.n));
  auto attendWhole = [&](Value key, ValueRange now) {
    return packAttention(attend(key, unpackAttention(now), /*masked=*/false));
  };
  auto attendMasked = [&](Value key, ValueRange now) {
    return packAttention(attend(key, unpackAttention(now), /*masked=*/true));
  };
  Value first = b.i32(0);
  if (window_.left) {
    // Before them those that the left end of some row's window cuts.
    Value firstRowBegin = b.add(b.add(firstQuery_, diagonal_), b.i32(-*window_.left));
    Value lastRowBegin = b.add(firstRowBegin, b.i32(tile_.m - 1));
    Value begin = b.mul(b.div(b.maximum(firstRowBegin, b.i32(0)), b.i32(tile_.n)), b.i32(tile_.n));
    first = b.mul(b.ceilDiv(b.maximum(lastRowBegin, b.i32(0)), tile_.n), b.i32(tile_.n));
    carried = b.loop(begin, b.minimum(first, seenBySome), tile_.n, carried, attendMasked);
    wholeBlocks = b.maximum(wholeBlocks, first);
  }
  carried = b.loop(first, wholeBlocks, tile_.n, carried, attendWhole);
  return unpackAttention(b.loop(wholeBlocks, seenBySome, tile_.n, carried, attendMasked));
}

Value FlashAttentionWriter::scores(Value keyRows, Value firstKey, bool masked) {
  KernelBuilder &b = b_;
  Value product = queriesTimesKeys(b, queryBuffers_, keyBuffers_);
  ScoreScale scale(description_);
  Value scaled = b.mulf(scale.capped(b, product), b.full(scale.factor(), {tile_.m, tile_.n}, b.getF32Type()));
  if (!masked) {
    return scaled;
  }
  Value key = b.add(b.splat(firstKey, {tile_.n}), b.range(tile_.n));
  Value seen = b.asRow(b.lessThan(key, b.splat(numKeys_, {tile_.n})), tile_.m);
  auto ofDiagonal = [&](int64_t distance) {
    return b.add(queryRows_, b.splat(b.add(diagonal_, b.i32(distance)), {tile_.m}));
  };
  if (window_.right) {
    seen = b.both(seen, b.lessEqual(b.asRow(key, tile_.m), b.asColumn(ofDiagonal(*window_.right), tile_.n)));
  }
  if (window_.left) {
    seen = b.both(seen, b.lessEqual(b.asColumn(ofDiagonal(-*window_.left), tile_.n), b.asRow(key, tile_.m)));
  }
  return maskedScores(b, seen, scaled);
}

AttentionState FlashAttentionWriter::attend(Value firstKey, const AttentionState &state, bool masked) {
  KernelBuilder &b = b_;
  Value rows = b.add(b.splat(firstKey, {tile_.n}), b.range(tile_.n));
  if (masked) {
    // Rows past the end are never read: they may hold NaN, which a zero weight does not remove.
    rows = b.minimum(rows, b.splat(b.sub(numKeys_, b.i32(1)), {tile_.n}));
  }
  for (auto [chunk, buffer] : llvm::zip_equal(keys_.chunks, keyBuffers_)) {
    b.copyIn(chunkPointers(keys_, rows, chunk), buffer);
  }
  for (auto [chunk, buffer] : llvm::zip_equal(values_.chunks, valueBuffers_)) {
    b.copyIn(chunkPointers(values_, rows, chunk), buffer);
  }
  return attendBlock(b, state, scores(rows, firstKey, masked), valueBuffers_);
}

void FlashAttentionWriter::storeResult(const AttentionState &state) {
  KernelBuilder &b = b_;
  Value inRange = b.lessThan(queryRows_, b.splat(numQueries_, {tile_.m}));
  Value normalizer = softmaxNormalizer(b, state.softmax);
  Type outputType = elementTypeOf(description_.word("out_dtype"), *b.getContext());
  for (auto [chunk, output] : llvm::zip_equal(output_.chunks, state.outputs)) {
    Value result = scaledRows(b, output, normalizer);
    b.store(chunkPointers(output_, queryRows_, chunk), b.convert(result, outputType), b.asColumn(inRange, chunk.size));
  }
  Value base = sequences_.logSums(b, batch_, head_, queryRange_);
  b.store(b.pointers(base, queryRows_), logSumExp(b, state.softmax, -std::numeric_limits<double>::infinity()), inRange);
}

static KernelSignature makeSignature(const Description &description, MLIRContext &context) {
  Type type = elementTypeOf(description.word("dtype"), context);
  KernelSignature signature(description);
  for (const char *name : {"q", "k", "v"}) {
    signature.tensor(name, type);
  }
  AttentionSequences sequences(description);
  sequences.declareTensors(signature, context);
  signature.tensor("o", elementTypeOf(description.word("out_dtype"), context));
  signature.tensor("lse", elementTypeOf("fp32", context), 4);
  sequences.declareDimensions(signature, description);
  return signature;
}

std::vector<Configuration> attentionConfigurations(const Description &description, const Target &target) {
  if (!servesPersistentAttention(description, target)) {
    return {};
  }
  return namesOfTiles<AttentionTile>(attentionTiles(description),
                                     [&](const AttentionTile &tile) { return modelledClocks(description, tile); });
}

Result<BuiltKernel> buildFlashAttention(const Description &description, const Target &target, MLIRContext &context) {
  if (servesPersistentAttention(description, target)) {
    return buildPersistentAttention(description, chooseAttentionTile(description), target, context);
  }
  KernelSignature signature = makeSignature(description, context);
  PlainTile tile = chooseTile(description, target);
  KernelBuilder b(context, signature, target, "flash_attention", tile.numWarps);
  FlashAttentionWriter(b, description, tile).write();
  Expression blocks =
      Expression::binary(Expression::Op::CeilDiv, signature.expression("seq_q"), Expression::constant(tile.m));
  return std::move(b).finish(foldedGrid({blocks, signature.expression("heads"), signature.expression("batch")}));
}

} // namespace jitk::kernels
