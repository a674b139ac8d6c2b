// The 64-bit descriptors through which wgmma reads shared memory.
//
//   bits  0-13  address >> 4          bits 32-45  stride offset >> 4
//   bits 16-29  leading offset >> 4   bits 62-63  swizzle: 1 = 128 bytes, 2 = 64, 3 = 32
//
// Source: PTX ISA, "Matrix-descriptor format" of wgmma. The stride offset is the distance between groups of eight rows
// of the strided dimension; the leading offset, between swizzle patterns along the contiguous dimension, which the
// instruction needs where it reads beyond one pattern (operands that are contiguous along their outer dimension).

#pragma once

#include "backends/nvidia/codegen/lowering/BufferLayout.h"
#include "src/ir/ttg/Ttg.h"

#include <cstdint>
#include <optional>

namespace jitk::nvidia {

/// How one operand's buffer is read: everything of its descriptors that is known at compile time.
class MatrixDescriptor {
public:
  /// None if no descriptor can say the buffer's layout.
  static std::optional<MatrixDescriptor> of(ir::ttg::MemDescType type);

  /// The descriptor without its address.
  uint64_t base() const { return base_; }
  /// Whether K is not the contiguous dimension, given that K is dimension `kDim`: the transpose immediate.
  bool isTransposed(unsigned kDim) const { return contiguousDim_ != kDim; }
  /// Byte offset of the element (row, column) from the start of the buffer.
  int32_t offset(int32_t row, int32_t column) const;

private:
  explicit MatrixDescriptor(BufferLayout layout) : layout_(std::move(layout)) {}

  BufferLayout layout_;
  uint64_t base_ = 0;
  unsigned contiguousDim_ = 1;
};

} // namespace jitk::nvidia
