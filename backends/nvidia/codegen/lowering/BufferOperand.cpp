#include "backends/nvidia/codegen/lowering/BufferOperand.h"

#include "src/ir/layout/EncodingLayouts.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// The bits of a shared address that a descriptor has, in units of 16 bytes.
constexpr int64_t kAddressMask = 0x3FFF0;

namespace {
/// An i32 as a sum of values, each times a constant, and a constant; modulo 2^32.
class LinearForm {
public:
  void add(Value value, uint32_t factor) { add(open_, value, factor); }

  /// The constant that it is, if it is known to be one.
  std::optional<int32_t> constant();

private:
  using Terms = SmallVector<std::pair<Value, uint32_t>>;
  static void add(Terms &terms, Value value, uint32_t factor);
  /// Adds factor * value as what the value was computed from, if that is linear.
  bool expand(Value value, uint32_t factor);

  Terms open_, roots_;
  uint32_t constant_ = 0;
};
} // namespace

void LinearForm::add(Terms &terms, Value value, uint32_t factor) {
  auto *term = llvm::find_if(terms, [&](const auto &other) { return other.first == value; });
  if (term == terms.end()) {
    terms.emplace_back(value, factor);
  } else {
    term->second += factor;
  }
}

bool LinearForm::expand(Value value, uint32_t factor) {
  if (std::optional<int64_t> known = LoweringBuilder::constantOf(value)) {
    constant_ += factor * uint32_t(*known);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<LLVM::AddOp, LLVM::SubOp>(op)) {
    add(op->getOperand(0), factor);
    add(op->getOperand(1), isa<LLVM::SubOp>(op) ? 0 - factor : factor);
    return true;
  }
  std::optional<int64_t> known;
  if (isa_and_nonnull<LLVM::MulOp, LLVM::ShlOp>(op)) {
    known = LoweringBuilder::constantOf(op->getOperand(1));
  }
  constexpr int64_t kBits = 32;
  if (!known || (isa<LLVM::ShlOp>(op) && (*known < 0 || *known >= kBits))) {
    return false;
  }
  add(op->getOperand(0), isa<LLVM::ShlOp>(op) ? factor << *known : factor * uint32_t(*known));
  return true;
}

std::optional<int32_t> LinearForm::constant() {
  // Far more than index arithmetic has. Values that are added to themselves again and again have more than anyone can
  // visit.
  constexpr unsigned kMostSteps = 256;
  for (unsigned step = 0; !open_.empty() && step < kMostSteps; ++step) {
    auto [value, factor] = open_.front();
    open_.erase(open_.begin());
    if (factor != 0 && !expand(value, factor)) {
      add(roots_, value, factor);
    }
  }
  bool isConstant = open_.empty() && llvm::all_of(roots_, [](const auto &root) { return root.second == 0; });
  return isConstant ? std::optional(int32_t(constant_)) : std::nullopt;
}

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

bool BufferOperand::goesOnTo(const BufferOperand &part, int32_t outer, int32_t outerSize, int32_t kSize,
                             int32_t stepOfK) const {
  constexpr int32_t kOuterStep = 8;
  LinearForm difference;
  difference.add(part.address_, 1);
  difference.add(address_, 0 - uint32_t(1));
  std::optional<int32_t> distance = difference.constant();
  if (!distance || part.descriptor_.isKMajor != descriptor_.isKMajor ||
      part.descriptor_.swizzleBytes != descriptor_.swizzleBytes ||
      part.descriptor_.bytesAlongK() != descriptor_.bytesAlongK()) {
    return false;
  }
  for (int32_t k = 0; k < kSize; k += stepOfK) {
    for (int32_t i = 0; i < outerSize; i += kOuterStep) {
      if (byteOffset(0, k) + descriptor_.outerOffset(outer + i, buffer_.elementBytes()) !=
          *distance + part.byteOffset(i, k)) {
        return false;
      }
    }
  }
  return true;
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
