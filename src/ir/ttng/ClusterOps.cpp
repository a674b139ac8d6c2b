// Distributed shared memory.

#include "src/ir/ttg/TransferRules.h"
#include "src/ir/ttng/Ttng.h"

namespace jitk::ir::ttng {
using namespace mlir;

LogicalResult RemoteShmemStoreOp::verify() {
  ttg::MemDescType buffer = getDst().getType();
  if (!buffer.getMutableMemory() || !isa<ttg::SharedMemorySpaceAttr>(buffer.getMemorySpace())) {
    return emitOpError("the buffer must be mutable and in shared memory: got ") << buffer;
  }
  return ttg::verifyTransfer(*this, getSrc().getType(), buffer);
}

} // namespace jitk::ir::ttng
