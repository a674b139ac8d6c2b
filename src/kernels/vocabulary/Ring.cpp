#include "src/kernels/vocabulary/Ring.h"

#include "src/ir/ttng/Ttng.h"
#include "src/kernels/vocabulary/MemoryBarriers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

Ring::Ring(KernelBuilder &builder, int64_t stages, llvm::ArrayRef<SharedTile> tiles, unsigned consumerWarps)
    : builder_(builder), stages_(stages), tiles_(tiles) {
  for (const SharedTile &tile : tiles) {
    buffers_.push_back(ttg::LocalAllocOp::create(builder, tile.bufferType(stages)));
  }
  full_ = makeBarriers(builder, stages, 1);
  empty_ = makeBarriers(builder, stages, consumerWarps);
}

RingPosition Ring::start() const { return {builder_.i32(0), builder_.i32(0)}; }

RingPosition Ring::next(const RingPosition &position) const {
  KernelBuilder &b = builder_;
  Value slot = b.add(position.slot, b.i32(1));
  Value wraps = b.equal(slot, b.i32(stages_));
  Value flip = arith::ExtUIOp::create(b, b.getI32Type(), wraps);
  return {b.select(wraps, b.i32(0), slot), arith::XOrIOp::create(b, position.phase, flip)};
}

void Ring::acquire(const RingPosition &position) const {
  KernelBuilder &b = builder_;
  // In the first round the wait is for the phase before the first, which has passed.
  Value phase = arith::XOrIOp::create(b, position.phase, b.i32(1));
  ttng::WaitBarrierOp::create(b, barrierAt(builder_, empty_, position.slot), phase);
  int64_t bytes = 0;
  for (const SharedTile &tile : tiles_) {
    bytes += tile.bytes();
  }
  ttng::BarrierExpectOp::create(b, barrierAt(builder_, full_, position.slot), uint32_t(bytes), b.boolean(true));
}

void Ring::load(const RingPosition &position, unsigned tile, Value matrices, ValueRange origin) const {
  ttng::AsyncTMACopyGlobalToLocalOp::create(builder_, matrices, origin, barrierAt(builder_, full_, position.slot),
                                            this->tile(position, tile), builder_.boolean(true));
}

void Ring::await(const RingPosition &position) const {
  ttng::WaitBarrierOp::create(builder_, barrierAt(builder_, full_, position.slot), position.phase);
}

Value Ring::tile(const RingPosition &position, unsigned tile) const {
  return ttg::MemDescIndexOp::create(builder_, tiles_[tile].bufferType(), buffers_[tile], position.slot);
}

Value Ring::read(const RingPosition &position, unsigned tile) const {
  const SharedTile &shape = tiles_[tile];
  return ttg::LocalLoadOp::create(builder_, builder_.tensorType({shape.rows, shape.columns}, shape.elementType),
                                  this->tile(position, tile));
}

void Ring::release(Value slot) const {
  ttng::ArriveBarrierOp::create(builder_, barrierAt(builder_, empty_, slot), 1u, /*perWarp=*/true);
}

} // namespace jitk::kernels
