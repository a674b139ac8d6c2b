#include "src/kernels/attention/SplitSchedule.h"

#include "src/kernels/vocabulary/Sequences.h"

#include <limits>

using namespace mlir;

namespace jitk::kernels {

/// Lengths that are added up at once.
static constexpr int64_t kLengthsAtOnce = 128;

Value sequenceLength(KernelBuilder &b, Value sequence) {
  return clampLength(b, b.load(b.advance(b.tensorParameter("seq_lens"), sequence)), b.size("max_kv"));
}

/// An empty sequence counts as one block: somebody must write its result.
static Value numBlocks(KernelBuilder &b, Value length) {
  // Division is toward zero, so that no length, and no sum, leaves 32 bits.
  Value one = b.splatLike(b.i32(1), length), size = b.splatLike(b.i32(kScheduleBlock), length);
  return b.add(b.div(b.sub(length, one), size), one);
}

/// What all sequences cost, i64: the blocks of one are counted in 32 bits, those of a batch are not.
static Value totalCost(KernelBuilder &b) {
  Value batch = b.size("batch");
  return b
      .loop(b.i32(0), batch, kLengthsAtOnce, {b.i64(0)},
            [&](Value first, ValueRange carried) -> SmallVector<Value> {
              Value sequences = b.add(b.splat(first, {kLengthsAtOnce}), b.range(kLengthsAtOnce));
              Value exists = b.lessThan(sequences, b.splat(batch, {kLengthsAtOnce}));
              Value lengths = b.load(b.pointers(b.tensorParameter("seq_lens"), sequences), exists);
              Value costs = b.add(b.toI64(numBlocks(b, clampLength(b, lengths, b.size("max_kv")))),
                                  b.splat(b.i64(kScheduleOverhead), {kLengthsAtOnce}));
              Value none = b.splat(b.i64(0), {kLengthsAtOnce});
              return {b.add(carried[0], b.reduceSum(b.select(exists, costs, none), 0))};
            })
      .front();
}

namespace {

/// Where the dealing stands. The first block of `sequence` that is not dealt is `block`, the splits that the sequence
/// has so far `split`, the splits of those before it `splitsBefore`. `part` has room for `left` (i64) more, and began
/// at the `begin` values.
struct Dealing {
  Value part, left, sequence, block, split, splitsBefore, beginSequence, beginBlock, beginSplit;

  static Dealing of(ValueRange v) { return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]}; }
  SmallVector<Value> values() const {
    return {part, left, sequence, block, split, splitsBefore, beginSequence, beginBlock, beginSplit};
  }
};

/// Deals blocks: each step either gives all that is left of a sequence to the part at work, or closes the part.
class ScheduleWriter {
public:
  explicit ScheduleWriter(KernelBuilder &b)
      : b_(b), batch_(b.size("batch")), parts_(b.size("splits")), zero_(b.i32(0)), one_(b.i32(1)),
        overhead_(b.i64(kScheduleOverhead)) {}

  void write() {
    // Every share has room for the overhead of one sequence more than its due, so that the last part ends it all.
    KernelBuilder &b = b_;
    Value parts = b.toI64(parts_);
    share_ = b.add(b.div(b.sub(b.add(totalCost(b), parts), b.i64(1)), parts), overhead_);
    b.store(b.tensorParameter("split_offsets"), zero_);
    Dealing begin = {zero_, share_, zero_, zero_, zero_, zero_, zero_, zero_, zero_};
    b.loop(zero_, b.add(batch_, parts_), 1, begin.values(),
           [&](Value, ValueRange carried) { return step(Dealing::of(carried)).values(); });
  }

private:
  Dealing step(const Dealing &now);
  void writePart(const Dealing &now, Value isClosed, Value endBlock);
  Value blocksOf(Value sequence) {
    Value existing = b_.maximum(b_.minimum(sequence, b_.sub(batch_, one_)), zero_);
    return numBlocks(b_, sequenceLength(b_, existing));
  }
  Value oneIf(Value condition) { return b_.select(condition, one_, zero_); }
  Value either(Value lhs, Value rhs) { return b_.lessThan(zero_, b_.add(oneIf(lhs), oneIf(rhs))); }

  KernelBuilder &b_;
  Value batch_, parts_, zero_, one_;
  Value share_, overhead_; ///< costs, i64
};

} // namespace

Dealing ScheduleWriter::step(const Dealing &now) {
  KernelBuilder &b = b_;
  Value hasSequence = b.lessThan(now.sequence, batch_);
  Value cost = b.add(b.toI64(b.sub(blocksOf(now.sequence), now.block)), overhead_);
  Value fits = b.both(hasSequence, b.lessEqual(cost, now.left));
  Value closes = b.select(fits, zero_, oneIf(b.lessThan(now.part, parts_)));
  Value isClosed = b.lessThan(zero_, closes);

  // All of the sequence.
  Value splitsAfter = b.add(now.splitsBefore, b.add(now.split, one_));
  Value nextOffset =
      b.advance(b.tensorParameter("split_offsets"), b.add(b.minimum(now.sequence, b.sub(batch_, one_)), one_));
  b.store(nextOffset, splitsAfter, fits);

  // Or a part of it, of fewer blocks than it has, and the next part begins there.
  Value room = b.toI32(b.maximum(b.sub(now.left, overhead_), b.i64(0)));
  Value taken = b.select(hasSequence, room, zero_);
  Value endBlock = b.add(now.block, taken);
  writePart(now, isClosed, endBlock);
  Value nextSplit = b.add(now.split, oneIf(b.lessThan(zero_, taken)));

  Dealing next;
  next.part = b.add(now.part, closes);
  next.left = b.select(fits, b.sub(now.left, cost), share_);
  next.sequence = b.add(now.sequence, oneIf(fits));
  next.block = b.select(fits, zero_, endBlock);
  next.split = b.select(fits, zero_, nextSplit);
  next.splitsBefore = b.select(fits, splitsAfter, now.splitsBefore);
  next.beginSequence = b.select(fits, now.beginSequence, now.sequence);
  next.beginBlock = b.select(fits, now.beginBlock, endBlock);
  next.beginSplit = b.select(fits, now.beginSplit, nextSplit);
  return next;
}

void ScheduleWriter::writePart(const Dealing &now, Value isClosed, Value endBlock) {
  KernelBuilder &b = b_;
  Value endsWithin = b.lessThan(zero_, endBlock); // else it ends where the sequence before ends
  Value last = b.select(endsWithin, now.sequence, b.sub(now.sequence, one_));
  Value end = b.select(endsWithin, endBlock, blocksOf(last));
  Value hasOne = b.equal(now.beginSequence, last);
  Value beginsWithin = b.lessThan(zero_, now.beginBlock);
  Value firstIsSplit = either(beginsWithin, b.both(hasOne, endsWithin));
  Value lastIsSplit = either(endsWithin, b.both(hasOne, beginsWithin));
  Value words[kScheduleWords] = {now.beginSequence,  last, now.beginBlock, end, now.beginSplit, oneIf(firstIsSplit),
                                 oneIf(lastIsSplit), zero_};
  Value row = b.advance(b.tensorParameter("schedule"), b.mul(b.toI64(now.part), b.i64(kScheduleWords)));
  for (auto [index, word] : llvm::enumerate(words)) {
    b.store(b.advance(row, b.i32(int64_t(index))), word, isClosed);
  }
}

void writeSchedule(KernelBuilder &b) { ScheduleWriter(b).write(); }

ScheduledPart readSchedule(KernelBuilder &b, Value part) {
  Value row = b.advance(b.tensorParameter("schedule"), b.mul(b.toI64(part), b.i64(kScheduleWords)));
  auto word = [&](int64_t index) { return b.load(b.advance(row, b.i32(index))); };
  auto flag = [&](int64_t index) { return b.lessThan(b.i32(0), word(index)); };
  auto within = [&](int64_t index, Value most) { return b.minimum(b.maximum(word(index), b.i32(0)), most); };
  // Schedules are given to a launch too, and may have been made for another batch or other lengths.
  Value lastSequence = b.minimum(word(1), b.sub(b.size("batch"), b.i32(1)));
  Value mostBlocks = b.i32(std::numeric_limits<int32_t>::max() / kScheduleBlock);
  return {b.maximum(word(0), b.i32(0)),
          lastSequence,
          within(2, mostBlocks),
          within(3, mostBlocks),
          within(4, b.size("splits")),
          flag(5),
          flag(6)};
}

} // namespace jitk::kernels
