#include "src/passes/layouts/AccessLayouts.h"

#include "src/ir/tt/Tt.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

ttg::BlockedEncodingAttr blockedLayout(MLIRContext *context, ArrayRef<int64_t> shape, ArrayRef<unsigned> order,
                                       int64_t vector, unsigned numWarps) {
  int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  int64_t perThread = std::max<int64_t>(1, elements / (32 * numWarps));
  SmallVector<unsigned> sizePerThread(shape.size(), 1);
  sizePerThread[order.front()] = std::min({vector, perThread, shape[order.front()]});
  return ttg::BlockedEncodingAttr::get(context, shape, sizePerThread, order, numWarps, 32,
                                       ttg::CGAEncodingAttr::getTrivial(context, shape.size()));
}

static SmallVector<unsigned> rowMajorOrder(unsigned rank) {
  SmallVector<unsigned> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

ttg::BlockedEncodingAttr defaultLayout(RankedTensorType type, unsigned numWarps) {
  return blockedLayout(type.getContext(), type.getShape(), rowMajorOrder(type.getRank()), 1, numWarps);
}

ttg::BlockedEncodingAttr coalescedLayout(Value pointers, unsigned numWarps, VectorLength vectorLength) {
  auto type = cast<RankedTensorType>(pointers.getType());
  Type element = cast<tt::PointerType>(type.getElementType()).getPointeeType();
  int64_t widest = 128 / std::max(8u, element.getIntOrFloatBitWidth());

  // The dimension with the longest vectors is fastest; of equals the last one.
  SmallVector<int64_t> lengths;
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    lengths.push_back(std::min(vectorLength(pointers, dim), widest));
  }
  SmallVector<unsigned> order = rowMajorOrder(type.getRank());
  llvm::sort(order, [&](unsigned a, unsigned b) { return std::pair(lengths[a], a) > std::pair(lengths[b], b); });
  return blockedLayout(type.getContext(), type.getShape(), order, std::max<int64_t>(1, lengths[order.front()]),
                       numWarps);
}

} // namespace jitk::passes
