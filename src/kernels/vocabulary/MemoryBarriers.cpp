#include "src/kernels/vocabulary/MemoryBarriers.h"

#include "src/ir/ttng/Ttng.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

static ttg::MemDescType barrierType(MLIRContext *context, llvm::ArrayRef<int64_t> shape) {
  auto layout =
      ttg::SwizzledSharedEncodingAttr::get(context, 1, 1, 1, {0}, ttg::CGAEncodingAttr::getTrivial(context, 1));
  return ttg::MemDescType::get(shape, IntegerType::get(context, 64), layout, ttg::SharedMemorySpaceAttr::get(context),
                               /*mutableMemory=*/true);
}

Value makeBarriers(KernelBuilder &b, int64_t count, unsigned arrivals) {
  auto barriers = ttg::LocalAllocOp::create(b, barrierType(b.getContext(), {count, 1}));
  for (int64_t index = 0; index < count; ++index) {
    ttng::InitBarrierOp::create(b, barrierAt(b, barriers, b.i32(index)), arrivals);
  }
  return barriers;
}

Value barrierAt(KernelBuilder &b, Value barriers, Value index) {
  return ttg::MemDescIndexOp::create(b, barrierType(b.getContext(), {1}), barriers, index);
}

} // namespace jitk::kernels
