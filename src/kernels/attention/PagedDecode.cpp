#include "src/kernels/attention/PagedDecode.h"

#include "src/kernels/vocabulary/Raster.h"

#include <numbers>

using namespace mlir;

namespace jitk::kernels {

using Op = Expression::Op;

/// Rows that a CTA of the combination takes: one a warp.
static constexpr int64_t kCombinedRows = 4;

DecodedRows locateRows(KernelBuilder &b, const PagedDecodeProblem &problem, Value keyHead, Value tile, int64_t size) {
  Value heads = b.size("heads"), group = b.div(heads, b.size("kv_heads"));
  Value ofHead = b.add(b.splat(b.mul(tile, b.i32(size)), {size}), b.range(size));
  Value groups = b.splat(group, {size});
  DecodedRows rows;
  rows.size = size;
  rows.keyHead = keyHead;
  rows.exists = b.lessThan(ofHead, b.splat(b.mul(b.size("seq_q"), group), {size}));
  rows.queries = b.div(ofHead, groups);
  rows.rows = ofHead;
  if (!problem.keyHeads.isStatic() || problem.keyHeads.value != 1) {
    Value head = b.add(b.splat(b.mul(keyHead, group), {size}), b.rem(ofHead, groups));
    rows.rows = b.add(b.mul(rows.queries, b.splat(heads, {size})), head);
  }
  return rows;
}

/// CTAs for the tiles of a key head.
static Expression countRowTiles(const KernelSignature &signature, const PagedDecodeProblem &problem, int64_t size) {
  Expression rows = Expression::binary(Op::Mul, signature.expression("seq_q"), signature.expression("heads"));
  int64_t keyHeads = problem.keyHeads.isStatic() ? problem.keyHeads.value : 1;
  return Expression::binary(Op::CeilDiv, rows, Expression::constant(keyHeads * size));
}

/// Key heads, none where there is no sequence.
static Expression countKeyHeads(const KernelSignature &signature) {
  Expression anyBatch = Expression::binary(Op::Min, signature.expression("batch"), Expression::constant(1));
  return Expression::binary(Op::Mul, signature.expression("kv_heads"), anyBatch);
}

/// Whether all rows of a key head are known to fit into one tile.
static bool isOneTile(const KernelBuilder &b, const PagedDecodeProblem &problem, int64_t size) {
  const Dimension &queries = b.dimension("seq_q"), &heads = b.dimension("heads");
  return queries.isStatic() && heads.isStatic() && problem.keyHeads.isStatic() &&
         queries.value * heads.value <= problem.keyHeads.value * size;
}

DecodedTile decodedTile(KernelBuilder &b, const PagedDecodeProblem &problem, int64_t size) {
  if (isOneTile(b, problem, size)) {
    return {b.programId(0), b.i32(0), b.programId(1)};
  }
  SmallVector<Value> place = placeInFoldedGrid(b, {b.size("kv_heads")});
  return {place[0], place[1], b.programId(1)};
}

std::array<Expression, 3> decodeGrid(const KernelSignature &signature, const PagedDecodeProblem &problem,
                                     int64_t size) {
  std::array<Expression, 3> grid = foldedGrid({countKeyHeads(signature), countRowTiles(signature, problem, size)});
  grid[1] = signature.expression("splits"); // no more than y takes
  return grid;
}

ScheduledPart partOf(KernelBuilder &b, const PagedDecodeProblem &problem, Value number, Value tile, int64_t size) {
  ScheduledPart part = readSchedule(b, number);
  if (!problem.keyHeads.isStatic()) {
    Value numRows = b.mul(b.size("seq_q"), b.div(b.size("heads"), b.size("kv_heads")));
    Value hasRows = b.lessThan(b.mul(tile, b.i32(size)), numRows);
    part.lastSequence = b.select(hasRows, part.lastSequence, b.i32(-1));
  }
  return part;
}

DecodedKeys locateKeys(KernelBuilder &b, const ScheduledPart &part, Value sequence) {
  // A cache without pages has no key to read, whatever the lengths say.
  Value zero = b.i32(0), hasPages = b.lessThan(zero, b.size("num_pages"));
  DecodedKeys keys;
  keys.sequence = sequence;
  keys.length = b.select(hasPages, sequenceLength(b, sequence), zero);
  Value isFirst = b.equal(sequence, part.firstSequence), isLast = b.equal(sequence, part.lastSequence);
  Value block = b.i32(kScheduleBlock);
  keys.end = b.select(isLast, b.minimum(b.mul(part.endBlock, block), keys.length), keys.length);
  keys.begin = b.select(isFirst, b.minimum(b.mul(part.firstBlock, block), keys.end), zero);
  return keys;
}

Value keyEnds(KernelBuilder &b, const PagedDecodeProblem &problem, const DecodedRows &rows, Value length) {
  if (!problem.isCausal) {
    return b.splat(length, {rows.size});
  }
  // Bottom right: the last query sees every key; rows past the last query see no more than it does.
  Value diagonal = b.add(b.sub(length, b.size("seq_q")), b.i32(1));
  return b.minimum(b.add(rows.queries, b.splat(diagonal, {rows.size})), b.splat(length, {rows.size}));
}

/// Rows of a sequence in the tensors of all heads.
static Value countRows(KernelBuilder &b) { return b.mul(b.size("seq_q"), b.size("heads")); }

MatrixRows rowsOfSequence(KernelBuilder &b, StringRef tensor, Value sequence, Value rows, int64_t columns) {
  Value base = b.tensorParameter(tensor), dim = b.i64(columns);
  if (std::optional<int64_t> stride = b.rowStride(tensor)) {
    auto shape = cast<RankedTensorType>(rows.getType()).getShape();
    Value heads = b.splat(b.size("heads"), shape), first = b.mul(b.toI64(sequence), b.toI64(b.size("seq_q")));
    Value tokens = b.mul(b.toI64(b.div(rows, heads)), b.splat(b.i64(*stride), shape));
    Value offsets = b.add(tokens, b.mul(b.toI64(b.rem(rows, heads)), b.splat(dim, shape)));
    return {{b.advance(base, b.mul(first, b.i64(*stride))), b.i64(1)}, offsets};
  }
  Value row = b.mul(b.toI64(sequence), b.toI64(countRows(b)));
  return {{b.advance(base, b.mul(row, dim)), dim}, rows};
}

Value scaledScores(KernelBuilder &b, Value products) {
  Value scale = b.mulf(b.scalar("scale"), b.f32(std::numbers::log2e));
  return b.mulf(products, b.splatLike(scale, products));
}

Value seenScores(KernelBuilder &b, Value scores, Value firstKey, Value ends) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(scores.getType()).getShape();
  int64_t rows = shape[0], columns = shape[1];
  Value keys = b.asRow(b.add(b.splat(firstKey, {columns}), b.range(columns)), rows);
  return maskedScores(b, b.lessThan(keys, b.asColumn(ends, columns)), scores);
}

Value tableOf(KernelBuilder &b, const PagedDecodeProblem &problem, Value sequence) {
  Value entries = b.rowStride("block_table", b.ceilDiv(b.size("max_kv"), problem.pageSize));
  return b.advance(b.tensorParameter("block_table"), b.mul(b.toI64(sequence), entries));
}

PagedCache cacheOf(KernelBuilder &b, const PagedDecodeProblem &problem, StringRef tensor, int64_t dim, Value keyHead) {
  Value head = b.mul(b.toI64(keyHead), b.i64(dim)), row = b.mul(b.toI64(b.size("kv_heads")), b.i64(dim));
  return {b.advance(b.tensorParameter(tensor), head), b.size("num_pages"), problem.pageSize, b.rowStride(tensor, row),
          b.pageStride(tensor)};
}

/// Pointers to lse [batch, heads, seq_q] of the rows, (query, head) in that order.
static Value lsePointers(KernelBuilder &b, Value sequence, Value rows) {
  auto shape = cast<RankedTensorType>(rows.getType()).getShape();
  Value heads = b.splat(b.size("heads"), shape), queries = b.splat(b.size("seq_q"), shape);
  Value base = b.advance(b.tensorParameter("lse"), b.mul(b.toI64(sequence), b.toI64(countRows(b))));
  return b.pointers(base, b.add(b.mul(b.rem(rows, heads), queries), b.div(rows, heads)));
}

/// Stores rows of a sequence: `outputs` are normalized f32 tensors, columns one after the other.
static void storeRows(KernelBuilder &b, const PagedDecodeProblem &problem, Value sequence, Value rows, Value exists,
                      const SoftmaxState &state, ArrayRef<Value> outputs) {
  MatrixRows to = rowsOfSequence(b, "o", sequence, rows, problem.valueDim);
  for (auto [part, output] : llvm::zip_equal(partsOf(outputs), outputs)) {
    MatrixView view = {b.advance(to.matrix.base, b.i32(part.offset)), to.matrix.rowStride};
    b.store(b.pointers(view, to.rows, b.range(part.size)), b.convert(output, problem.outputType),
            b.asColumn(exists, part.size));
  }
  b.store(lsePointers(b, sequence, rows), logSumExp(b, state, problem.lseOfNothing), exists);
}

static PartialResults partialResults(KernelBuilder &b, const PagedDecodeProblem &problem) {
  return {b.tensorParameter("partial_outputs"), b.tensorParameter("partial_sums"), countRows(b), problem.valueDim};
}

/// Of partial results: each sequence has one, and each part ends at most one split more.
static Value numSlots(KernelBuilder &b) { return b.add(b.size("batch"), b.size("splits")); }

/// A number of slots; within what there are, whatever memory holds.
static Value loadSlot(KernelBuilder &b, Value pointer) {
  return b.minimum(b.maximum(b.load(pointer), b.i32(0)), numSlots(b));
}

void storeDecoded(KernelBuilder &b, const PagedDecodeProblem &problem, const ScheduledPart &part,
                  const DecodedKeys &keys, const DecodedRows &rows, const SoftmaxState &state,
                  llvm::function_ref<SmallVector<Value>()> outputs) {
  Value isFirst = b.equal(keys.sequence, part.firstSequence), isLast = b.equal(keys.sequence, part.lastSequence);
  // A sequence that is neither the first nor the last of its part is whole.
  Value one = b.i32(1), zero = b.i32(0);
  Value splitAsFirst = b.select(b.both(isFirst, part.firstIsSplit), one, zero);
  Value splitAsLast = b.select(b.both(isLast, part.lastIsSplit), one, zero);
  Value isSplit = b.lessThan(zero, b.add(splitAsFirst, splitAsLast));
  // Outputs are made in each branch of its own: both need them in other layouts, of which a thread holds one at a time.
  b.ifElse(
      isSplit,
      [&] {
        Value split = b.select(isFirst, part.firstSplit, zero);
        Value slot = b.add(loadSlot(b, b.advance(b.tensorParameter("split_offsets"), keys.sequence)), split);
        slot = b.minimum(slot, b.sub(numSlots(b), b.i32(1)));
        storePartial(b, partialResults(b, problem), slot, rows.rows, rows.exists, state, outputs());
      },
      [&] { storeRows(b, problem, keys.sequence, rows.rows, rows.exists, state, outputs()); });
}

/// One CTA finishes `kCombinedRows` rows of one sequence, if that is split.
static void writeCombination(KernelBuilder &b, const PagedDecodeProblem &problem) {
  Value numRows = countRows(b);
  SmallVector<Value> place = placeInFoldedGrid(b, {b.ceilDiv(numRows, kCombinedRows)});
  Value tile = place[0], sequence = place[1];
  Value offset = b.advance(b.tensorParameter("split_offsets"), sequence);
  Value firstSlot = loadSlot(b, offset), endSlot = loadSlot(b, b.advance(offset, b.i32(1)));
  b.ifElse(b.lessThan(b.add(firstSlot, b.i32(1)), endSlot), [&] {
    Value first = b.mul(tile, b.i32(kCombinedRows));
    Value rows = b.add(b.splat(first, {kCombinedRows}), b.range(kCombinedRows));
    Value exists = b.lessThan(rows, b.splat(numRows, {kCombinedRows}));
    AttentionState combined = combinePartials(b, partialResults(b, problem), firstSlot, endSlot, first, kCombinedRows);
    storeRows(b, problem, sequence, rows, exists, combined.softmax,
              scaledRows(b, combined.outputs, softmaxNormalizer(b, combined.softmax)));
  });
}

KernelSignature declarePagedDecode(const Description &description, const PagedDecodeProblem &problem,
                                   ArrayRef<SharedTile> keyTiles, ArrayRef<SharedTile> valueTiles) {
  MLIRContext &context = *problem.type.getContext();
  Type integer = elementTypeOf("int32", context), fp32 = elementTypeOf("fp32", context);
  KernelSignature signature(description);
  for (const char *name : {"batch", "heads"}) {
    signature.dimension(name, description.dimension(name));
  }
  signature.dimension("kv_heads", problem.keyHeads);
  for (const char *name : {"seq_q", "max_kv", "num_pages", "splits"}) {
    signature.dimension(name, description.dimension(name));
  }
  auto cache = [&](StringRef name, int64_t dim, ArrayRef<SharedTile> tiles) {
    if (tiles.empty()) {
      signature.tensor(name, problem.type);
      return;
    }
    Expression columns = Expression::binary(Op::Mul, signature.expression("kv_heads"), Expression::constant(dim));
    // Each row is read once: fetched in lines of 256 bytes the same copies take 4 to 10 % longer on an H200.
    signature.tiledTensor(name, problem.type,
                          {signature.expression("num_pages"), Expression::constant(problem.pageSize), columns}, tiles,
                          L2Promotion::None);
  };
  signature.tensor("q", problem.type);
  cache(problem.keyCache, problem.keyDim, keyTiles);
  if (!problem.valuesAreKeys()) {
    cache(problem.valueCache, problem.valueDim, valueTiles);
  }
  for (const char *name : {"block_table", "seq_lens", "schedule", "split_offsets"}) {
    signature.tensor(name, integer, 4);
  }
  signature.tensor("o", problem.outputType);
  signature.tensor("lse", fp32, 4);
  signature.scalar("scale");
  // Each sequence has one slot, and each part ends at most one split more.
  Expression rows = Expression::binary(Op::Mul, signature.expression("seq_q"), signature.expression("heads"));
  Expression slots = Expression::binary(Op::Add, signature.expression("batch"), signature.expression("splits"));
  Expression sums = Expression::binary(Op::Mul, slots, rows);
  signature.workspace("partial_outputs", fp32,
                      Expression::binary(Op::Mul, sums, Expression::constant(problem.valueDim)));
  signature.workspace("partial_sums", fp32, sums);
  return signature;
}

void addScheduleStep(KernelProgram &program, const KernelSignature &signature, const Description &description) {
  if (description.flag("reuse_schedule")) {
    return;
  }
  Expression one = Expression::constant(1);
  program.step({.symbol = "decode_schedule",
                .numWarps = 1,
                .grid = {Expression::binary(Op::Min, signature.expression("batch"), one), one, one},
                .arguments = {"seq_lens", "schedule", "split_offsets"}},
               writeSchedule);
}

void addCombinationStep(KernelProgram &program, const KernelSignature &signature, const PagedDecodeProblem &problem) {
  Expression rows = Expression::binary(Op::Mul, signature.expression("seq_q"), signature.expression("heads"));
  Expression tiles = Expression::binary(Op::CeilDiv, rows, Expression::constant(kCombinedRows));
  program.step({.symbol = "decode_combine",
                .numWarps = 4,
                .grid = foldedGrid({tiles, signature.expression("batch")}),
                .arguments = {"split_offsets", "partial_outputs", "partial_sums", "o", "lse"},
                .keepsInvariants = problem.valueDim > 256}, // wider rows leave no registers
               [&](KernelBuilder &b) { writeCombination(b, problem); });
}

} // namespace jitk::kernels
