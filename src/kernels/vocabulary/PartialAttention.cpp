#include "src/kernels/vocabulary/PartialAttention.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace jitk::kernels {

/// Slots whose loads are issued together, a power of two: the loop over slots waits for memory once for so many. A row
/// is a warp's, whose lanes hold 64 numbers each.
static int64_t slotsInFlight(int64_t dim) {
  constexpr int64_t kNumbers = 2048, kLeast = 4, kMost = 32;
  return std::clamp(int64_t(llvm::bit_floor(uint64_t(kNumbers / dim))), kLeast, kMost);
}

/// Row `slot * numRows` of both arrays.
static Value firstRow(KernelBuilder &b, const PartialResults &where, Value slot) {
  return b.mul(b.toI64(slot), b.toI64(where.numRows));
}

static Value outputPointers(KernelBuilder &b, const PartialResults &where, Value slotRow, Value rows,
                            const DimensionPart &chunk) {
  Value dim = b.i64(where.dim);
  Value base = b.advance(where.outputs, b.add(b.mul(slotRow, dim), b.i64(chunk.offset)));
  return b.pointers({base, dim}, rows, b.range(chunk.size));
}

SmallVector<DimensionPart> partsOf(ArrayRef<Value> outputs) {
  SmallVector<DimensionPart> parts;
  int64_t offset = 0;
  for (Value output : outputs) {
    int64_t columns = cast<RankedTensorType>(output.getType()).getShape()[1];
    parts.push_back({offset, columns, columns});
    offset += columns;
  }
  return parts;
}

void storePartial(KernelBuilder &b, const PartialResults &where, Value slot, Value rows, Value mask,
                  const SoftmaxState &state, ArrayRef<Value> outputs) {
  Value slotRow = firstRow(b, where, slot);
  for (auto [chunk, output] : llvm::zip_equal(partsOf(outputs), outputs)) {
    b.store(outputPointers(b, where, slotRow, rows, chunk), output, b.asColumn(mask, chunk.size));
  }
  b.store(b.pointers(b.advance(where.log2Sums, slotRow), rows), log2Sum(b, state), mask);
}

AttentionState combinePartials(KernelBuilder &b, const PartialResults &where, Value firstSlot, Value endSlot,
                               Value firstRow, int64_t numRows) {
  SmallVector<DimensionPart> chunks = splitDimension(where.dim, kLeastPart);
  SmallVector<Value> carried = packAttention(initialAttention(b, numRows, chunks));
  // All (slot, row) of a step are the rows of one tensor, rows fastest: each warp has those of one row, and its loads
  // wait for nothing.
  const int64_t inFlight = slotsInFlight(where.dim), size = inFlight * numRows;
  Value last = b.splat(b.sub(where.numRows, b.i32(1)), {size});
  Value rowInTile = b.rem(b.range(size), b.splat(b.i32(numRows), {size}));
  Value rows = b.toI64(b.minimum(b.add(b.splat(firstRow, {size}), rowInTile), last));
  Value slotInStep = b.div(b.range(size), b.splat(b.i32(numRows), {size}));
  carried = b.loop(firstSlot, endSlot, inFlight, carried, [&](Value slot, ValueRange now) {
    Value slots = b.add(b.splat(slot, {size}), slotInStep), exists = b.lessThan(slots, b.splat(endSlot, {size}));
    Value slotRows = b.add(b.mul(b.toI64(slots), b.splat(b.toI64(where.numRows), {size})), rows);
    Value scores = b.load(b.pointers(where.log2Sums, slotRows), exists, -std::numeric_limits<double>::infinity());
    SmallVector<Value> outputs;
    for (const DimensionPart &chunk : chunks) {
      MatrixView view = {b.advance(where.outputs, b.i32(chunk.offset)), b.i64(where.dim)};
      outputs.push_back(b.load(b.pointers(view, slotRows, b.range(chunk.size)), b.asColumn(exists, chunk.size)));
    }
    AttentionState state = unpackAttention(now);
    SoftmaxStep step = accumulateSoftmax(b, state.softmax, b.transpose(b.reshape(scores, {inFlight, numRows})));
    Value weights = b.reshape(b.transpose(step.weights), {size});
    state.softmax = step.state;
    for (auto [output, chunk, kept] : llvm::zip_equal(outputs, chunks, state.outputs)) {
      Value weighted = b.mulf(output, b.asColumn(weights, chunk.size));
      Value sum = b.reduceSum(b.reshape(weighted, {inFlight, numRows, chunk.size}), 0);
      kept = b.addf(scaledRows(b, kept, step.rescale), sum);
    }
    return packAttention(state);
  });
  return unpackAttention(carried);
}

} // namespace jitk::kernels
