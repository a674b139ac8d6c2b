// Addresses in a buffer of shared memory.

#pragma once

#include "backends/nvidia/codegen/lowering/BufferLayout.h"
#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

#include "llvm/ADT/DenseMap.h"

namespace jitk::nvidia {

/// Byte addresses that depend on the executing thread and on a constant offset. What the thread gives is computed once,
/// what offsets share with it is shared between them, and the rest is a constant added last, which the assembler folds
/// into the instruction.
class BufferAddress {
public:
  /// Addresses that are the same for all threads.
  BufferAddress(FunctionLowering &f, mlir::Value buffer, const BufferLayout &layout);
  /// Those of the accesses of a plan: lane, warp and block add their parts.
  BufferAddress(FunctionLowering &f, mlir::Value buffer, const BufferLayout &layout, const ir::LocalAccess &access);

  /// Moves to the buffer at the same place of another CTA of the cluster, whose rank is given. Before any address is
  /// asked for.
  void moveTo(mlir::Value rank);

  /// The address of the element at `offset` XOR the thread's part: i32.
  mlir::Value at(int32_t offset);
  mlir::Value at(const ir::LocalAccessStep &step) { return at(step.xorOffset ^ step.addOffset); }

private:
  void addThreadPart(llvm::ArrayRef<int32_t> bases, llvm::function_ref<mlir::Value()> input);
  mlir::Value padded(mlir::Value offset);

  FunctionLowering &f_;
  const BufferLayout &layout_;
  mlir::Value base_, threadPart_;
  uint32_t threadBits_ = 0;                    ///< those that the thread, or the view, may move
  llvm::DenseMap<int32_t, mlir::Value> known_; ///< by the part of the offset that meets the thread's bits
};

/// The address of the first element of a view: of a barrier, of the box of a tensor copy.
mlir::Value viewAddress(FunctionLowering &f, mlir::Value buffer);

} // namespace jitk::nvidia
