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
    StringRef name = dimName(dim);
    auto &offsets = bitOffsets_.emplace_back();
    for (int bit = 0; bit < placement.getInDimSizeLog2(name); ++bit) {
      offsets.push_back(placement.getBasis(name, bit, "offset"));
    }
  }
  // A view begins at multiples of its own extent.
  for (auto [dim, extent] : llvm::enumerate(type.getShape().take_back(rank))) {
    for (int32_t offset : ArrayRef(bitOffsets_[dim]).drop_front(llvm::Log2_64(extent))) {
      viewBits_ |= offset;
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

/// The offset of each register, lane, warp and block of a tensor in a buffer that it, or a view of its shape, fills.
static LinearLayout toOffsets(RankedTensorType tensor, ttg::MemDescType buffer) {
  LinearLayout elements = toLinearLayout(tensor), places = toLinearLayout(buffer);
  for (const LinearLayout::OutDim &dim : places.getOutDims()) {
    elements = elements.resizeOutDim(dim.name, dim.size);
  }
  return elements.invertAndCompose(places);
}

/// Whether a CTA's elements lie in its own memory: a bit of its rank is that of the memory's CTA, or tells copies of
/// the buffer apart.
static bool staysInCta(const LinearLayout &offsets, const LinearLayout &places) {
  for (auto [bit, basis] : llvm::enumerate(offsets.getBases("block"))) {
    bool isCopy = bit >= places.getBases("block").size() ||
                  llvm::all_of(places.getBasis("block", bit), [](int32_t step) { return step == 0; });
    if (basis[offsets.getOutDimIndex("block")] != (isCopy ? 0 : 1 << bit)) {
      return false;
    }
  }
  return true;
}

bool leavesCopiesIncomplete(const LocalAccess &access) {
  return llvm::any_of(access.blockBases, [](int32_t basis) { return basis != 0; });
}

/// Completes the options by what the buffer allows.
static void limit(LocalAccessOptions &options, const BufferLayout &layout) {
  options.elementBits = 8 * layout.elementBytes();
  for (const BufferLayout::Padding &padding : layout.paddings()) {
    options.hasMatrix = false;
    options.maxVectorBits =
        std::min(options.maxVectorBits, std::min(padding.interval, padding.elements) * options.elementBits);
  }
}

std::optional<LocalAccess> planAccess(RankedTensorType tensor, ttg::MemDescType buffer, LocalAccessOptions options) {
  BufferLayout layout(buffer);
  limit(options, layout);
  LinearLayout offsets = toOffsets(tensor, buffer);
  return staysInCta(offsets, toLinearLayout(buffer)) ? planLocalAccess(offsets, options, layout.viewBits())
                                                     : std::nullopt;
}

std::optional<LocalAccess> planVectorAccess(RankedTensorType tensor, ttg::MemDescType buffer,
                                            LocalAccessOptions options) {
  BufferLayout layout(buffer);
  limit(options, layout);
  LinearLayout offsets = toOffsets(tensor, buffer);
  return staysInCta(offsets, toLinearLayout(buffer))
             ? planLocalAccess(LocalAccessForm::Vector, offsets, options, layout.viewBits())
             : std::nullopt;
}

} // namespace jitk::nvidia
