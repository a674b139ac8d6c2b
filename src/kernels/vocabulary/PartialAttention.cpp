#include "src/kernels/vocabulary/PartialAttention.h"

#include <limits>

using namespace mlir;

namespace jitk::kernels {

/// Slots whose loads are issued together: the loop over slots waits for memory once for so many.
static constexpr int64_t kSlotsInFlight = 4;

static int64_t sizeOf(Value vector) { return cast<RankedTensorType>(vector.getType()).getShape().front(); }

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

CombinedAttention combinePartials(KernelBuilder &b, const PartialResults &where, Value firstSlot, Value endSlot,
                                  Value rows) {
  int64_t numRows = sizeOf(rows);
  SmallVector<DimensionPart> chunks = splitDimension(where.dim, kLeastChunk);
  SoftmaxState initial = initialSoftmax(b, numRows);
  SmallVector<Value> carried = {initial.maximum, initial.sum};
  for (const DimensionPart &chunk : chunks) {
    carried.push_back(b.full(0, {numRows, chunk.size}, b.getF32Type()));
  }

  struct Part {
    Value score;
    SmallVector<Value> outputs;
  };
  auto load = [&](Value slot) {
    Value exists = b.lessThan(slot, endSlot), slotRow = firstRow(b, where, slot);
    Part part;
    part.score = b.load(b.pointers(b.advance(where.log2Sums, slotRow), rows), b.splat(exists, {numRows}),
                        -std::numeric_limits<double>::infinity());
    for (const DimensionPart &chunk : chunks) {
      part.outputs.push_back(
          b.load(outputPointers(b, where, slotRow, rows, chunk), b.splat(exists, {numRows, chunk.size})));
    }
    return part;
  };
  carried = b.loop(firstSlot, endSlot, kSlotsInFlight, carried, [&](Value slot, ValueRange values) {
    SmallVector<Part> parts;
    for (int64_t i = 0; i < kSlotsInFlight; ++i) {
      parts.push_back(load(b.add(slot, b.i32(i))));
    }
    SmallVector<Value> next = llvm::to_vector(values);
    for (const Part &part : parts) {
      SoftmaxStep step = accumulateSoftmax(b, {next[0], next[1]}, b.asColumn(part.score, 1));
      next[0] = step.state.maximum;
      next[1] = step.state.sum;
      Value weight = b.reshape(step.weights, {numRows});
      for (auto [index, output] : llvm::enumerate(part.outputs)) {
        int64_t columns = chunks[index].size;
        Value kept = b.mulf(next[2 + index], b.asColumn(step.rescale, columns));
        next[2 + index] = b.addf(kept, b.mulf(output, b.asColumn(weight, columns)));
      }
    }
    return next;
  });
  return {{carried[0], carried[1]}, {carried.begin() + 2, carried.end()}};
}

} // namespace jitk::kernels
