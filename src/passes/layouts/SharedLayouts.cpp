#include "src/passes/layouts/SharedLayouts.h"

#include <algorithm>

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

/// One row of all 32 banks.
static constexpr int64_t kBankRowBytes = 128;
static constexpr int64_t kVectorBytes = 16;
/// The narrowest swizzle of wgmma's panels, and the rows that it repeats over.
static constexpr int64_t kNarrowestPanelBytes = 32;
static constexpr int64_t kPanelRows = 8;

ttg::SwizzledSharedEncodingAttr plainSharedLayout(MLIRContext *context, ArrayRef<unsigned> order) {
  return ttg::SwizzledSharedEncodingAttr::get(context, /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1, order);
}

static int64_t rowBytes(ArrayRef<int64_t> shape, Type element, ArrayRef<unsigned> order) {
  return shape[order.front()] * std::max(8u, element.getIntOrFloatBitWidth()) / 8;
}

ttg::SwizzledSharedEncodingAttr stagingSharedLayout(ArrayRef<int64_t> shape, Type element, ArrayRef<unsigned> order) {
  MLIRContext *context = element.getContext();
  int64_t bytes = shape.size() == 2 ? rowBytes(shape, element, order) : 0;
  if (bytes <= kVectorBytes) {
    return plainSharedLayout(context, order);
  }
  // Rows that share a row of banks share a phase; eight vectors fill that row.
  int64_t perPhase = std::max<int64_t>(1, kBankRowBytes / bytes);
  int64_t maxPhase = std::min(kBankRowBytes / kVectorBytes / perPhase, bytes / kVectorBytes);
  int64_t vec = kVectorBytes * 8 / std::max(8u, element.getIntOrFloatBitWidth());
  return ttg::SwizzledSharedEncodingAttr::get(context, vec, perPhase, maxPhase, order);
}

Attribute dotOperandSharedLayout(ArrayRef<int64_t> shape, Type element, ArrayRef<unsigned> order, unsigned capability) {
  bool fillsPanel =
      shape.size() == 2 && rowBytes(shape, element, order) >= kNarrowestPanelBytes && shape[order.back()] >= kPanelRows;
  if (capability == 90 && fillsPanel) {
    MLIRContext *context = element.getContext();
    return ttg::NVMMASharedEncodingAttr::get(context, shape, order, ttg::CGAEncodingAttr::getTrivial(context, 2),
                                             element,
                                             /*fp4Padded=*/false);
  }
  return stagingSharedLayout(shape, element, order);
}

} // namespace jitk::passes
