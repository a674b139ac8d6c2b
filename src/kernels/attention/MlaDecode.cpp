// Three steps: a schedule, attention over parts of the keys, and the combination of what is split.
//
// One CTA computes `tile.rows` rows of queries, (query, head) in that order, over its part of the schedule.
//
//                 latent_dim                rope
//             +---------------------------+-----+
//   Q rows    |                           |     |   S = Q K^T over all channels, in registers
//             +---------------------------+-----+
//             +---------------------------+-----+
//   K page    |  also V                   |     |   one gathered tile in shared memory, `tile.keys` rows; a ring of
//   them
//             +---------------------------+-----+
//             +---------------------------+
//   O rows    |  warpgroup 0 | warpgroup 1|         O += P V, in registers; P crosses warps through shared memory
//             +---------------------------+

#include "src/kernels/attention/MlaDecode.h"

#include "src/kernels/attention/SplitSchedule.h"
#include "src/kernels/vocabulary/PagedRows.h"
#include "src/kernels/vocabulary/PartialAttention.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace jitk::kernels {
namespace {

using Op = Expression::Op;

struct MlaTile {
  int64_t rows, keys;
  unsigned numWarps;
};

/// Rows that a CTA of the combination takes: one a warp.
constexpr int64_t kCombinedRows = 4;

} // namespace

static MlaTile chooseTile(const Target &target, int64_t rowSize) {
  // A row of 576 channels is 1152 bytes: the queries and a ring of two key tiles fill what shared memory there is.
  // The 512-wide output of 64 rows is 128 registers of 256 threads.
  if (target.capability >= 90 && target.capability < 120) {
    constexpr int64_t kLargestRow = 576;
    return {64, rowSize <= kLargestRow ? 64 : 32, 8};
  }
  return target.capability == 80 ? MlaTile{64, 32, 8} : MlaTile{32, 16, 8};
}

namespace {

/// Writes the attention step; its members are what the steps of the computation share.
class MlaDecodeWriter {
public:
  MlaDecodeWriter(KernelBuilder &b, const Description &description, const MlaTile &tile)
      : b_(b), tile_(tile), causal_(description.flag("causal")),
        type_(elementTypeOf(description.word("kv_format"), *b.getContext())),
        outputType_(elementTypeOf(description.word("out_dtype"), *b.getContext())),
        latentDim_(description.integer("latent_dim")), rowSize_(latentDim_ + description.integer("rope_dim")),
        pageSize_(description.integer("page_size")), chunks_(splitDimension(latentDim_, kLeastChunk)) {
    numValueChunks_ = chunks_.size();
    for (const DimensionPart &chunk : splitDimension(rowSize_ - latentDim_, kLeastChunk)) {
      chunks_.push_back({latentDim_ + chunk.offset, chunk.size, chunk.valid});
    }
  }

  void write();

private:
  void locateRows();
  void attendSequence(Value sequence);
  void loadQueries();
  SmallVector<Value> loopOverKeys(const PagedRows &cache, Value begin, Value end);
  SmallVector<Value> attend(const PagedRows &cache, Value firstKey, ValueRange carried);
  Value scores(Value firstKey);
  void storeResult(const SoftmaxState &state, ArrayRef<Value> accumulators);
  void storeFinal(const SoftmaxState &state, ArrayRef<Value> outputs);
  ArrayRef<DimensionPart> valueChunks() const { return ArrayRef(chunks_).take_front(numValueChunks_); }
  /// A sequence's first element in a tensor of [batch, numRows, columns].
  Value sequenceBase(StringRef tensor, int64_t columns);

  KernelBuilder &b_;
  const MlaTile tile_;
  bool causal_;
  Type type_, outputType_;
  int64_t latentDim_, rowSize_, pageSize_;
  SmallVector<DimensionPart> chunks_; ///< of a row of the cache: the latent ones, then those of rope
  size_t numValueChunks_;

  ScheduledPart part_;
  Value numRows_;          ///< seq_q * heads
  Value rows_, rowExists_; ///< i32 and i1 [rows]
  Value queries_;          ///< i32 [rows]: the query of each row
  SmallVector<Value> queryBuffers_, keyBuffers_;
  Value weightBuffer_;

  // Of the sequence at work.
  Value sequence_, length_;
  Value keyEnds_; ///< i32 [rows]: the first key that the row does not see
};

} // namespace

void MlaDecodeWriter::write() {
  KernelBuilder &b = b_;
  locateRows();
  for (const DimensionPart &chunk : chunks_) {
    queryBuffers_.push_back(b.buffer({tile_.rows, chunk.size}, type_));
    keyBuffers_.push_back(b.buffer({tile_.keys, chunk.size}, type_));
  }
  weightBuffer_ = b.buffer({tile_.rows, tile_.keys}, type_);
  part_ = readSchedule(b, b.programId(1));
  b.loop(part_.firstSequence, b.add(part_.lastSequence, b.i32(1)), 1, {}, [&](Value sequence, ValueRange) {
    attendSequence(sequence);
    return SmallVector<Value>();
  });
}

void MlaDecodeWriter::locateRows() {
  KernelBuilder &b = b_;
  Value heads = b.size("heads");
  numRows_ = b.mul(b.size("seq_q"), heads);
  rows_ = b.add(b.splat(b.mul(b.programId(0), b.i32(tile_.rows)), {tile_.rows}), b.range(tile_.rows));
  rowExists_ = b.lessThan(rows_, b.splat(numRows_, {tile_.rows}));
  queries_ = b.div(rows_, b.splat(heads, {tile_.rows}));
}

Value MlaDecodeWriter::sequenceBase(StringRef tensor, int64_t columns) {
  KernelBuilder &b = b_;
  Value row = b.mul(b.toI64(sequence_), b.toI64(numRows_));
  return b.advance(b.tensorParameter(tensor), b.mul(row, b.i64(columns)));
}

void MlaDecodeWriter::attendSequence(Value sequence) {
  KernelBuilder &b = b_;
  sequence_ = sequence;
  // A cache without pages has no key to read, whatever the lengths say.
  Value zero = b.i32(0), hasPages = b.lessThan(zero, b.size("num_pages"));
  length_ = b.select(hasPages, sequenceLength(b, sequence), zero);
  Value seen = length_;
  if (causal_) {
    // Bottom right: the last query sees every key.
    Value diagonal = b.add(b.sub(length_, b.size("seq_q")), b.i32(1));
    keyEnds_ = b.add(queries_, b.splat(diagonal, {tile_.rows}));
    // Rows past the last query see no more than it does.
    keyEnds_ = b.minimum(keyEnds_, b.splat(length_, {tile_.rows}));
  } else {
    keyEnds_ = b.splat(length_, {tile_.rows});
  }
  Value isFirst = b.equal(sequence, part_.firstSequence), isLast = b.equal(sequence, part_.lastSequence);
  Value block = b.i32(kScheduleBlock);
  Value begin = b.select(isFirst, b.mul(part_.firstBlock, block), b.i32(0));
  Value end = b.select(isLast, b.minimum(b.mul(part_.endBlock, block), seen), seen);

  loadQueries();
  Value tableRow = b.mul(b.toI64(sequence), b.toI64(b.ceilDiv(b.size("max_kv"), pageSize_)));
  PagedCache cache = {b.tensorParameter("kv_cache"), b.size("num_pages"), pageSize_, rowSize_};
  PagedRows keys(b, cache, b.advance(b.tensorParameter("block_table"), tableRow), tile_.keys);
  SmallVector<Value> carried = loopOverKeys(keys, begin, end);
  storeResult({carried[0], carried[1]}, ArrayRef(carried).drop_front(2));
}

void MlaDecodeWriter::loadQueries() {
  KernelBuilder &b = b_;
  MatrixView matrix = {sequenceBase("q", rowSize_), b.i64(rowSize_)};
  for (auto [chunk, buffer] : llvm::zip_equal(chunks_, queryBuffers_)) {
    MatrixView view = {b.advance(matrix.base, b.i32(chunk.offset)), matrix.rowStride};
    b.fill(buffer, b.pointers(view, rows_, b.range(chunk.size)), b.asColumn(rowExists_, chunk.size));
  }
}

SmallVector<Value> MlaDecodeWriter::loopOverKeys(const PagedRows &cache, Value begin, Value end) {
  KernelBuilder &b = b_;
  SoftmaxState state = initialSoftmax(b, tile_.rows);
  SmallVector<Value> carried = {state.maximum, state.sum};
  for (const DimensionPart &chunk : valueChunks()) {
    carried.push_back(b.full(0, {tile_.rows, chunk.size}, b.getF32Type()));
  }
  return b.loop(begin, end, tile_.keys, carried,
                [&](Value firstKey, ValueRange values) { return attend(cache, firstKey, values); });
}

Value MlaDecodeWriter::scores(Value firstKey) {
  KernelBuilder &b = b_;
  Value product = b.full(0, {tile_.rows, tile_.keys}, b.getF32Type());
  for (auto [query, key] : llvm::zip_equal(queryBuffers_, keyBuffers_)) {
    product = b.dot(b.read(query), b.transpose(b.read(key)), product);
  }
  Value scale = b.mulf(b.scalar("scale"), b.f32(std::numbers::log2e));
  Value scaled = b.mulf(product, b.splat(scale, {tile_.rows, tile_.keys}));
  Value keys = b.asRow(b.add(b.splat(firstKey, {tile_.keys}), b.range(tile_.keys)), tile_.rows);
  Value seen = b.lessThan(keys, b.asColumn(keyEnds_, tile_.keys));
  double none = -std::numeric_limits<double>::infinity();
  return b.select(seen, scaled, b.full(none, {tile_.rows, tile_.keys}, b.getF32Type()));
}

SmallVector<Value> MlaDecodeWriter::attend(const PagedRows &cache, Value firstKey, ValueRange carried) {
  KernelBuilder &b = b_;
  PagedBlock block = cache.locate(firstKey, length_);
  for (auto [chunk, buffer] : llvm::zip_equal(chunks_, keyBuffers_)) {
    cache.fill(buffer, block, b.add(b.splat(b.i32(chunk.offset), {chunk.size}), b.range(chunk.size)));
  }
  SoftmaxStep step = accumulateSoftmax(b, {carried[0], carried[1]}, scores(firstKey));
  b.write(b.convert(step.weights, type_), weightBuffer_);

  SmallVector<Value> next = {step.state.maximum, step.state.sum};
  for (auto [chunk, buffer, accumulator] :
       llvm::zip(valueChunks(), keyBuffers_, carried.drop_front(2))) { // the values are the first channels of the keys
    Value rescaled = b.mulf(accumulator, b.asColumn(step.rescale, chunk.size));
    next.push_back(b.dot(b.read(weightBuffer_), b.read(buffer), rescaled));
  }
  return next;
}

void MlaDecodeWriter::storeResult(const SoftmaxState &state, ArrayRef<Value> accumulators) {
  KernelBuilder &b = b_;
  // In each branch of its own: both need it in other layouts, of which a thread holds one at a time.
  auto outputs = [&] {
    Value normalizer = softmaxNormalizer(b, state);
    SmallVector<Value> normalized;
    for (auto [chunk, accumulator] : llvm::zip_equal(valueChunks(), accumulators)) {
      normalized.push_back(b.mulf(accumulator, b.asColumn(normalizer, chunk.size)));
    }
    return normalized;
  };
  Value isFirst = b.equal(sequence_, part_.firstSequence), isLast = b.equal(sequence_, part_.lastSequence);
  // A sequence that is neither the first nor the last of its part is whole.
  Value one = b.i32(1), zero = b.i32(0);
  Value splitAsFirst = b.select(b.both(isFirst, part_.firstIsSplit), one, zero);
  Value splitAsLast = b.select(b.both(isLast, part_.lastIsSplit), one, zero);
  Value isSplit = b.lessThan(zero, b.add(splitAsFirst, splitAsLast));
  b.ifElse(
      isSplit,
      [&] {
        Value split = b.select(isFirst, part_.firstSplit, zero);
        Value slot = b.add(b.load(b.advance(b.tensorParameter("split_offsets"), sequence_)), split);
        PartialResults partials = {b.tensorParameter("partial_outputs"), b.tensorParameter("partial_sums"), numRows_,
                                   latentDim_};
        storePartial(b, partials, slot, rows_, rowExists_, state, outputs());
      },
      [&] { storeFinal(state, outputs()); });
}

/// Pointers to lse [batch, heads, seq_q] of the rows, (query, head) in that order.
static Value lsePointers(KernelBuilder &b, Value sequence, Value rows) {
  auto shape = cast<RankedTensorType>(rows.getType()).getShape();
  Value heads = b.splat(b.size("heads"), shape), queries = b.splat(b.size("seq_q"), shape);
  Value numRows = b.mul(b.size("seq_q"), b.size("heads"));
  Value base = b.advance(b.tensorParameter("lse"), b.mul(b.toI64(sequence), b.toI64(numRows)));
  return b.pointers(base, b.add(b.mul(b.rem(rows, heads), queries), b.div(rows, heads)));
}

/// Stores rows of a sequence: `outputs` has one normalized f32 tensor for each chunk.
static void storeRows(KernelBuilder &b, Value base, int64_t dim, Type type, ArrayRef<DimensionPart> chunks, Value rows,
                      Value exists, ArrayRef<Value> outputs) {
  for (auto [chunk, output] : llvm::zip_equal(chunks, outputs)) {
    MatrixView view = {b.advance(base, b.i32(chunk.offset)), b.i64(dim)};
    b.store(b.pointers(view, rows, b.range(chunk.size)), b.convert(output, type), b.asColumn(exists, chunk.size));
  }
}

void MlaDecodeWriter::storeFinal(const SoftmaxState &state, ArrayRef<Value> outputs) {
  KernelBuilder &b = b_;
  storeRows(b, sequenceBase("o", latentDim_), latentDim_, outputType_, valueChunks(), rows_, rowExists_, outputs);
  Value lse = logSumExp(b, state, std::numeric_limits<double>::infinity());
  b.store(lsePointers(b, sequence_, rows_), lse, rowExists_);
}

/// One CTA finishes `kCombinedRows` rows of one sequence, if that is split.
static void writeCombination(KernelBuilder &b, const Description &description) {
  int64_t dim = description.integer("latent_dim");
  Type type = elementTypeOf(description.word("out_dtype"), *b.getContext());
  Value sequence = b.programId(0), numRows = b.mul(b.size("seq_q"), b.size("heads"));
  Value offset = b.advance(b.tensorParameter("split_offsets"), sequence);
  Value firstSlot = b.load(offset), endSlot = b.load(b.advance(offset, b.i32(1)));
  b.ifElse(b.lessThan(b.add(firstSlot, b.i32(1)), endSlot), [&] {
    Value first = b.mul(b.programId(1), b.i32(kCombinedRows));
    Value rows = b.add(b.splat(first, {kCombinedRows}), b.range(kCombinedRows));
    Value exists = b.lessThan(rows, b.splat(numRows, {kCombinedRows}));
    Value readable = b.minimum(rows, b.splat(b.sub(numRows, b.i32(1)), {kCombinedRows}));
    PartialResults partials = {b.tensorParameter("partial_outputs"), b.tensorParameter("partial_sums"), numRows, dim};
    CombinedAttention combined = combinePartials(b, partials, firstSlot, endSlot, readable);
    SmallVector<DimensionPart> chunks = splitDimension(dim, kLeastChunk);
    Value normalizer = softmaxNormalizer(b, combined.state);
    for (auto [chunk, output] : llvm::zip_equal(chunks, combined.outputs)) {
      output = b.mulf(output, b.asColumn(normalizer, chunk.size));
    }
    Value row = b.mul(b.toI64(sequence), b.toI64(numRows));
    Value base = b.advance(b.tensorParameter("o"), b.mul(row, b.i64(dim)));
    storeRows(b, base, dim, type, chunks, rows, exists, combined.outputs);
    Value lse = logSumExp(b, combined.state, std::numeric_limits<double>::infinity());
    b.store(lsePointers(b, sequence, rows), lse, exists);
  });
}

static KernelSignature makeSignature(const Description &description, MLIRContext &context) {
  Type cacheType = elementTypeOf(description.word("kv_format"), context);
  Type integer = elementTypeOf("int32", context), fp32 = elementTypeOf("fp32", context);
  KernelSignature signature;
  signature.tensor("q", cacheType);
  signature.tensor("kv_cache", cacheType);
  signature.tensor("block_table", integer, 4);
  signature.tensor("seq_lens", integer, 4);
  signature.tensor("schedule", integer, 4);
  signature.tensor("split_offsets", integer, 4);
  signature.tensor("o", elementTypeOf(description.word("out_dtype"), context));
  signature.tensor("lse", fp32, 4);
  for (const char *name : {"batch", "heads", "seq_q", "max_kv", "num_pages", "splits"}) {
    signature.dimension(name, description.dimension(name));
  }
  signature.scalar("scale");
  // Each sequence has one slot, and each part ends at most one split more.
  Expression rows = Expression::binary(Op::Mul, signature.expression("seq_q"), signature.expression("heads"));
  Expression slots = Expression::binary(Op::Add, signature.expression("batch"), signature.expression("splits"));
  Expression sums = Expression::binary(Op::Mul, slots, rows);
  Expression dim = Expression::constant(description.integer("latent_dim"));
  signature.workspace("partial_outputs", fp32, Expression::binary(Op::Mul, sums, dim));
  signature.workspace("partial_sums", fp32, sums);
  return signature;
}

Result<BuiltKernel> buildMlaDecode(const Description &description, const Target &target, MLIRContext &context) {
  const MlaTile tile = chooseTile(target, description.integer("latent_dim") + description.integer("rope_dim"));
  KernelSignature signature = makeSignature(description, context);
  KernelProgram program(context, signature, target);
  Expression one = Expression::constant(1);
  Expression batch = signature.expression("batch"), anyBatch = Expression::binary(Op::Min, batch, one);
  Expression rows = Expression::binary(Op::Mul, signature.expression("seq_q"), signature.expression("heads"));
  auto tiles = [&](int64_t size) { return Expression::binary(Op::CeilDiv, rows, Expression::constant(size)); };

  if (!description.flag("reuse_schedule")) {
    program.step({.symbol = "mla_schedule",
                  .numWarps = 1,
                  .grid = {anyBatch, one, one},
                  .arguments = {"seq_lens", "schedule", "split_offsets"}},
                 writeSchedule);
  }
  program.step({.symbol = "mla_decode",
                .numWarps = tile.numWarps,
                .grid = {tiles(tile.rows), signature.expression("splits"), anyBatch},
                .keepsInvariants = true},
               [&](KernelBuilder &b) { MlaDecodeWriter(b, description, tile).write(); });
  program.step({.symbol = "mla_combine",
                .numWarps = 4,
                .grid = {batch, tiles(kCombinedRows), one},
                .arguments = {"split_offsets", "partial_outputs", "partial_sums", "o", "lse"}},
               [&](KernelBuilder &b) { writeCombination(b, description); });
  return std::move(program).finish();
}

} // namespace jitk::kernels
