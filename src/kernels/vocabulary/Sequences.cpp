#include "src/kernels/vocabulary/Sequences.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace jitk::kernels {

Value clampLength(KernelBuilder &b, Value length, Value longest) {
  return b.maximum(b.minimum(length, b.splatLike(longest, length)), b.splatLike(b.i32(0), length));
}

TokenRange paddedSequence(KernelBuilder &b, Value sequence, Value tokens) {
  Value begin = b.mul(sequence, tokens);
  return {begin, b.add(begin, tokens)};
}

TokenRange packedSequence(KernelBuilder &b, Value sequence, Value cuSeqlens, Value tokens) {
  Value offsets = b.advance(cuSeqlens, sequence);
  Value begin = b.minimum(b.maximum(b.load(offsets), b.i32(0)), tokens);
  Value end = b.minimum(b.maximum(b.load(b.advance(offsets, b.i32(1))), begin), tokens);
  return {begin, end};
}

TokenRange sequenceRange(KernelBuilder &b, const SequenceLayout &layout, Value sequence) {
  return layout.packed ? packedSequence(b, sequence, layout.cuSeqlens, layout.tokens)
                       : paddedSequence(b, sequence, layout.tokens);
}

Expression TokenChunks::count(bool packed, const Expression &batch, const Expression &tokens, int64_t size) {
  using Op = Expression::Op;
  Expression divisor = Expression::constant(size);
  if (!packed) {
    return Expression::binary(Op::Mul, Expression::binary(Op::CeilDiv, tokens, divisor), batch);
  }
  Expression whole = Expression::binary(Op::FloorDiv, tokens, divisor);
  Expression numbers = Expression::binary(Op::Add, whole, batch);
  // None without sequences: there is no offset to read then.
  Expression most = Expression::binary(Op::Add, whole, Expression::constant(1));
  return Expression::binary(Op::Min, numbers, Expression::binary(Op::Mul, batch, most));
}

Value TokenChunks::first(KernelBuilder &b, Value sequence, const TokenRange &range) const {
  return layout_.packed ? b.add(b.div(range.begin, b.i32(size_)), sequence)
                        : b.mul(sequence, b.ceilDiv(layout_.tokens, size_));
}

Value TokenChunks::sequenceOf(KernelBuilder &b, Value number, int64_t batchBound) const {
  if (!layout_.packed) {
    return b.div(number, b.ceilDiv(layout_.tokens, size_));
  }
  // First numbers ascend: the last sequence whose number is not larger is found by halving.
  unsigned steps = batchBound > 0 ? llvm::Log2_64_Ceil(uint64_t(batchBound)) : 31;
  return b
      .loop(b.i32(0), b.i32(steps), 1, {b.i32(0), layout_.batch},
            [&](Value, ValueRange carried) {
              Value low = carried[0], high = carried[1];
              Value middle = b.add(low, b.div(b.sub(high, low), b.i32(2)));
              Value begins = first(b, middle, sequenceRange(b, layout_, middle));
              Value isBefore = b.lessEqual(begins, number);
              return SmallVector<Value>{b.select(isBefore, middle, low), b.select(isBefore, high, middle)};
            })
      .front();
}

TokenRange TokenChunks::tokens(KernelBuilder &b, Value number, int64_t batchBound) const {
  Value sequence = sequenceOf(b, number, batchBound);
  TokenRange range = sequenceRange(b, layout_, sequence);
  Value offset = b.mul(b.sub(number, first(b, sequence, range)), b.i32(size_));
  // A number that is no chunk's lies past the end of its sequence, or before the first.
  Value begin = b.select(b.lessThan(offset, b.i32(0)), range.end, b.minimum(b.add(range.begin, offset), range.end));
  return {begin, b.minimum(b.add(begin, b.i32(size_)), range.end)};
}

} // namespace jitk::kernels
