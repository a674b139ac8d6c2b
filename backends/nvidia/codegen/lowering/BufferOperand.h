// Operands of matrix products that tensor cores read from shared memory, through 64-bit descriptors.

#pragma once

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"
#include "src/ir/layout/OperandDescriptor.h"

#include <optional>

namespace jitk::nvidia {

/// Which instruction reads the operand: their descriptors differ.
enum class DescriptorKind { Wgmma, Tcgen05 };

class BufferOperand {
public:
  /// The buffer as an operand whose dimension `kDim` is K; one instruction reads `outerSize` x `kSize` elements of it.
  /// None if no descriptor says the buffer's layout.
  static std::optional<BufferOperand> of(FunctionLowering &f, mlir::Value buffer, unsigned kDim, int32_t outerSize,
                                         int32_t kSize, DescriptorKind kind);

  /// Whether K is not the contiguous dimension.
  bool isTransposed() const { return !descriptor_.isKMajor; }

  /// From the start of the buffer to an element.
  int32_t byteOffset(int32_t outer, int32_t k) const { return int32_t(buffer_.byteOffset(outer, k)); }

  /// Whether descriptors of this operand, in an instruction that reads more outer elements than it has, go on to
  /// `part`: its `outerSize` elements then are those from element `outer` on, a multiple of 8, wherever along `kSize`
  /// elements of K, `stepOfK` at a time, they start. False also where nobody knows: the two must lie at a constant
  /// distance.
  bool goesOnTo(const BufferOperand &part, int32_t outer, int32_t outerSize, int32_t kSize, int32_t stepOfK) const;

  /// Moves the operand by a byte offset that is known at run time, before the first `at`.
  void advance(mlir::Value bytes) { address_ = f_->builder().add(address_, bytes); }

  /// The descriptor of what an instruction reads from (outer, k) on: i64. All differ by constants.
  mlir::Value at(int32_t outer, int32_t k);

private:
  BufferOperand(FunctionLowering &f, ir::OperandBuffer buffer, ir::OperandDescriptor descriptor, DescriptorKind kind)
      : f_(&f), buffer_(std::move(buffer)), descriptor_(descriptor), kind_(kind) {}

  FunctionLowering *f_;
  ir::OperandBuffer buffer_;
  ir::OperandDescriptor descriptor_;
  DescriptorKind kind_;
  mlir::Value address_;
  mlir::Value first_; ///< the descriptor of (0, 0)
};

} // namespace jitk::nvidia
