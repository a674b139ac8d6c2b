#include "src/kernels/vocabulary/PackedPairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

static constexpr int64_t kHalfBits = 16;

static Value shiftOf(KernelBuilder &b, llvm::ArrayRef<int64_t> shape) { return b.splat(b.i32(kHalfBits), shape); }

Value packPairs(KernelBuilder &b, Value matrix) {
  auto shape = cast<RankedTensorType>(matrix.getType()).getShape();
  llvm::SmallVector<int64_t> paired = {shape[0], shape[1] / 2};
  Value bits = tt::BitcastOp::create(b, b.tensorType(shape, b.getI16Type()), matrix);
  Value words = arith::ExtUIOp::create(b, b.tensorType(shape, b.getI32Type()), bits);
  Value pairs = b.reshape(words, {shape[0], shape[1] / 2, 2});
  RankedTensorType half = b.tensorType(paired, b.getI32Type());
  auto split = tt::SplitOp::create(b, half, half, pairs);
  Value high = arith::ShLIOp::create(b, split.getOutRHS(), shiftOf(b, paired));
  return arith::OrIOp::create(b, split.getOutLHS(), high);
}

Value unpackPairs(KernelBuilder &b, Value pairs, Type elementType) {
  auto shape = cast<RankedTensorType>(pairs.getType()).getShape();
  llvm::SmallVector<int64_t> whole = {shape[0], shape[1] * 2};
  RankedTensorType halves = b.tensorType(shape, b.getI16Type());
  Value low = arith::TruncIOp::create(b, halves, pairs);
  Value high = arith::TruncIOp::create(b, halves, arith::ShRUIOp::create(b, pairs, shiftOf(b, shape)));
  Value joined = tt::JoinOp::create(b, b.tensorType({shape[0], shape[1], 2}, b.getI16Type()), low, high);
  return tt::BitcastOp::create(b, b.tensorType(whole, elementType), b.reshape(joined, whole));
}

} // namespace jitk::kernels
