// Elements packed into the words that instructions move.

#pragma once

#include "backends/nvidia/codegen/lowering/LoweringBuilder.h"

namespace jitk::nvidia {

/// Bits that an element takes in memory and in packed words: those of its type, 8 for i1, 64 for a pointer.
unsigned storedBits(mlir::Type element);

/// Packs elements of one type into integers of `wordBits` >= their stored bits, the first element in the lowest bits.
/// The last word is filled with undefined bits.
llvm::SmallVector<mlir::Value> packWords(LoweringBuilder &b, llvm::ArrayRef<mlir::Value> elements, unsigned wordBits);

/// The inverse: `count` elements of type `element`.
llvm::SmallVector<mlir::Value> unpackWords(LoweringBuilder &b, llvm::ArrayRef<mlir::Value> words, mlir::Type element,
                                           unsigned count);

} // namespace jitk::nvidia
