// Where the tokens of a sequence lie.
//
//   padded:   | sequence 0        | sequence 1        | ...     `tokens` each
//   packed:   | sequence 0  | 1 | | 3        | (none) |         [cu_seqlens[i], cu_seqlens[i + 1])

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// Lengths from device memory, taken as the nearest in [0, longest], so that none leads out of the tensors; i32,
/// scalars or vectors of them. `longest` is a scalar.
mlir::Value clampLength(KernelBuilder &builder, mlir::Value length, mlir::Value longest);

/// Rows [begin, end) of a tensor whose rows are tokens; i32, begin <= end.
struct TokenRange {
  mlir::Value begin, end;
};

/// The sequence of that number, of `tokens` tokens as all are.
TokenRange paddedSequence(KernelBuilder &builder, mlir::Value sequence, mlir::Value tokens);

/// The sequence between two offsets of `cuSeqlens`, a pointer to int32. Offsets are taken as the nearest in
/// [0, tokens], an end before its beginning as the beginning, so that no content of the array leads out of the tensors.
TokenRange packedSequence(KernelBuilder &builder, mlir::Value sequence, mlir::Value cuSeqlens, mlir::Value tokens);

/// How the sequences of a batch lie.
struct SequenceLayout {
  bool packed;               ///< cu_seqlens says where; else each has `tokens` tokens
  mlir::Value cuSeqlens;     ///< !tt.ptr<i32>, of packed sequences
  mlir::Value batch, tokens; ///< i32: the number of sequences; tokens of each, or of all packed ones
};

/// Either of the above.
TokenRange sequenceRange(KernelBuilder &builder, const SequenceLayout &layout, mlir::Value sequence);

/// Chunks of `size` tokens of all sequences, each with a number of its own: a place in arrays over chunks. The last
/// chunk of a sequence may be cut. Numbers are handed out without looking at other sequences: padded ones take
/// ceil(tokens / size) each; packed sequence i begins with the number floor(begin / size) + i, which leaves room for
/// every chunk that is cut before it.
class TokenChunks {
public:
  TokenChunks(const SequenceLayout &layout, int64_t size) : layout_(layout), size_(size) {}

  /// How many numbers there are; not all of them are chunks of packed sequences.
  static Expression count(bool packed, const Expression &batch, const Expression &tokens, int64_t size);

  /// The number of the first chunk of a sequence.
  mlir::Value first(KernelBuilder &builder, mlir::Value sequence, const TokenRange &range) const;

  /// The tokens of the chunk of that number, empty if it is none; of at most `batchBound` sequences (0 = unknown).
  TokenRange tokens(KernelBuilder &builder, mlir::Value number, int64_t batchBound) const;

private:
  mlir::Value sequenceOf(KernelBuilder &builder, mlir::Value number, int64_t batchBound) const;

  SequenceLayout layout_;
  int64_t size_;
};

} // namespace jitk::kernels
