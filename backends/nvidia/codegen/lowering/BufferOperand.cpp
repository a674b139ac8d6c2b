#include "backends/nvidia/codegen/lowering/BufferOperand.h"

#include "src/ir/layout/EncodingLayouts.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// The bits of a shared address that a descriptor has, in units of 16 bytes.
constexpr int64_t kAddressMask = 0x3FFF0;

std::optional<BufferOperand> BufferOperand::of(FunctionLowering &f, Value buffer, unsigned kDim, int32_t outerSize,
                                               int32_t kSize, DescriptorKind kind) {
  auto type = cast<ttg::MemDescType>(buffer.getType());
  LinearLayout layout = toLinearLayout(type);
  if (layout.getNumOutDims() != 2) {
    return std::nullopt;
  }
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  OperandBuffer operand(layout, bits, kDim);
  std::optional<OperandDescriptor> descriptor = operand.describe(outerSize, kSize);
  if (!descriptor) {
    return std::nullopt;
  }
  BufferOperand result(f, std::move(operand), *descriptor, kind);
  LoweringBuilder &b = f.builder();
  // The offset of a view is a multiple of the swizzle pattern, so that it may be added.
  result.address_ = b.add(f.registers(buffer)[0], b.mul(f.registers(buffer)[1], bits / 8));
  return result;
}

Value BufferOperand::at(int32_t outer, int32_t k) {
  LoweringBuilder &b = f_->builder();
  if (!first_) {
    uint64_t fields = kind_ == DescriptorKind::Wgmma ? descriptor_.encodeForWgmma() : descriptor_.encodeForTcgen05();
    Value start = b.shiftRight(b.bitAnd(address_, kAddressMask), 4);
    first_ = b.bitOr(b.resizeUnsigned(start, b.getI64Type()), b.i64(int64_t(fields)));
  }
  // Shared memory is smaller than what the address field can say, so that nothing is carried out of it.
  return b.add(first_, int64_t(byteOffset(outer, k) >> 4));
}

} // namespace jitk::nvidia
