// Values exchanged between threads: through shuffles within a warp, through shared memory beyond.

#pragma once

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

namespace jitk::nvidia {

/// Shuffles each value by the row `form` ("shfl.sync.bfly", "shfl.sync.idx", "shfl.sync.up"): `argument` is its mask,
/// lane or delta. Values of one type narrower than 32 bits travel together.
llvm::SmallVector<mlir::Value> shuffle(LoweringBuilder &b, llvm::StringRef form, llvm::ArrayRef<mlir::Value> values,
                                       mlir::Value argument);

/// Whose shared memory an address lies in: the CTA's, or, made by mapa, that of any CTA of the cluster.
enum class SharedWindow : uint8_t { Cta, Cluster };

/// Stores elements of one type to consecutive shared addresses where `predicate` holds (null: everywhere).
/// `address` is a multiple of the bytes stored, which are a power of two up to 16.
void storeShared(LoweringBuilder &b, mlir::Value address, llvm::ArrayRef<mlir::Value> elements,
                 mlir::Value predicate = nullptr, SharedWindow window = SharedWindow::Cta);

/// Loads `count` elements from consecutive shared addresses, under the same conditions. Where `predicate` is false the
/// result is undefined.
llvm::SmallVector<mlir::Value> loadShared(LoweringBuilder &b, mlir::Value address, mlir::Type element, unsigned count,
                                          mlir::Value predicate = nullptr);

/// How memory instructions move `bytes` bytes of elements that take `elementBits` each: in words of which width.
struct Words {
  unsigned bits;
  unsigned count;
  /// The suffix of the instruction: "v4.b32".
  std::string suffix() const;
  static Words of(unsigned bytes, unsigned elementBits);
};

/// A map that is linear over the bits of (register, lane, warp, block), evaluated for the executing thread.
struct LinearIndex {
  mlir::Value threadPart;
  llvm::SmallVector<int32_t> registerParts;
  uint32_t threadBits = 0;

  mlir::Value of(unsigned reg, FunctionLowering &f) const {
    return f.withRegister(threadPart, registerParts[reg], threadBits);
  }
};

/// Evaluates `number`, a linear function of an element's coordinates, for all registers of a layout.
LinearIndex linearIndex(FunctionLowering &f, const TensorLayout &layout,
                        llvm::function_ref<int32_t(llvm::ArrayRef<int32_t>)> number);

} // namespace jitk::nvidia
