// The arithmetic of atomics and reductions.

#pragma once

#include "src/ir/ptx/Instructions.h"

#include <cstdint>

namespace jitk::emulator {

/// What memory holds after `op` of `value` on `old`. `bytes` is the width: 2, 4 or 8.
uint64_t combine(ir::ptx::AtomicOp op, ir::ptx::AtomicType type, unsigned bytes, uint64_t old, uint64_t value);

/// Applies `combine` to memory that other host threads may access at the same time; gives the old value. The address is
/// a multiple of `bytes`.
uint64_t combineAtomically(ir::ptx::AtomicOp op, ir::ptx::AtomicType type, unsigned bytes, void *memory,
                           uint64_t value);

/// Puts `value` where memory holds `expected`; gives what it held.
uint64_t exchangeIfEqual(unsigned bytes, void *memory, uint64_t expected, uint64_t value);

} // namespace jitk::emulator
