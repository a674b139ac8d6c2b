// What the kernels of the gated delta rule know of their problem: where tokens, heads and states lie.

#pragma once

#include "src/kernels/vocabulary/Sequences.h"

namespace jitk::kernels {

/// One state [key_dim, value_dim] in global memory, or the place where none is.
struct StateView {
  mlir::Value base;   ///< !tt.ptr<f32> of the first element; null = there is no such tensor
  mlir::Value exists; ///< i1: whether the sequence has a state; null = always
};

/// A value head of a sequence, as every kernel of the op walks over them.
struct HeadOfSequence {
  mlir::Value sequence, valueHead, keyHead; ///< i32
  TokenRange tokens;
};

class DeltaRuleProblem {
public:
  DeltaRuleProblem(const Description &description, mlir::MLIRContext &context);

  /// The tensors and dimensions of the op, in the order of its schema.
  KernelSignature signature(mlir::MLIRContext &context) const;

  HeadOfSequence head(KernelBuilder &builder, mlir::Value sequence, mlir::Value valueHead) const;
  SequenceLayout sequences(KernelBuilder &builder) const;
  mlir::Value keyHeadOf(KernelBuilder &builder, mlir::Value valueHead) const;
  /// How many value heads share a key head.
  mlir::Value groupSize(KernelBuilder &builder) const;

  /// Row `token` of a head of q, k, v or o, [tokens, heads, dim], as a matrix over tokens and dim.
  MatrixView tokensOf(KernelBuilder &builder, llvm::StringRef tensor, llvm::StringRef heads, mlir::Value head,
                      int64_t dim) const;
  /// Pointer to the element of token 0 in g or beta, [tokens, v_heads]; tokens are v_heads elements apart.
  MatrixView gatesOf(KernelBuilder &builder, llvm::StringRef tensor, mlir::Value valueHead) const;

  /// The state that a head starts from, and the one that it ends with.
  StateView initialState(KernelBuilder &builder, const HeadOfSequence &head) const;
  StateView finalState(KernelBuilder &builder, const HeadOfSequence &head) const;

  const Description &description;
  mlir::Type type; ///< of q, k, v and o
  int64_t keyDim, valueDim;
  double scale; ///< of the queries
  bool isValueMajor, normalizes, hasPool;

private:
  StateView stateIn(KernelBuilder &builder, llvm::StringRef tensor, mlir::Value index,
                    const HeadOfSequence &head) const;
};

} // namespace jitk::kernels
