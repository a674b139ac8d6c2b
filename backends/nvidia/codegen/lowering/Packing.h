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

/// low | high where these are 16 bits and, 16 bits up, 16 bits of floats: a word packed of the two, by which two
/// conversions become one instruction. Null if they are not.
mlir::Value joinHalves(LoweringBuilder &b, mlir::Value low, mlir::Value high);

} // namespace jitk::nvidia
