#include "src/kernels/vocabulary/ClusterSum.h"

#include "src/ir/ttng/Ttng.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

ClusterSum::ClusterSum(KernelBuilder &builder, int64_t rows, int64_t columns, int64_t numSlices, bool transposed)
    : b(builder), columns_(columns), numSlices_(numSlices), transposed_(transposed),
      slice_{rows, columns / numSlices, builder.getF32Type()} {
  assert(numSlices <= int64_t(builder.clusterSize()) && "a slice is added up by a CTA of its own");
  if (transposed) {
    std::swap(slice_.rows, slice_.columns);
  }
  slots_ = ttg::LocalAllocOp::create(b, slice_.bufferType(b.clusterSize()));
}

Value ClusterSum::slot(Value sender) const {
  return ttg::MemDescIndexOp::create(b, slice_.bufferType(), slots_, sender);
}

void ClusterSum::handOver(Value part) const {
  Value own = slot(b.clusterRank());
  for (auto [rank, slice] : llvm::enumerate(b.splitColumns(part, sliceColumns()))) {
    ttng::RemoteShmemStoreOp::create(b, transposed_ ? b.transpose(slice) : slice, own, b.i32(int64_t(rank)));
  }
}

void ClusterSum::addUp(llvm::function_ref<void(Value sum)> body) const {
  auto addAll = [&] {
    Value sum;
    for (int64_t sender = 0; sender < int64_t(b.clusterSize()); ++sender) {
      Value part = ttg::LocalLoadOp::create(b, b.tensorType({slice_.rows, slice_.columns}, slice_.elementType),
                                            slot(b.i32(sender)));
      sum = sum ? b.addf(sum, part) : part;
    }
    body(sum);
  };
  if (numSlices_ == int64_t(b.clusterSize())) {
    addAll();
  } else {
    b.ifElse(b.lessThan(b.clusterRank(), b.i32(numSlices_)), addAll);
  }
}

} // namespace jitk::kernels
