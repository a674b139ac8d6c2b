// Fragments that mma.sync and wgmma share: the left operand in registers and the accumulator.
//
// One instruction covers 16 rows of A a warp and 256 bits of K. A thread holds, for `kWidth` elements that lie together
// along K, the words
//
//     A  (r, c): r = row 0 or +8, c = K 0 or +4 kWidth          B  (c)
//
// A kWidth of more than 32 bits gives several words a place; the u-th words of all places are the operands of one
// instruction: that permutes K, the same for A and B, which a sum does not see.

#pragma once

#include "backends/nvidia/codegen/lowering/FragmentIndex.h"
#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

namespace jitk::nvidia {

/// How element types are named in the forms of products: "f16", "bf16", "tf32", "e4m3", "e5m2", "s8". Empty for a type
/// that no tensor core takes.
llvm::StringRef productTypeName(mlir::Type element);

/// The operand of a product whose rows or columns are the outer dimension.
class OperandFragments {
public:
  /// `opIdx` 0: [outer, K]; 1: [K, outer]. The tensor has a dot_op encoding.
  OperandFragments(FunctionLowering &f, mlir::Value operand, unsigned opIdx);

  /// Decodes fp8 to f16, for targets whose tensor cores lack it.
  void decodeToHalf();

  mlir::Type elementType() const { return element_; }

  unsigned kWidth() const { return kWidth_; }
  unsigned bits() const { return bits_; }
  /// Words of 32 bits that lie together.
  unsigned wordsPerPlace() const { return kWidth_ * bits_ / 32; }

  /// Word `u` of the place (outer, k); null if no register lies there.
  mlir::Value word(int32_t outer, int32_t k, unsigned u);

private:
  FunctionLowering &f_;
  llvm::SmallVector<mlir::Value> registers_;
  FragmentIndex index_;
  mlir::Type element_;
  unsigned opIdx_, kWidth_, bits_;
  llvm::DenseMap<std::pair<int64_t, unsigned>, mlir::Value> words_;
};

/// The four words of A at rows (outer, outer + 8) and K (k, k + 4 kWidth); empty if A lacks one of them.
llvm::SmallVector<mlir::Value> leftFragment(OperandFragments &a, int32_t outer, int32_t k, unsigned u);

/// The accumulator tile of 16 rows by `columns` at (row, column): registers in the instructions' order (for each 8
/// columns: two neighbours of the row, two of the row + 8), as numbers of registers of the tensor. Empty if the layout
/// lacks one.
llvm::SmallVector<unsigned> accumulatorTile(const FragmentIndex &index, int32_t row, int32_t column, unsigned columns);

/// Accumulator registers as the instruction takes them: f32 and s32 one by one, f16 in pairs.
llvm::SmallVector<mlir::Value> packAccumulator(LoweringBuilder &b, llvm::ArrayRef<mlir::Value> elements);
llvm::SmallVector<mlir::Value> unpackAccumulator(LoweringBuilder &b, llvm::ArrayRef<mlir::Value> words,
                                                 mlir::Type element, unsigned count);

} // namespace jitk::nvidia
