#include "src/passes/buffers/SlotLayout.h"

#include "src/ir/layout/EncodingLayouts.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

bool isSequenceOfSlots(ttg::MemDescType source, ttg::MemDescType slot) {
  if (source.getEncoding() == slot.getEncoding()) {
    return true;
  }
  // The number of slots need not be a power of two; where the layout puts the next one does not depend on it.
  SmallVector<int64_t> shape(source.getAllocShape().take_back(source.getRank()));
  shape.front() = llvm::PowerOf2Ceil(shape.front());
  LinearLayout whole = toLinearLayout(shape, source.getEncoding());
  LinearLayout one = toLinearLayout(ArrayRef(shape).drop_front(), slot.getEncoding());
  for (int64_t dim = slot.getRank(); dim > 0; --dim) {
    one = one.renameOutDim("dim" + std::to_string(dim - 1), "dim" + std::to_string(dim));
  }
  LinearLayout sequence = one * LinearLayout::identity1D(int32_t(shape.front()), "offset", "dim0");
  return sequence.transposeIns(whole.getInDimNames()).transposeOuts(whole.getOutDimNames()) == whole;
}

} // namespace jitk::passes
