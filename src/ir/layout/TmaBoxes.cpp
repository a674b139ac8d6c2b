#include "src/ir/layout/TmaBoxes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;

namespace jitk::ir {

unsigned tmaSwizzleMode(unsigned swizzleBytes) { return swizzleBytes ? llvm::Log2_32(swizzleBytes / 16) : 0; }

/// The first elements of all boxes, in the order of their place in the buffer.
static SmallVector<TmaBoxes::Message, 4> messagesOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> box,
                                                    const LinearLayout &toOffset, unsigned elementBits) {
  SmallVector<int64_t> counts;
  int64_t total = 1;
  for (auto [size, part] : llvm::zip_equal(shape, box)) {
    counts.push_back(size / part);
    total *= size / part;
  }
  SmallVector<TmaBoxes::Message, 4> messages;
  for (int64_t number = 0; number < total; ++number) {
    SmallVector<int32_t> start;
    SmallVector<LinearLayout::Index> index;
    int64_t rest = number;
    for (auto [dim, count] : llvm::enumerate(counts)) {
      start.push_back(rest % count * box[dim]);
      index.push_back({dimName(dim), start.back()});
      rest /= count;
    }
    int64_t offset = toOffset.apply(index)[toOffset.getOutDimIndex(kOffset)];
    messages.push_back({start, offset * elementBits / 8});
  }
  llvm::sort(messages, [](const auto &a, const auto &b) { return a.byteOffset < b.byteOffset; });
  return messages;
}

TmaBoxes planTmaBoxes(ArrayRef<int64_t> shape, const NvmmaParameters &nvmma) {
  TmaBoxes boxes;
  boxes.box = tmaBoxShape(shape, nvmma);
  boxes.swizzleMode = tmaSwizzleMode(nvmma.swizzleBytes);
  LinearLayout toOffset = nvmmaSharedLayout(shape, nvmma, clusterLayout(shape.size(), {})).pseudoinvert();
  boxes.messages = messagesOf(shape, boxes.box, toOffset, nvmma.elementBits);
  boxes.boxBytes = nvmma.elementBits / 8 * (nvmma.isFp4Padded ? 2 : 1);
  for (int64_t size : boxes.box) {
    boxes.boxBytes *= size;
  }
  return boxes;
}

} // namespace jitk::ir
