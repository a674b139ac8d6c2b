#include "src/kernels/vocabulary/MemoryBarriers.h"

#include "src/ir/ttng/BarrierType.h"
#include "src/ir/ttng/Ttng.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

Value makeBarriers(KernelBuilder &b, int64_t count, unsigned arrivals) {
  auto barriers = ttg::LocalAllocOp::create(b, ttng::barrierType(b.getContext(), {count, 1}));
  for (int64_t index = 0; index < count; ++index) {
    ttng::InitBarrierOp::create(b, barrierAt(b, barriers, b.i32(index)), arrivals);
  }
  return barriers;
}

Value barrierAt(KernelBuilder &b, Value barriers, Value index) {
  return ttg::MemDescIndexOp::create(b, ttng::barrierType(b.getContext(), {1}), barriers, index);
}

} // namespace jitk::kernels
