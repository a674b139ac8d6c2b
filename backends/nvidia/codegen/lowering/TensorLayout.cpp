#include "backends/nvidia/codegen/lowering/TensorLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <string>

namespace jitk::nvidia {

TensorLayout::TensorLayout(const ir::LinearLayout &layout) : rank(layout.getNumOutDims()) {
  llvm::SmallVector<unsigned> outputs;
  for (unsigned dim = 0; dim < rank; ++dim) {
    outputs.push_back(layout.getOutDimIndex("dim" + std::to_string(dim)));
  }
  auto read = [&](llvm::StringRef input, Bases &bases) {
    for (int bit = 0; bit < layout.getInDimSizeLog2(input); ++bit) {
      llvm::ArrayRef<int32_t> basis = layout.getBasis(input, bit);
      bases.push_back(llvm::map_to_vector<4>(outputs, [&](unsigned output) { return basis[output]; }));
    }
  };
  read("register", registers);
  read("lane", lanes);
  read("warp", warps);
  read("block", blocks);
}

TensorLayout::Coordinate TensorLayout::registerCoordinate(unsigned reg) const {
  Coordinate coordinate(rank, 0);
  for (auto [bit, basis] : llvm::enumerate(registers)) {
    if (reg >> bit & 1) {
      for (unsigned dim = 0; dim < rank; ++dim) {
        coordinate[dim] ^= basis[dim];
      }
    }
  }
  return coordinate;
}

uint32_t TensorLayout::freeBits(const Bases &bases) {
  uint32_t bits = 0;
  for (auto [bit, basis] : llvm::enumerate(bases)) {
    if (llvm::all_of(basis, [](int32_t part) { return part == 0; })) {
      bits |= 1u << bit;
    }
  }
  return bits;
}

uint32_t TensorLayout::movingBits(const Bases &bases, unsigned dim) {
  uint32_t bits = 0;
  for (auto [bit, basis] : llvm::enumerate(bases)) {
    if (basis[dim] != 0) {
      bits |= 1u << bit;
    }
  }
  return bits;
}

} // namespace jitk::nvidia
