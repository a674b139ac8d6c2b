// The queries and keys of the sequences of flash_attention: all as many as there may be, as many as lengths say, or
// what lies between offsets where sequences are packed.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// The rows of one sequence in a tensor of tokens.
struct SequenceRows {
  mlir::Value first; ///< i32, among those of all packed sequences; null where each sequence has a place of its own
  mlir::Value count; ///< i32
};

class AttentionSequences {
public:
  explicit AttentionSequences(const Description &description)
      : isPacked_(description.flag("packed")), haveLengths_(description.flag("varlen")) {}

  bool arePacked() const { return isPacked_; }
  /// Whether one may be shorter than another.
  bool differ() const { return isPacked_ || haveLengths_; }

  /// Declares the tensors that say where sequences lie, which follow `v`.
  void declareTensors(KernelSignature &signature, mlir::MLIRContext &context) const;
  void declareDimensions(KernelSignature &signature, const Description &description) const;

  /// The rows of a sequence; no content of the tensors leads out of Q, K and V.
  SequenceRows queries(KernelBuilder &builder, mlir::Value sequence) const;
  SequenceRows keys(KernelBuilder &builder, mlir::Value sequence) const;

  /// Where the tensor lse has the first query of a sequence and head: [batch, heads, seq_q], packed [heads, total_q].
  mlir::Value logSums(KernelBuilder &builder, mlir::Value sequence, mlir::Value head,
                      const SequenceRows &queries) const;

private:
  SequenceRows rows(KernelBuilder &builder, mlir::Value sequence, llvm::StringRef size, llvm::StringRef total,
                    llvm::StringRef offsets, llvm::StringRef lengths) const;

  bool isPacked_, haveLengths_;
};

} // namespace jitk::kernels
