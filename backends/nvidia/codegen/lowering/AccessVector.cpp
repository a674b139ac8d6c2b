#include "backends/nvidia/codegen/lowering/AccessVector.h"

#include "backends/nvidia/codegen/lowering/Packing.h"
#include "src/passes/AxisInfo.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr unsigned kVectorBits = 128;

/// The register bits that number consecutive elements along `dim`, lowest first.
static SmallVector<unsigned> consecutiveBits(const TensorLayout &layout, unsigned dim) {
  SmallVector<unsigned> bits;
  for (int32_t step = 1;; step *= 2) {
    auto found = llvm::find_if(layout.registers, [&](const TensorLayout::Coordinate &basis) {
      for (unsigned other = 0; other < layout.rank; ++other) {
        if (basis[other] != (other == dim ? step : 0)) {
          return false;
        }
      }
      return true;
    });
    if (found == layout.registers.end()) {
      return bits;
    }
    bits.push_back(found - layout.registers.begin());
  }
}

AccessVector AccessVector::of(FunctionLowering &f, Value pointers, Value mask) {
  AccessVector vector;
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  if (!type) {
    return vector;
  }
  const TensorLayout &layout = f.layout(type);
  vector.freeBits = TensorLayout::freeBits(layout.registers);
  Type element = convertElementType(cast<tt::PointerType>(type.getElementType()).getPointeeType());
  passes::AxisInfoAnalysis &axes = f.axes();
  for (unsigned dim = 0; dim < layout.rank; ++dim) {
    SmallVector<unsigned> bits = consecutiveBits(layout, dim);
    int64_t length = std::min<int64_t>(
        {int64_t(1) << bits.size(), kVectorBits / storedBits(element), axes.vectorLength(pointers, dim)});
    if (mask) {
      length = std::min(length, axes.of(mask).axes[dim].constancy);
    }
    if (length > vector.length) {
      bits.truncate(llvm::Log2_64(length));
      vector.length = 1u << bits.size();
      vector.bits = bits;
    }
  }
  for (unsigned bit : vector.bits) {
    vector.vectorBits |= 1u << bit;
  }
  return vector;
}

unsigned AccessVector::member(unsigned first, unsigned k) const {
  for (auto [position, bit] : llvm::enumerate(bits)) {
    if (k >> position & 1) {
      first |= 1u << bit;
    }
  }
  return first;
}

Value ownsAccess(FunctionLowering &f, Value pointers) {
  if (auto type = dyn_cast<RankedTensorType>(pointers.getType())) {
    return f.ownsElements(type);
  }
  Value first = f.builder().equal(f.thread(), 0);
  return f.target().numCtas == 1 ? first : f.builder().bitAnd(first, f.builder().equal(f.block(), 0));
}

} // namespace jitk::nvidia
