// A tensor's linear layout in the form that lowerings read.

#pragma once

#include "src/ir/layout/LinearLayout.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace jitk::nvidia {

/// The bases of a distributed tensor's layout in plain arrays: which coordinate each bit of the register number, lane,
/// warp and block moves. Coordinates combine by XOR.
struct TensorLayout {
  using Coordinate = llvm::SmallVector<int32_t, 4>; ///< one entry a tensor dimension
  using Bases = llvm::SmallVector<Coordinate, 8>;   ///< one entry a bit of the input

  explicit TensorLayout(const ir::LinearLayout &layout);
  TensorLayout() = default;

  unsigned rank = 0;
  Bases registers, lanes, warps, blocks;

  unsigned numRegisters() const { return 1u << registers.size(); }

  /// The coordinates of a register in lane 0 of warp 0 of block 0.
  Coordinate registerCoordinate(unsigned reg) const;

  /// The bits of an input that move nothing: threads or registers that differ only there hold the same element.
  static uint32_t freeBits(const Bases &bases);

  /// The lowest register that holds the same element.
  unsigned canonicalRegister(unsigned reg) const { return reg & ~freeBits(registers); }

  /// The bits of an input that move dimension `dim`.
  static uint32_t movingBits(const Bases &bases, unsigned dim);
};

} // namespace jitk::nvidia
