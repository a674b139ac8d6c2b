// Attention of the query rows of one warpgroup over blocks of keys and values that come through rings. The softmax of a
// block runs beside the product of the block before it:
//
//   tensor cores   | Q K0 |           | Q K1 |  P0 V0    | Q K2 |  P1 V1    |  . . .  | Pn Vn |
//   other units           | softmax 0 |      | softmax 1 |      | softmax 2 |
//
//   start -> (skip) -> firstBlock -> nextBlock, nextBlock, ... -> lastProduct -> (skip)
//
// Each block of either ring is awaited once and released once, in order; firstBlock takes keys alone, lastProduct
// values alone. A slot of a ring has the tiles of a block [part of the keys, part of the head or of the values], the
// second index fastest.
//
// Which keys a row sees, and what its scores count as, is the kernel's.

#pragma once

#include "src/kernels/vocabulary/AttentionStep.h"
#include "src/kernels/vocabulary/Ring.h"

namespace jitk::kernels {

class OverlappedAttention {
public:
  /// Of queries: a warpgroup multiplies so many.
  static constexpr int64_t kRows = 64;

  struct Shape {
    llvm::SmallVector<int64_t> keyParts; ///< of a block, powers of two: each is a product of its own
    size_t numHeadParts;
    llvm::SmallVector<DimensionPart> valueParts;
    mlir::Type type;          ///< of keys and values, which weights are rounded to
    double scale = 1;         ///< turns scores into base 2
    bool votesOnSums = false; ///< weights are added up beside products, not where the assembler has room
  };

  struct State : AttentionState {
    llvm::SmallVector<mlir::Value> weights; ///< rounded [rows, part] of each part of the last block's keys
    RingPosition keys, values;
  };

  /// The query buffer [rows, part] of a part of the head.
  using Query = llvm::function_ref<mlir::Value(unsigned part)>;
  /// What the products of a block count as, f32 [rows, part] of each part of its keys; -inf where a row does not see
  /// the key.
  using Scores = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange products)>;

  /// The rings outlive this.
  OverlappedAttention(KernelBuilder &builder, const Ring &keys, const Ring &values, Shape shape)
      : b(builder), keys_(keys), values_(values), shape_(std::move(shape)) {}

  /// Nothing was attended to.
  State start(const RingPosition &keys, const RingPosition &values) const;
  /// Gives the slots of so many blocks (i32) back as they are filled. Before firstBlock, or after lastProduct.
  State skip(mlir::Value count, State state) const;
  /// The scores and weights of a block.
  State firstBlock(State state, Query query, Scores scores) const;
  /// The same, beside the outputs of the block before it.
  State nextBlock(State state, Query query, Scores scores) const;
  /// Runs `body` for the blocks from `begin` to before `end` (i32).
  State forEachBlock(mlir::Value begin, mlir::Value end, const State &state,
                     llvm::function_ref<State(mlir::Value block, const State &now)> body) const;
  /// The outputs of the last block. Sums are in parts, see `totalled`.
  State lastProduct(State state) const;

  /// The state as loops and branches carry it.
  llvm::SmallVector<mlir::Value> pack(const State &state) const;
  State unpack(mlir::ValueRange values) const;

private:
  llvm::SmallVector<mlir::Value> startScores(const RingPosition &keys, Query query) const;
  llvm::SmallVector<mlir::Value> startOutputs(const State &state) const;
  void releaseKeys(State &state) const;
  void releaseValues(State &state) const;
  /// Whether a row of the warp is rescaled.
  mlir::Value voteOf(const SoftmaxParts &parts) const;
  llvm::SmallVector<mlir::Value> rounded(mlir::ValueRange weights) const;

  KernelBuilder &b;
  const Ring &keys_, &values_;
  Shape shape_;
};

} // namespace jitk::kernels
