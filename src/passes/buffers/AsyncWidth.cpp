#include "src/passes/buffers/AsyncWidth.h"

#include "src/passes/buffers/SharedContiguity.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

static constexpr int64_t kLeastBits = 32;

bool canCopyAsync(const AxisInfoAnalysis &axes, Value pointers, Value mask, ttg::MemDescType buffer) {
  int64_t elementBits = buffer.getElementType().getIntOrFloatBitWidth();
  return llvm::any_of(llvm::seq<unsigned>(buffer.getRank()), [&](unsigned dim) {
    int64_t run = std::min(axes.vectorLength(pointers, dim), sharedContiguity(buffer, dim));
    run = mask ? std::min(run, axes.of(mask).axes[dim].constancy) : run;
    return run * elementBits >= kLeastBits;
  });
}

} // namespace jitk::passes
