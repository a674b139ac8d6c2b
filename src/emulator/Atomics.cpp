#include "src/emulator/AtomicOperation.h"
#include "src/emulator/Handlers.h"
#include "src/emulator/Memory.h"

namespace jitk::emulator {

using ir::ptx::AtomicOp;
using ir::ptx::AtomicType;

static void combineInMemory(const Call &call, uint8_t *memory, bool isGlobal) {
  AtomicAction action;
  action.op = AtomicOp(call.parameter(0));
  action.bytes = unsigned(call.parameter(1));
  action.type = AtomicType(call.parameter(2));
  // The adder of global memory has no subnormal float32; that of shared memory does.
  action.flushes = isGlobal && action.op == AtomicOp::Add;
  call.results[0] = memory ? combineAtomically(action, memory, call.operands[1]) : ~uint64_t(0);
}

void executeAtomicGlobal(Thread &thread) {
  const auto bytes = uint64_t(thread.call.parameter(1));
  checkPoison(thread, thread.call.operands[1]);
  const uint64_t address = thread.call.operands[0];
  requireGridWait(thread, address);
  thread.cluster().hearsOfOthers = true;
  uint8_t *memory = globalForAtomic(thread, thread.origin(), address, bytes, bytes);
  combineInMemory(thread.call, memory, /*isGlobal=*/true);
}

void executeAtomicShared(Thread &thread) {
  const auto bytes = uint32_t(thread.call.parameter(1));
  checkPoison(thread, thread.call.operands[1]);
  const SharedPlace place = updateShared(thread, thread.call.operand32(0), bytes, bytes);
  combineInMemory(thread.call, place ? place.data() : nullptr, /*isGlobal=*/false);
}

void executeCompareAndSwap(Thread &thread) {
  const auto bytes = uint64_t(thread.call.parameter(0));
  requireGridWait(thread, thread.call.operands[0]);
  thread.cluster().hearsOfOthers = true;
  uint8_t *memory = globalForAtomic(thread, thread.origin(), thread.call.operands[0], bytes, bytes);
  thread.call.results[0] =
      memory ? exchangeIfEqual(unsigned(bytes), memory, thread.call.operands[1], thread.call.operands[2])
             : ~uint64_t(0);
}

} // namespace jitk::emulator
