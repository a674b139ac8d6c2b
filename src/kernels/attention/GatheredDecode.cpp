// One CTA computes a tile of rows of one key head over its part of the schedule.
//
//                 keyDim
//             +------------------------+
//   Q rows    |                        |     S = Q K^T over all channels, in registers
//             +------------------------+
//             +------------------------+
//   K rows    |  gathered from pages   |     a tile of `tile.keys` rows in shared memory; a ring of them
//             +------------------------+
//             +------------------------+
//   V rows    |  or the first channels |     O += P V, in registers
//             |  of the K rows         |
//             +------------------------+

#include "src/kernels/attention/PagedDecode.h"

using namespace mlir;

namespace jitk::kernels {
namespace {

/// Writes the attention step; its members are what the steps of the computation share.
class GatheredDecodeWriter {
public:
  GatheredDecodeWriter(KernelBuilder &b, const PagedDecodeProblem &problem, const GatheredTile &tile)
      : b_(b), problem_(problem), tile_(tile), valueChunks_(splitDimension(problem.valueDim, kLeastPart)),
        keyChunks_(splitDimension(problem.keyDim, kLeastPart)) {
    if (problem.valuesAreKeys()) {
      keyChunks_ = valueChunks_;
      for (const DimensionPart &chunk : splitDimension(problem.keyDim - problem.valueDim, kLeastPart)) {
        keyChunks_.push_back({problem.valueDim + chunk.offset, chunk.size, chunk.valid});
      }
    }
  }

  void write();

private:
  void attendSequence(Value sequence);
  void loadQueries();
  PagedRows rowsOf(StringRef tensor, int64_t dim);
  AttentionState loopOverKeys();
  AttentionState attend(const PagedRows &keys, const PagedRows &values, Value firstKey, const AttentionState &state);
  void fill(const PagedRows &cache, Value firstKey, ArrayRef<DimensionPart> chunks, ArrayRef<Value> buffers);
  Value scores(Value firstKey);

  KernelBuilder &b_;
  const PagedDecodeProblem &problem_;
  const GatheredTile tile_;
  SmallVector<DimensionPart> valueChunks_, keyChunks_;

  ScheduledPart part_;
  DecodedRows rows_;
  SmallVector<Value> queryBuffers_, keyBuffers_, valueBuffers_;
  Value weightBuffer_;

  // Of the sequence at work.
  DecodedKeys keys_;
  Value keyEnds_; ///< i32 [rows]: the first key that the row does not see
};

} // namespace

void GatheredDecodeWriter::write() {
  KernelBuilder &b = b_;
  DecodedTile own = decodedTile(b, problem_, tile_.rows);
  rows_ = locateRows(b, problem_, own.keyHead, own.tile, tile_.rows);
  for (const DimensionPart &chunk : keyChunks_) {
    queryBuffers_.push_back(b.buffer({tile_.rows, chunk.size}, problem_.type));
    keyBuffers_.push_back(b.buffer({tile_.keys, chunk.size}, problem_.type));
  }
  if (problem_.valuesAreKeys()) {
    valueBuffers_.assign(keyBuffers_.begin(), keyBuffers_.begin() + valueChunks_.size());
  } else {
    for (const DimensionPart &chunk : valueChunks_) {
      valueBuffers_.push_back(b.buffer({tile_.keys, chunk.size}, problem_.type));
    }
  }
  if (tile_.splitsKeys) {
    weightBuffer_ = b.buffer({tile_.rows, tile_.keys}, problem_.type);
  }
  part_ = partOf(b, problem_, own.part, own.tile, tile_.rows);
  b.loop(part_.firstSequence, b.add(part_.lastSequence, b.i32(1)), 1, {}, [&](Value sequence, ValueRange) {
    attendSequence(sequence);
    return SmallVector<Value>();
  });
}

void GatheredDecodeWriter::attendSequence(Value sequence) {
  KernelBuilder &b = b_;
  keys_ = locateKeys(b, part_, sequence);
  keyEnds_ = keyEnds(b, problem_, rows_, keys_.length);
  loadQueries();
  AttentionState state = loopOverKeys();
  storeDecoded(b, problem_, part_, keys_, rows_, state.softmax,
               [&] { return scaledRows(b, state.outputs, softmaxNormalizer(b, state.softmax)); });
}

void GatheredDecodeWriter::loadQueries() {
  KernelBuilder &b = b_;
  MatrixRows from = rowsOfSequence(b, "q", keys_.sequence, rows_.rows, problem_.keyDim);
  for (auto [chunk, buffer] : llvm::zip_equal(keyChunks_, queryBuffers_)) {
    MatrixView view = {b.advance(from.matrix.base, b.i32(chunk.offset)), from.matrix.rowStride};
    b.fill(buffer, b.pointers(view, from.rows, b.range(chunk.size)), b.asColumn(rows_.exists, chunk.size));
  }
}

PagedRows GatheredDecodeWriter::rowsOf(StringRef tensor, int64_t dim) {
  PagedCache cache = cacheOf(b_, problem_, tensor, dim, rows_.keyHead);
  return PagedRows(b_, cache, tableOf(b_, problem_, keys_.sequence), tile_.keys);
}

AttentionState GatheredDecodeWriter::loopOverKeys() {
  KernelBuilder &b = b_;
  SmallVector<Value> carried = packAttention(initialAttention(b, tile_.rows, valueChunks_));
  PagedRows keys = rowsOf(problem_.keyCache, problem_.keyDim);
  PagedRows values = problem_.valuesAreKeys() ? keys : rowsOf(problem_.valueCache, problem_.valueDim);
  carried = b.loop(keys_.begin, keys_.end, tile_.keys, carried, [&](Value firstKey, ValueRange now) {
    return packAttention(attend(keys, values, firstKey, unpackAttention(now)));
  });
  return unpackAttention(carried);
}

Value GatheredDecodeWriter::scores(Value firstKey) {
  KernelBuilder &b = b_;
  Value product = queriesTimesKeys(b, queryBuffers_, keyBuffers_);
  return seenScores(b, scaledScores(b, product), firstKey, keyEnds_);
}

void GatheredDecodeWriter::fill(const PagedRows &cache, Value firstKey, ArrayRef<DimensionPart> chunks,
                                ArrayRef<Value> buffers) {
  KernelBuilder &b = b_;
  PagedBlock block = cache.locate(firstKey, keys_.length);
  for (auto [chunk, buffer] : llvm::zip_equal(chunks, buffers)) {
    cache.fill(buffer, block, b.add(b.splat(b.i32(chunk.offset), {chunk.size}), b.range(chunk.size)));
  }
}

AttentionState GatheredDecodeWriter::attend(const PagedRows &keys, const PagedRows &values, Value firstKey,
                                            const AttentionState &state) {
  KernelBuilder &b = b_;
  fill(keys, firstKey, keyChunks_, keyBuffers_);
  if (!problem_.valuesAreKeys()) {
    fill(values, firstKey, valueChunks_, valueBuffers_);
  }
  return attendBlock(b, state, scores(firstKey), valueBuffers_, weightBuffer_);
}

void addGatheredStep(KernelProgram &program, const KernelSignature &signature, const PagedDecodeProblem &problem,
                     const GatheredTile &tile, StringRef symbol) {
  program.step({.symbol = symbol,
                .numWarps = tile.numWarps,
                .grid = decodeGrid(signature, problem, tile.rows),
                .keepsInvariants = tile.splitsKeys},
               [&](KernelBuilder &b) { GatheredDecodeWriter(b, problem, tile).write(); });
}

} // namespace jitk::kernels
