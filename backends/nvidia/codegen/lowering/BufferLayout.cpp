#include "backends/nvidia/codegen/lowering/BufferLayout.h"

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"
#include "backends/nvidia/codegen/lowering/Packing.h"
#include "src/ir/layout/EncodingLayouts.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

BufferLayout::BufferLayout(ttg::MemDescType type)
    : elementBytes_(storedBits(convertElementType(type.getElementType())) / 8) {
  LinearLayout placement = toLinearLayout(type).pseudoinvert();
  unsigned rank = placement.getNumInDims();
  for (unsigned dim = 0; dim < rank; ++dim) {
    StringRef name = placement.getInDims()[dim].name;
    auto &offsets = bitOffsets_.emplace_back();
    for (int bit = 0; bit < placement.getInDimSizeLog2(name); ++bit) {
      offsets.push_back(placement.getBasis(name, bit, "offset"));
    }
  }
  if (auto padded = dyn_cast<ttg::PaddedSharedEncodingAttr>(type.getEncoding())) {
    for (auto [interval, elements] : llvm::zip_equal(padded.getIntervals(), padded.getPaddings())) {
      paddings_.push_back({interval, elements});
    }
  }
}

int32_t BufferLayout::offset(ArrayRef<int32_t> coordinate) const {
  int32_t result = 0;
  for (auto [dim, index] : llvm::enumerate(coordinate)) {
    for (auto [bit, offset] : llvm::enumerate(bitOffsets_[dim])) {
      result ^= (index >> bit & 1) ? offset : 0;
    }
  }
  return result;
}

} // namespace jitk::nvidia
