#include "src/emulator/Handlers.h"
#include "src/emulator/Memory.h"

#include <cstring>

namespace jitk::emulator {

/// Spreads memory over registers, zero-extended; without memory the registers hold bits that nobody should use.
static void loadRegisters(const Call &call, const uint8_t *memory) {
  const auto bytes = size_t(call.parameter(0));
  const auto registers = size_t(call.parameter(1));
  for (size_t i = 0; i < registers; ++i) {
    call.results[i] = memory ? 0 : ~uint64_t(0);
    if (memory) {
      std::memcpy(&call.results[i], memory + i * bytes, bytes);
    }
  }
}

/// Stores registers from operand 1 on.
static void storeRegisters(const Call &call, uint8_t *memory) {
  const auto bytes = size_t(call.parameter(0));
  const auto registers = size_t(call.parameter(1));
  for (size_t i = 0; i < registers; ++i) {
    std::memcpy(memory + i * bytes, &call.operands[1 + i], bytes);
  }
}

static uint32_t accessBytes(const Call &call) { return uint32_t(call.parameter(0) * call.parameter(1)); }

/// Tags are 32 bits wide.
static void checkStored(Thread &thread) {
  if (thread.call.parameter(0) == 4) {
    for (int64_t i = 0; i < thread.call.parameter(1); ++i) {
      checkPoison(thread, thread.call.operands[1 + i]);
    }
  }
}

void executeLoadGlobal(Thread &thread) {
  const uint32_t bytes = accessBytes(thread.call);
  requireGridWait(thread, thread.call.operands[0]);
  if (thread.call.instruction->effects == ir::ptx::Effects::Memory) {
    thread.cluster().hearsOfOthers = true; // volatile, relaxed or acquire
  }
  loadRegisters(thread.call, globalForRead(thread, thread.origin(), thread.call.operands[0], bytes, bytes));
}

void executeStoreGlobal(Thread &thread) {
  const uint32_t bytes = accessBytes(thread.call);
  checkStored(thread);
  requireGridWait(thread, thread.call.operands[0]);
  if (uint8_t *memory = globalForWrite(thread, thread.origin(), thread.call.operands[0], bytes, bytes)) {
    storeRegisters(thread.call, memory);
  }
}

void executeLoadShared(Thread &thread) {
  const uint32_t bytes = accessBytes(thread.call);
  const SharedPlace place = readShared(thread, thread.call.operand32(0), bytes, bytes);
  loadRegisters(thread.call, place ? place.data() : nullptr);
}

void executeStoreShared(Thread &thread) {
  const uint32_t bytes = accessBytes(thread.call);
  checkStored(thread);
  if (const SharedPlace place = writeShared(thread, thread.call.operand32(0), bytes, bytes)) {
    storeRegisters(thread.call, place.data());
  }
}

} // namespace jitk::emulator
