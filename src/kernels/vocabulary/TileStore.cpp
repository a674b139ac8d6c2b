#include "src/kernels/vocabulary/TileStore.h"

#include "src/ir/ttng/Ttng.h"
#include "src/kernels/vocabulary/Roles.h"
#include "src/kernels/vocabulary/TileRows.h"

#include <algorithm>

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

SharedTile TileStore::sliceOf(const SharedTile &tile) {
  // A narrow tile is not cut: where it is stored transposed, its columns are spread over warps.
  constexpr int64_t kRowBits = 1024, kNarrow = 64;
  int64_t columns =
      std::max(kRowBits / tile.elementType.getIntOrFloatBitWidth(), tile.columns <= kNarrow ? kNarrow : 0);
  return {tile.rows, std::min(tile.columns, columns), tile.elementType};
}

int64_t TileStore::numSlotsOf(const SharedTile &tile, int64_t most) {
  return std::min<int64_t>(most, tile.columns / sliceOf(tile).columns);
}

TileStore::TileStore(KernelBuilder &builder, const SharedTile &tile, int64_t mostSlots, Kind kind, int64_t replicas)
    : builder_(builder), slice_(sliceOf(tile)), numSlots_(numSlotsOf(tile, mostSlots)), replicas_(replicas),
      kind_(kind), slots_(ttg::LocalAllocOp::create(builder, slice_.bufferType(numSlots_ * replicas))) {}

TileStore::TileStore(KernelBuilder &builder, const SharedTile &tile, Value slots, int64_t replicas)
    : builder_(builder), slice_(sliceOf(tile)), numSlots_(numSlotsOf(tile)), replicas_(replicas), kind_(Kind::Store),
      slots_(slots) {}

Value TileStore::slotNumber(size_t slice) const {
  KernelBuilder &b = builder_;
  Value slot = b.i32(int64_t(slice) % numSlots_);
  return replicas_ == 1 ? slot : b.add(b.mul(replica_ ? replica_ : replicaId(b), b.i32(numSlots_)), slot);
}

TileStore TileStore::of(Value number) const {
  TileStore store = *this;
  store.replica_ = number;
  return store;
}

Value TileStore::slotOf(size_t slice) const {
  return ttg::MemDescIndexOp::create(builder_, slice_.bufferType(), slots_, slotNumber(slice));
}

void TileStore::copy(size_t slice, Value matrices, ValueRange origin) const {
  llvm::SmallVector<Value> at(origin);
  at.back() = builder_.add(at.back(), builder_.i32(int64_t(slice) * slice_.columns));
  copy(matrices, at, slotOf(slice));
}

void TileStore::copy(Value matrices, ValueRange origin, Value buffer) const {
  if (kind_ == Kind::Add) {
    ttng::AsyncTMAReduceOp::create(builder_, tt::DescriptorReduceKind::ADD, matrices, origin, buffer);
    return;
  }
  ttng::AsyncTMACopyLocalToGlobalOp::create(builder_, matrices, origin, buffer);
}

void TileStore::copyRows(size_t slice, ValueRange origin, const Rows &rows) const {
  KernelBuilder &b = builder_;
  TileRows pieces(b, slots_, numSlots_ * replicas_, slice_, 1);
  b.loop(b.i32(0), b.minimum(rows.count, b.i32(slice_.rows)), 1, {}, [&](Value row, ValueRange) {
    for (int64_t panel = 0; panel < pieces.numPanels(); ++panel) {
      llvm::SmallVector<Value> at(origin);
      at[at.size() - 2] = b.add(at[at.size() - 2], row);
      at.back() = b.add(at.back(), b.i32(int64_t(slice) * slice_.columns + panel * pieces.panelColumns()));
      copy(rows.matrices, at, pieces.piece(slotNumber(slice), panel, row));
    }
    return llvm::SmallVector<Value>();
  });
}

void TileStore::store(Value tile, Value matrices, ValueRange origin, Finish finish, const Rows &rows) const {
  KernelBuilder &b = builder_;
  auto copy = [&](size_t slice) {
    if (!rows.count) {
      this->copy(slice, matrices, origin);
      return;
    }
    b.ifElse(
        b.lessThan(rows.count, b.i32(slice_.rows)),
        [&] {
          copyRows(slice, origin, rows);
          // Others count one copy for each slice.
          ttng::TMAStoreWaitOp::create(b, 0u);
        },
        [&] { this->copy(slice, matrices, origin); });
  };
  llvm::SmallVector<Value> slices = b.splitColumns(tile, slice_.columns);
  if (slices.size() <= size_t(numSlots_)) {
    // All slices have a slot: the role meets once for all of them.
    llvm::SmallVector<Value> finished = llvm::map_to_vector(slices, finish);
    ttng::TMAStoreWaitOp::create(b, 0u);
    for (auto [index, slice] : llvm::enumerate(finished)) {
      ttg::LocalStoreOp::create(b, slice, slotOf(index));
    }
    for (size_t index = 0; index < slices.size(); ++index) {
      copy(index);
    }
    return;
  }
  for (auto [index, slice] : llvm::enumerate(slices)) {
    Value finished = finish(slice);
    // All copies but the last few are done with their slots; a tile has as many slices as fill all slots equally often.
    ttng::TMAStoreWaitOp::create(b, uint32_t(numSlots_ - 1));
    ttg::LocalStoreOp::create(b, finished, slotOf(index));
    copy(index);
  }
}

llvm::SmallVector<Value> TileStore::slices(Value tile) const { return builder_.splitColumns(tile, slice_.columns); }

void TileStore::storeSlice(size_t index, Value finished, Value matrices, ValueRange origin) const {
  // All copies but the last few are done with their slots; a tile has as many slices as fill all slots equally often.
  ttng::TMAStoreWaitOp::create(builder_, uint32_t(numSlots_ - 1));
  ttg::LocalStoreOp::create(builder_, finished, slotOf(index));
  copy(index, matrices, origin);
}

void TileStore::fill(llvm::ArrayRef<Value> finished) const {
  assert(finished.size() == size_t(numSlots_) && "each slice has a slot");
  for (auto [index, slice] : llvm::enumerate(finished)) {
    ttg::LocalStoreOp::create(builder_, slice, slotOf(index));
  }
}

void TileStore::copyOut(Value matrices, ValueRange origin) const {
  for (size_t index = 0; index < size_t(numSlots_); ++index) {
    copy(index, matrices, origin);
  }
}

void TileStore::drain(KernelBuilder &builder) { ttng::TMAStoreWaitOp::create(builder, 0u); }

} // namespace jitk::kernels
