#include "backends/nvidia/codegen/lowering/BufferAddress.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

BufferAddress::BufferAddress(FunctionLowering &f, Value buffer, const BufferLayout &layout)
    : f_(f), layout_(layout), base_(f.registers(buffer)[0]), threadPart_(f.registers(buffer)[1]) {
  std::optional<int64_t> view = LoweringBuilder::constantOf(threadPart_);
  threadBits_ = view ? uint32_t(*view) : uint32_t(layout.viewBits());
}

BufferAddress::BufferAddress(FunctionLowering &f, Value buffer, const BufferLayout &layout, const LocalAccess &access)
    : BufferAddress(f, buffer, layout) {
  addThreadPart(access.laneBases, [&] { return f.lane(); });
  addThreadPart(access.warpBases, [&] { return f.warp(); });
  addThreadPart(access.blockBases, [&] { return f.block(); });
}

void BufferAddress::addThreadPart(ArrayRef<int32_t> bases, llvm::function_ref<Value()> input) {
  if (llvm::all_of(bases, [](int32_t basis) { return basis == 0; })) {
    return;
  }
  threadPart_ = f_.builder().bitXor(threadPart_, f_.applyBases(input(), bases));
  for (int32_t basis : bases) {
    threadBits_ |= basis;
  }
}

void BufferAddress::moveTo(Value rank) { base_ = f_.builder().instValue("mapa", {base_, rank}); }

Value BufferAddress::padded(Value offset) {
  LoweringBuilder &b = f_.builder();
  Value result = offset;
  for (const BufferLayout::Padding &padding : layout_.paddings()) {
    Value count = b.shiftRight(offset, llvm::Log2_32(padding.interval));
    result = b.add(result, b.shiftLeft(count, llvm::Log2_32(padding.elements)));
  }
  return result;
}

Value BufferAddress::at(int32_t offset) {
  LoweringBuilder &b = f_.builder();
  // Padding is not linear: nothing may be added after it.
  int32_t meets = layout_.paddings().empty() ? offset & int32_t(threadBits_) : offset;
  Value &address = known_[meets];
  if (!address) {
    Value elements = padded(b.bitXor(threadPart_, meets));
    address = b.add(base_, b.shiftLeft(elements, llvm::Log2_32(layout_.elementBytes())));
  }
  return b.add(address, int64_t(offset ^ meets) * layout_.elementBytes());
}

Value viewAddress(FunctionLowering &f, Value buffer) {
  BufferLayout layout(cast<ttg::MemDescType>(buffer.getType()));
  return BufferAddress(f, buffer, layout).at(0);
}

} // namespace jitk::nvidia
