#include "src/kernels/vocabulary/Ring.h"

#include "src/ir/ttng/Ttng.h"
#include "src/kernels/vocabulary/MemoryBarriers.h"
#include "src/kernels/vocabulary/TileRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

/// Rows that `loadUntil` moves at once where they all lie before the end, or past it.
static constexpr int64_t kPieceRows = 8;

static ttg::MemDescType vectorType(KernelBuilder &b, llvm::ArrayRef<int64_t> shape, Type elementType) {
  MLIRContext *context = b.getContext();
  auto layout =
      ttg::SwizzledSharedEncodingAttr::get(context, 1, 1, 1, {0}, ttg::CGAEncodingAttr::getTrivial(context, 1));
  return ttg::MemDescType::get(shape, elementType, layout, ttg::SharedMemorySpaceAttr::get(context),
                               /*mutableMemory=*/true);
}

Ring::Ring(KernelBuilder &builder, int64_t stages, llvm::ArrayRef<SharedTile> tiles, unsigned consumerWarps,
           unsigned sharers, const Vectors &vectors, int64_t replicas, unsigned gathererWarps)
    : builder_(builder), stages_(stages), replicas_(replicas), sharers_(sharers), gathererWarps_(gathererWarps),
      tiles_(tiles) {
  assert((sharers == 1 || sharers == builder.clusterSize()) && "all CTAs of a cluster share, or none");
  for (const SharedTile &tile : tiles) {
    buffers_.push_back(ttg::LocalAllocOp::create(builder, tile.bufferType(stages * replicas)));
  }
  for (int64_t size : vectors.sizes) {
    vectors_.push_back(ttg::LocalAllocOp::create(builder, vectorType(builder, {stages, size}, vectors.elementType)));
  }
  constexpr unsigned kThreadsOfWarp = 32;
  unsigned fillers = gathererWarps ? gathererWarps * kThreadsOfWarp : tiles.empty() ? 0 : 1;
  full_ = makeBarriers(builder, stages, fillers + vectors.writerWarps);
  empty_ = makeBarriers(builder, stages, consumerWarps * sharers);
}

RingPosition Ring::start() const { return {builder_.i32(0), builder_.i32(0)}; }

RingPosition Ring::startAfterConsumers() const { return {builder_.i32(0), builder_.i32(1)}; }

RingPosition Ring::next(const RingPosition &position) const {
  KernelBuilder &b = builder_;
  Value slot = b.add(position.slot, b.i32(1));
  Value wraps = b.equal(slot, b.i32(stages_));
  Value flip = arith::ExtUIOp::create(b, b.getI32Type(), wraps);
  return {b.select(wraps, b.i32(0), slot), arith::XOrIOp::create(b, position.phase, flip)};
}

void Ring::awaitEmpty(const RingPosition &position) const {
  KernelBuilder &b = builder_;
  // In the first round the wait is for the phase before the first, which has passed.
  Value phase = arith::XOrIOp::create(b, position.phase, b.i32(1));
  ttng::WaitBarrierOp::create(b, barrierAt(builder_, empty_, position.slot), phase);
}

Value Ring::vector(const RingPosition &position, unsigned vector) const {
  auto type = cast<ttg::MemDescType>(vectors_[vector].getType());
  return ttg::MemDescIndexOp::create(builder_,
                                     vectorType(builder_, type.getShape().drop_front(), type.getElementType()),
                                     vectors_[vector], position.slot);
}

void Ring::write(const RingPosition &position, unsigned vector, Value contents) const {
  ttg::LocalStoreOp::create(builder_, contents, this->vector(position, vector));
}

void Ring::publish(Value slot) const {
  ttng::ArriveBarrierOp::create(builder_, barrierAt(builder_, full_, slot), 1u, /*perWarp=*/true);
}

Value Ring::readVector(const RingPosition &position, unsigned vector) const {
  Value buffer = this->vector(position, vector);
  auto type = cast<ttg::MemDescType>(buffer.getType());
  return ttg::LocalLoadOp::create(builder_, builder_.tensorType(type.getShape(), type.getElementType()), buffer);
}

void Ring::acquire(const RingPosition &position, size_t numTiles) const {
  KernelBuilder &b = builder_;
  awaitEmpty(position);
  int64_t bytes = 0;
  for (const SharedTile &tile : llvm::ArrayRef(tiles_).take_front(numTiles)) {
    bytes += tile.bytes() * replicas_;
  }
  ttng::BarrierExpectOp::create(b, barrierAt(builder_, full_, position.slot), uint32_t(bytes), b.boolean(true));
}

void Ring::load(const RingPosition &position, unsigned tile, Value matrices, ValueRange origin, Value replica) const {
  ttng::AsyncTMACopyGlobalToLocalOp::create(builder_, matrices, origin, barrierAt(builder_, full_, position.slot),
                                            this->tile(position, tile, replica), builder_.boolean(true));
}

void Ring::loadPiece(const RingPosition &position, unsigned tile, int64_t rows, Value matrices, Value number,
                     ValueRange origin) const {
  KernelBuilder &b = builder_;
  TileRows pieces(b, buffers_[tile], stages_, tiles_[tile], rows);
  for (int64_t panel = 0; panel < pieces.numPanels(); ++panel) {
    llvm::SmallVector<Value> at(origin);
    at.back() = b.add(at.back(), b.i32(panel * pieces.panelColumns()));
    ttng::AsyncTMACopyGlobalToLocalOp::create(b, matrices, at, barrierAt(b, full_, position.slot),
                                              pieces.piece(position.slot, panel, number), b.boolean(true));
  }
}

llvm::SmallVector<SharedTile> Ring::piecesOf(const SharedTile &tile) {
  return {TileRows::pieceOf(tile, kPieceRows), TileRows::pieceOf(tile, 1)};
}

void Ring::loadUntil(const RingPosition &position, unsigned tile, Value firstRow, int64_t count, MatricesOf matrices,
                     ValueRange origin, Value end, Value outside) const {
  KernelBuilder &b = builder_;
  size_t rowAxis = origin.size() - 2;
  auto load = [&](int64_t rows, Value number) {
    llvm::SmallVector<Value> at(origin);
    Value first = b.add(origin[rowAxis], b.mul(number, b.i32(rows)));
    at[rowAxis] = b.select(b.lessThan(first, end), first, outside);
    loadPiece(position, tile, rows, matrices(rows), b.add(number, b.div(firstRow, b.i32(rows))), at);
  };
  b.loop(b.i32(0), b.i32(count / kPieceRows), 1, {}, [&](Value number, ValueRange) {
    Value first = b.add(origin[rowAxis], b.mul(number, b.i32(kPieceRows)));
    Value isCut = b.both(b.lessThan(first, end), b.lessThan(end, b.add(first, b.i32(kPieceRows))));
    b.ifElse(
        isCut,
        [&] {
          b.loop(b.i32(0), b.i32(kPieceRows), 1, {}, [&](Value row, ValueRange) {
            load(1, b.add(b.mul(number, b.i32(kPieceRows)), row));
            return llvm::SmallVector<Value>();
          });
        },
        [&] { load(kPieceRows, number); });
    return llvm::SmallVector<Value>();
  });
}

void Ring::loadShared(const RingPosition &position, unsigned tile, const SharedTile &piece, Value matrix, Value row,
                      Value column) const {
  assert(piece.bytes() * sharers_ == tiles_[tile].bytes() && piece.mapSwizzle() == tiles_[tile].mapSwizzle());
  KernelBuilder &b = builder_;
  Value pieces = ttg::MemDescReinterpretOp::create(b, piece.bufferType(stages_ * sharers_), buffers_[tile]);
  Value index = b.add(b.mul(position.slot, b.i32(sharers_)), b.clusterRank());
  Value buffer = ttg::MemDescIndexOp::create(b, piece.bufferType(), pieces, index);
  auto copy = ttng::AsyncTMACopyGlobalToLocalOp::create(b, matrix, ValueRange{row, column},
                                                        barrierAt(b, full_, position.slot), buffer, b.boolean(true));
  copy.setMulticast(true);
}

void Ring::gather(const RingPosition &position, unsigned tile, Value pointers, Value mask) const {
  ttg::AsyncCopyGlobalToLocalOp::create(builder_, pointers, this->tile(position, tile), mask);
}

void Ring::signal(Value slot) const {
  ttng::AsyncCopyMbarrierArriveOp::create(builder_, barrierAt(builder_, full_, slot), /*noIncrement=*/true);
}

void Ring::await(const RingPosition &position) const {
  ttng::WaitBarrierOp::create(builder_, barrierAt(builder_, full_, position.slot), position.phase);
  if (gathererWarps_) {
    // What threads have copied is for the tensor cores to read.
    ttng::FenceAsyncSharedOp::create(builder_, /*bCluster=*/false);
  }
}

Value Ring::tile(const RingPosition &position, unsigned tile, Value replica) const {
  Value index = position.slot;
  if (replica) {
    index = builder_.add(builder_.mul(index, builder_.i32(replicas_)), replica);
  }
  return ttg::MemDescIndexOp::create(builder_, tiles_[tile].bufferType(), buffers_[tile], index);
}

Value Ring::read(const RingPosition &position, unsigned tile) const {
  const SharedTile &shape = tiles_[tile];
  return ttg::LocalLoadOp::create(builder_, builder_.tensorType({shape.rows, shape.columns}, shape.elementType),
                                  this->tile(position, tile));
}

void Ring::finishReads() const {
  // An arrival orders accesses of threads alone: without the fence the next copy can overtake the reads.
  ttng::FenceAsyncSharedOp::create(builder_, /*bCluster=*/false);
}

void Ring::releaseRead(Value slot) const {
  finishReads();
  release(slot);
}

void Ring::release(Value slot) const {
  ttng::ArriveBarrierOp::create(builder_, barrierAt(builder_, empty_, slot), 1u, /*perWarp=*/true,
                                /*multicast=*/sharers_ > 1);
}

} // namespace jitk::kernels
