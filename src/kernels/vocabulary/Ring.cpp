#include "src/kernels/vocabulary/Ring.h"

#include "src/ir/ttng/Ttng.h"
#include "src/kernels/vocabulary/MemoryBarriers.h"
#include "src/kernels/vocabulary/TileRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

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

/// Places of a tile from one copy to the next: TMA writes to multiples of 128 bytes.
static int64_t spacingOf(const SharedTile &tile) {
  constexpr int64_t kAlignment = 128;
  return llvm::divideCeil(kAlignment, std::min(kAlignment, tile.bytes()));
}

Ring::Ring(KernelBuilder &builder, int64_t stages, llvm::ArrayRef<SharedTile> tiles, unsigned consumerWarps,
           const RingOptions &options)
    : builder_(builder), stages_(stages), numSlots_(stages * options.banks), replicas_(options.replicas),
      ownTiles_(options.ownTiles), firstJoined_(std::min(options.firstJoined, tiles.size())), sharers_(options.sharers),
      gathererWarps_(options.gathererWarps), unit_(options.unit), tiles_(tiles) {
  assert((sharers_ == 1 || sharers_ == builder.clusterSize()) && "all CTAs of a cluster share, or none");
  for (auto [index, tile] : llvm::enumerate(tiles.take_front(firstJoined_))) {
    int64_t ofSlot = index < ownTiles_ ? replicas_ : 1;
    buffers_.push_back(ttg::LocalAllocOp::create(builder, tile.bufferType(numSlots_ * ofSlot * spacingOf(tile))));
  }
  if (firstJoined_ < tiles.size()) {
    llvm::ArrayRef<SharedTile> joined = tiles.drop_front(firstJoined_);
    assert(llvm::all_of(joined, [&](const SharedTile &tile) { return tile.encoding() == unit_.encoding(); }) &&
           "joined tiles have one layout");
    int64_t bytes = 0;
    for (const SharedTile &tile : joined) {
      assert(tile.bytes() % unit_.bytes() == 0);
      bytes += tile.bytes();
    }
    buffers_.append(joined.size(),
                    ttg::LocalAllocOp::create(builder, unit_.bufferType(numSlots_ * bytes / unit_.bytes())));
  }
  const RingVectors &vectors = options.vectors;
  for (auto [index, size] : llvm::enumerate(vectors.sizes)) {
    int64_t ofSlot = index < options.ownVectors ? replicas_ : 1;
    vectors_.push_back(
        ttg::LocalAllocOp::create(builder, vectorType(builder, {numSlots_ * ofSlot, size}, vectors.elementType)));
  }
  constexpr unsigned kThreadsOfWarp = 32;
  unsigned fillers = gathererWarps_ ? gathererWarps_ * kThreadsOfWarp : tiles.empty() ? 0 : 1;
  full_ = makeBarriers(builder, numSlots_, fillers + vectors.writerWarps * kThreadsOfWarp);
  empty_ = makeBarriers(builder, numSlots_, consumerWarps * sharers_);
}

Value Ring::firstSlot(Value bank) const {
  return bank ? builder_.mul(bank, builder_.i32(stages_)) : Value(builder_.i32(0));
}

RingPosition Ring::start(Value bank) const { return {firstSlot(bank), builder_.i32(0)}; }

RingPosition Ring::startAfterConsumers(Value bank) const { return {firstSlot(bank), builder_.i32(1)}; }

RingPosition Ring::next(const RingPosition &position, Value bank) const {
  KernelBuilder &b = builder_;
  Value slot = b.add(position.slot, b.i32(1)), first = firstSlot(bank);
  Value wraps = b.equal(slot, b.add(first, b.i32(stages_)));
  Value flip = arith::ExtUIOp::create(b, b.getI32Type(), wraps);
  return {b.select(wraps, first, slot), arith::XOrIOp::create(b, position.phase, flip)};
}

Value Ring::indexOf(Value slot, Value replica) const {
  KernelBuilder &b = builder_;
  return replica ? b.add(b.mul(slot, b.i32(replicas_)), replica) : slot;
}

Value Ring::joinedPiece(Value slot, size_t tile, const SharedTile &piece, Value number) const {
  KernelBuilder &b = builder_;
  int64_t before = 0, ofSlot = 0;
  for (size_t other = firstJoined_; other < tiles_.size(); ++other) {
    before += other < tile ? tiles_[other].bytes() / unit_.bytes() : 0;
    ofSlot += tiles_[other].bytes() / unit_.bytes();
  }
  Value place = b.add(b.mul(slot, b.i32(ofSlot)), b.i32(before));
  if (number) {
    place = b.add(place, b.mul(number, b.i32(piece.bytes() / unit_.bytes())));
  }
  Value first = ttg::MemDescIndexOp::create(b, unit_.bufferType(), buffers_[tile], place);
  return piece.bytes() == unit_.bytes() ? first : ttg::MemDescReinterpretOp::create(b, piece.bufferType(), first);
}

void Ring::awaitEmpty(const RingPosition &position) const {
  KernelBuilder &b = builder_;
  // In the first round the wait is for the phase before the first, which has passed.
  Value phase = arith::XOrIOp::create(b, position.phase, b.i32(1));
  ttng::WaitBarrierOp::create(b, barrierAt(builder_, empty_, position.slot), phase);
}

Value Ring::vector(const RingPosition &position, unsigned vector, Value replica) const {
  auto type = cast<ttg::MemDescType>(vectors_[vector].getType());
  return ttg::MemDescIndexOp::create(builder_,
                                     vectorType(builder_, type.getShape().drop_front(), type.getElementType()),
                                     vectors_[vector], indexOf(position.slot, replica));
}

void Ring::write(const RingPosition &position, unsigned vector, Value contents, Value replica) const {
  ttg::LocalStoreOp::create(builder_, contents, this->vector(position, vector, replica));
}

void Ring::publish(Value slot) const {
  // Each thread for what it has stored: one for its warp would be as good, but for who checks a kernel for races.
  ttng::ArriveBarrierOp::create(builder_, barrierAt(builder_, full_, slot), 1u).setPerThread(true);
}

Value Ring::readVector(const RingPosition &position, unsigned vector, Value replica) const {
  Value buffer = this->vector(position, vector, replica);
  auto type = cast<ttg::MemDescType>(buffer.getType());
  return ttg::LocalLoadOp::create(builder_, builder_.tensorType(type.getShape(), type.getElementType()), buffer);
}

void Ring::acquire(const RingPosition &position, size_t numTiles) const {
  KernelBuilder &b = builder_;
  awaitEmpty(position);
  int64_t bytes = 0;
  for (auto [index, tile] : llvm::enumerate(llvm::ArrayRef(tiles_).take_front(numTiles))) {
    bytes += tile.bytes() * (index < ownTiles_ ? replicas_ : 1);
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
  TileRows pieces(b, buffers_[tile], numSlots_, tiles_[tile], rows);
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
  Value buffer;
  if (isJoined(tile)) {
    buffer = joinedPiece(position.slot, tile, piece, b.clusterRank());
  } else {
    Value pieces = ttg::MemDescReinterpretOp::create(b, piece.bufferType(numSlots_ * sharers_), buffers_[tile]);
    Value index = b.add(b.mul(position.slot, b.i32(sharers_)), b.clusterRank());
    buffer = ttg::MemDescIndexOp::create(b, piece.bufferType(), pieces, index);
  }
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
  if (isJoined(tile)) {
    return joinedPiece(position.slot, tile, tiles_[tile], /*number=*/{});
  }
  Value place = builder_.mul(indexOf(position.slot, replica), builder_.i32(spacingOf(tiles_[tile])));
  return ttg::MemDescIndexOp::create(builder_, tiles_[tile].bufferType(), buffers_[tile], place);
}

Value Ring::read(const RingPosition &position, unsigned tile, Value replica) const {
  const SharedTile &shape = tiles_[tile];
  return ttg::LocalLoadOp::create(builder_, builder_.tensorType({shape.rows, shape.columns}, shape.elementType),
                                  this->tile(position, tile, replica));
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
