#include "src/ir/tt/TensorParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace jitk::ir::tt {

static constexpr int64_t kHalfBits = 16;

static llvm::ArrayRef<int64_t> shapeOf(Value matrix) { return cast<RankedTensorType>(matrix.getType()).getShape(); }

llvm::SmallVector<Value> splitColumns(OpBuilder &b, Location loc, Value matrix, int64_t columns) {
  Type element = getElementTypeOrSelf(matrix.getType());
  int64_t numRows = shapeOf(matrix)[0], numColumns = shapeOf(matrix)[1];
  if (numColumns <= columns) {
    return {matrix};
  }
  // The two halves become the last dimension, which is split.
  Value halves = ReshapeOp::create(b, loc, matrix, llvm::ArrayRef<int64_t>{numRows, 2, numColumns / 2});
  Value moved = TransOp::create(b, loc, RankedTensorType::get({numRows, numColumns / 2, 2}, element), halves,
                                b.getDenseI32ArrayAttr({0, 2, 1}));
  auto half = RankedTensorType::get({numRows, numColumns / 2}, element);
  auto split = SplitOp::create(b, loc, half, half, moved);
  llvm::SmallVector<Value> parts = splitColumns(b, loc, split.getOutLHS(), columns);
  llvm::append_range(parts, splitColumns(b, loc, split.getOutRHS(), columns));
  return parts;
}

/// By how many bits the second one of a pair is shifted.
static Value shiftOf(OpBuilder &b, Location loc, llvm::ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, b.getI32Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getI32IntegerAttr(kHalfBits)));
}

Value packPairs(OpBuilder &b, Location loc, Value matrix) {
  llvm::ArrayRef<int64_t> shape = shapeOf(matrix);
  llvm::SmallVector<int64_t> paired = {shape[0], shape[1] / 2};
  Value bits = BitcastOp::create(b, loc, RankedTensorType::get(shape, b.getI16Type()), matrix);
  Value words = arith::ExtUIOp::create(b, loc, RankedTensorType::get(shape, b.getI32Type()), bits);
  Value pairs = ReshapeOp::create(b, loc, words, llvm::ArrayRef<int64_t>{shape[0], shape[1] / 2, 2});
  auto half = RankedTensorType::get(paired, b.getI32Type());
  auto split = SplitOp::create(b, loc, half, half, pairs);
  Value high = arith::ShLIOp::create(b, loc, split.getOutRHS(), shiftOf(b, loc, paired));
  return arith::OrIOp::create(b, loc, split.getOutLHS(), high);
}

Value unpackPairs(OpBuilder &b, Location loc, Value pairs, Type elementType) {
  llvm::ArrayRef<int64_t> shape = shapeOf(pairs);
  llvm::SmallVector<int64_t> whole = {shape[0], shape[1] * 2};
  auto halves = RankedTensorType::get(shape, b.getI16Type());
  Value low = arith::TruncIOp::create(b, loc, halves, pairs);
  Value shifted = arith::ShRUIOp::create(b, loc, pairs, shiftOf(b, loc, shape));
  Value high = arith::TruncIOp::create(b, loc, halves, shifted);
  Value joined = JoinOp::create(b, loc, RankedTensorType::get({shape[0], shape[1], 2}, b.getI16Type()), low, high);
  Value rows = ReshapeOp::create(b, loc, joined, whole);
  return BitcastOp::create(b, loc, RankedTensorType::get(whole, elementType), rows);
}

} // namespace jitk::ir::tt
