#include "src/kernels/vocabulary/ItemQueue.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

static constexpr int64_t kSlots = 2;

ItemQueue::ItemQueue(KernelBuilder &builder, Value counter, Value count, unsigned readerWarps)
    : b(builder), counter_(counter), count_(count),
      ring_(builder, kSlots, {}, readerWarps,
            RingOptions{.vectors = {.sizes = {1}, .writerWarps = 1, .elementType = builder.getI32Type()}}) {}

llvm::SmallVector<Value> ItemQueue::forEach(ValueRange carried, KernelBuilder::LoopBody body, NextNumber next) const {
  RingPosition first = ring_.start();
  llvm::SmallVector<Value> start = {b.programId(0), first.slot, first.phase};
  llvm::append_range(start, carried);
  auto isItem = [&](ValueRange now) { return b.lessThan(now[0], count_); };
  auto bodyOfItem = [&](ValueRange now) {
    RingPosition position = {now[1], now[2]}, after = ring_.next(position);
    llvm::SmallVector<Value> results = {next(position), after.slot, after.phase};
    llvm::append_range(results, body(now[0], now.drop_front(3)));
    return results;
  };
  llvm::SmallVector<Value> results = b.loopWhile(start, isItem, bodyOfItem);
  results.erase(results.begin(), results.begin() + 3);
  return results;
}

llvm::SmallVector<Value> ItemQueue::forEachTaken(ValueRange carried, KernelBuilder::LoopBody body) const {
  return forEach(carried, body, [&](const RingPosition &position) {
    Value number = b.add(b.numPrograms(0), b.fetchAdd(counter_, b.i32(1)));
    ring_.awaitEmpty(position);
    ring_.write(position, 0, b.splat(number, {1}));
    ring_.publish(position.slot);
    return number;
  });
}

void ItemQueue::skipTo(Value number) const {
  tt::AtomicRMWOp::create(b, number.getType(), tt::RMWOp::MAX, counter_, b.sub(number, b.numPrograms(0)),
                          /*mask=*/Value(), tt::MemSemantic::RELAXED, tt::MemSyncScope::GPU);
}

llvm::SmallVector<Value> ItemQueue::forEachRead(ValueRange carried, KernelBuilder::LoopBody body) const {
  return forEach(carried, body, [&](const RingPosition &position) {
    ring_.await(position);
    Value number = b.unsplat(ring_.readVector(position, 0));
    ring_.release(position.slot);
    return number;
  });
}

void writeCounter(KernelBuilder &b, Value counter) { b.store(counter, b.i32(0)); }

} // namespace jitk::kernels
