#include "src/passes/layouts/AccessLayouts.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <functional>
#include <numeric>

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

/// The widest access, and the narrowest asynchronous copy.
static constexpr int64_t kVectorBits = 128, kWordBits = 32;

/// Elements that fill so many bits, and one at least.
static int64_t elementsIn(int64_t bits, Type element) {
  if (auto pointer = dyn_cast<tt::PointerType>(element)) {
    element = pointer.getPointeeType();
  }
  int64_t width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return std::max<int64_t>(1, bits / std::max<int64_t>(8, width));
}

static SmallVector<unsigned> rowMajorOrder(unsigned rank) {
  SmallVector<unsigned> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

int numWarpsOf(Value value) {
  Operation *definition = value.getDefiningOp();
  return ttg::lookupNumWarps(definition ? definition : value.getParentBlock()->getParentOp());
}

AccessShape AccessShape::of(Value pointers, VectorLength vectorLength) {
  auto type = cast<RankedTensorType>(pointers.getType());
  int64_t widest = elementsIn(kVectorBits, type.getElementType());
  SmallVector<int64_t> lengths;
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    lengths.push_back(std::min(vectorLength(pointers, dim), widest));
  }
  // Of equal dimensions the last is the fastest.
  SmallVector<unsigned> order = rowMajorOrder(type.getRank());
  llvm::sort(order, [&](unsigned a, unsigned b) { return std::pair(lengths[a], a) > std::pair(lengths[b], b); });
  return {SmallVector<int64_t>(type.getShape()), order, lengths[order.front()],
          elementsIn(kWordBits, type.getElementType()), numWarpsOf(pointers)};
}

ttg::BlockedEncodingAttr AccessShape::layout(MLIRContext *context) const {
  constexpr int64_t kLanes = 32;
  int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  // Where there are fewer words than threads some threads repeat what others have.
  int64_t perThread = std::max(word, elements / (kLanes * numWarps));
  SmallVector<unsigned> sizePerThread(shape.size(), 1);
  sizePerThread[order.front()] = std::min({vector, perThread, shape[order.front()]});
  return ttg::BlockedEncodingAttr::get(context, shape, sizePerThread, order, numWarps, kLanes,
                                       ttg::CGAEncodingAttr::getTrivial(context, shape.size()));
}

ttg::BlockedEncodingAttr defaultLayout(RankedTensorType type, int numWarps) {
  AccessShape shape = {SmallVector<int64_t>(type.getShape()), rowMajorOrder(type.getRank()),
                       elementsIn(kVectorBits, type.getElementType()), /*word=*/1, numWarps};
  return shape.layout(type.getContext());
}

ttg::BlockedEncodingAttr defaultLayout(Value tensor) {
  return defaultLayout(cast<RankedTensorType>(tensor.getType()), numWarpsOf(tensor));
}

} // namespace jitk::passes
