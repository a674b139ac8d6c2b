#include "src/kernels/vocabulary/Sequences.h"

using namespace mlir;

namespace jitk::kernels {

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

} // namespace jitk::kernels
