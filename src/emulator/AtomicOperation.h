// The arithmetic of atomics and reductions.

#pragma once

#include "src/ir/ptx/Instructions.h"

#include <cstdint>

namespace jitk::emulator {

/// An operation on memory. `bytes` is the width: 2, 4 or 8. The pair types also take 2, for one half alone.
struct AtomicAction {
  ir::ptx::AtomicOp op = ir::ptx::AtomicOp::Add;
  ir::ptx::AtomicType type = ir::ptx::AtomicType::Integer;
  unsigned bytes = 4;
  bool flushes = false; ///< float32: subnormal operands and results become zero
};

/// What memory holds after the action of `value` on `old`.
uint64_t combine(const AtomicAction &action, uint64_t old, uint64_t value);

/// Applies `combine` to memory that other host threads may access at the same time; gives the old value. The address is
/// a multiple of the width.
uint64_t combineAtomically(const AtomicAction &action, void *memory, uint64_t value);

/// Puts `value` where memory holds `expected`; gives what it held.
uint64_t exchangeIfEqual(unsigned bytes, void *memory, uint64_t expected, uint64_t value);

} // namespace jitk::emulator
