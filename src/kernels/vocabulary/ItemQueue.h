// Items that differ in length: a CTA that stays takes one after the other, as it gets done with them.
//
//   counter in device memory          a ring in shared memory
//         |                             +--------+  +--------+
//         +-> the taker, one warp  ---> |   17   |  |   23   |  ---> the readers, all warps of the CTA's other roles
//                                       +--------+  +--------+
//
// A CTA's first item is that of its own number; each takes its next one when it begins with an item. Numbers are handed
// out in order: the longest items are to come first. Which CTA works on an item depends on time, its result does not.

#pragma once

#include "src/kernels/vocabulary/Ring.h"

namespace jitk::kernels {

class ItemQueue {
public:
  /// Before the roles that use it. Items are the numbers below `count` (i32). `counter` is a pointer to an i32 that the
  /// CTAs share, zero when the kernel begins: see `writeCounter`.
  ItemQueue(KernelBuilder &builder, mlir::Value counter, mlir::Value count, unsigned readerWarps);

  /// The taker: runs `body` for the CTA's items. `carried` as in KernelBuilder::loop.
  llvm::SmallVector<mlir::Value> forEachTaken(mlir::ValueRange carried, KernelBuilder::LoopBody body) const;
  /// From now on CTAs take none of the items below `number` (i32) that are left: there is nothing to do in them.
  void skipTo(mlir::Value number) const;
  /// A reader: the same for the items that the taker takes.
  llvm::SmallVector<mlir::Value> forEachRead(mlir::ValueRange carried, KernelBuilder::LoopBody body) const;

private:
  using NextNumber = llvm::function_ref<mlir::Value(const RingPosition &position)>;
  llvm::SmallVector<mlir::Value> forEach(mlir::ValueRange carried, KernelBuilder::LoopBody body, NextNumber next) const;

  KernelBuilder &b;
  mlir::Value counter_, count_;
  Ring ring_;
};

/// The body of a step of one warp that makes a counter ready.
void writeCounter(KernelBuilder &builder, mlir::Value counter);

} // namespace jitk::kernels
