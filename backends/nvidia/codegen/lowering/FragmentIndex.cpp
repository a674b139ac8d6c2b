#include "backends/nvidia/codegen/lowering/FragmentIndex.h"

#include "llvm/ADT/STLExtras.h"

namespace jitk::nvidia {

FragmentIndex::FragmentIndex(const TensorLayout &layout) {
  for (unsigned reg = 0; reg < layout.numRegisters(); ++reg) {
    TensorLayout::Coordinate coordinate = layout.registerCoordinate(reg);
    registers_.try_emplace({coordinate[0], coordinate[1]}, reg);
  }
}

std::optional<unsigned> FragmentIndex::find(int32_t row, int32_t column) const {
  auto entry = registers_.find({row, column});
  if (entry == registers_.end()) {
    return std::nullopt;
  }
  return entry->second;
}

llvm::SmallVector<int32_t> FragmentIndex::origins(unsigned dim, int32_t inside) const {
  llvm::SmallVector<int32_t> result;
  for (const auto &[coordinate, reg] : registers_) {
    int32_t value = dim == 0 ? coordinate.first : coordinate.second;
    if ((value & inside) == 0) {
      result.push_back(value);
    }
  }
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

} // namespace jitk::nvidia
