// The functions of the emulator that compiled kernels call.

#pragma once

#include "src/emulator/Thread.h"

#include <cstdint>

/// Executes row `row` of the instruction table for a thread. One 64-bit word a register, zero-extended;
/// `immediates[-1]` is the address of a string that says where the instruction stands in the source, or 0. Returns when
/// the thread may go on, which for a synchronizing instruction is after others have run.
extern "C" void jitk_emulator_execute(jitk::emulator::Thread *thread, uint32_t row, uint64_t *results,
                                      const uint64_t *operands, const int64_t *immediates);

/// Counts a round of a loop, or of a recursion, in which no row of the table is executed. `site` is as `immediates`
/// above.
extern "C" void jitk_emulator_loop(jitk::emulator::Thread *thread, const int64_t *site);

/// Reports a trap that is no row of the table, or a place that should never be reached, and stops the cluster.
extern "C" void jitk_emulator_trap(jitk::emulator::Thread *thread, const int64_t *site, uint32_t unreachable);

/// Reports an assertion that failed, and stops the cluster: `__assertfail` of CUDA's device runtime, for a thread.
extern "C" void jitk_emulator_assert(jitk::emulator::Thread *thread, const char *message, const char *file,
                                     uint32_t line, const char *function, uint64_t characterBytes);

/// Gives formatted text to the device's `print`: `vprintf` of CUDA's device runtime, for a thread.
extern "C" int32_t jitk_emulator_print(jitk::emulator::Thread *thread, const char *format, const void *values);
